/*
 * end.c - the end of a landing: what its threads wait for, and the code they run; see
 * land.h and tracee/wait.h
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/xalloc.h"
#include "move/land/land.h"
#include "move/tracee/tracee.h"

void landing_end(struct landing *l, enum wait_form form, uint64_t *here,
		 uint64_t there, int64_t until, int64_t at_least)
{
	array_room(l->end, l->nr_ends, &l->cap_ends);
	l->end[l->nr_ends++] =
		(struct landing_end){ form, here, there, until, at_least };
}

void landing_tick(struct landing *l)
{
	int64_t now = wait_now() + l->clock_shift;

	for (size_t i = 0; i < l->nr_ends; i++) {
		const struct landing_end *e = &l->end[i];
		uint64_t v[2];

		wait_store(e->form, e->until - now, e->at_least, v);
		/* a limit that cannot be written keeps its longer value */
		if (!e->here)
			(void)!tracee_write(l->pid, e->there, v, sizeof(v));
		else if (e->form == WAIT_MSEC)
			*e->here = v[0];
		else
			memcpy(e->here, v, sizeof(v));
	}
}

/*
 * L copies it from the box by writing into itself as if into another process.
 * Both at once only for the moment, since L's stub runs in this very page.
 */
int landing_write_code(struct landing *l, pid_t pid, struct error *err)
{
	struct {
		struct iovec from, to;
		char code[STUB_PAGE - STUB_SNIPPETS];
	} a;
	uint64_t at;
	int r;

	if (!stub_has_snippets(l->code))
		return 0;
	a.from.iov_len = a.to.iov_len = sizeof(a.code);
	a.to.iov_base = (void *)(uintptr_t)(l->area + STUB_SNIPPETS);
	memcpy(a.code, l->code + STUB_SNIPPETS, sizeof(a.code));
	r = landing_data(l, &a, sizeof(a), &at, err);
	if (r < 0)
		return r;
	((struct iovec *)landing_here(l, at))->iov_base =
		(void *)(uintptr_t)(at + offsetof(typeof(a), code));
	r = landing_call(l, "mprotect", SYS_mprotect, l->area, STUB_PAGE,
			 PROT_READ | PROT_WRITE | PROT_EXEC, 0, 0, 0, err);
	if (!r)
		r = landing_call(l, "process_vm_writev", SYS_process_vm_writev,
				 (uint64_t)pid, at + offsetof(typeof(a), from),
				 1, at + offsetof(typeof(a), to), 1, 0, err);
	if (!r)
		r = landing_call(l, "mprotect", SYS_mprotect, l->area,
				 STUB_PAGE, PROT_READ | PROT_EXEC, 0, 0, 0,
				 err);
	return r;
}
