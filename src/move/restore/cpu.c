/*
 * cpu.c - have L's vdso tell CPU clocks that go on; see tracee/cpuclock.h
 *
 * The kernel's own has been made writable (map.c), and what is written
 * becomes L's; a copy of another kernel's is ordinary memory, whose protection
 * comes last.
 */
#include <stdlib.h>

#include <sys/mman.h>
#include <sys/syscall.h>

#include "move/proc/proc.h"
#include "move/restore/restore.h"
#include "move/tracee/cpuclock.h"
#include "move/tracee/tracee.h"

static size_t list_clocks(const Move__State *s, struct cpuclock *ret)
{
	size_t n = 0;

	for (; n < s->n_cpu_clock && n < CPUCLOCK_MOST; n++)
		ret[n] = (struct cpuclock){ s->cpu_clock[n]->id,
					    s->cpu_clock[n]->nsec };
	return n;
}

int restore_cpu_clocks(struct landing *l, const Move__State *s,
		       struct restore_protected *p, struct error *err)
{
	struct cpuclock clock[CPUCLOCK_MOST], was[CPUCLOCK_MOST];
	size_t nr = list_clocks(s, clock), n = s->vdso_size;
	uint8_t *image;
	int r = restore_open_range(l, p, s->vdso, s->vdso + n, err);

	if (!r && cpuclock_image(l->pid, s, &image) == 0) {
		cpuclock_unpatch(image, n, was);
		/* if it may not be written to, the clocks begin anew */
		if (cpuclock_patch(image, n, clock, nr))
			(void)!tracee_write(l->pid, s->vdso, image, n);
		free(image);
	}
	if (!r && l->vdso)
		r = landing_call(l, "mprotect of the vdso", SYS_mprotect,
				 l->vdso, l->vdso_size, PROT_READ | PROT_EXEC,
				 0, 0, 0, err);
	return r;
}
