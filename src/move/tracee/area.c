/* area.c - the landing area in a stopped process; see tracee.h */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "move/proc/proc.h"
#include "move/tracee/tracee.h"

#define AREA_LOWEST  0x10000
#define AREA_HIGHEST 0x7ffffffff000
#define MADV_NOFORK  10

/* Is there an area already, from an earlier move?  0 when not. */
static uint64_t find_area(pid_t pid, const struct vma_list *maps,
			  size_t *ret_size)
{
	for (size_t i = 0; i < maps->nr; i++) {
		const struct vma *v = &maps->v[i];
		char head[STUB_MAGIC_SIZE + 8];
		uint64_t size;

		if (v->kind != VMA_ANON || v->prot != (PROT_READ | PROT_EXEC) ||
		    v->end - v->start != STUB_PAGE ||
		    tracee_read(pid, v->start, head, sizeof(head)) < 0 ||
		    memcmp(head, STUB_MAGIC, STUB_MAGIC_SIZE))
			continue;
		memcpy(&size, head + STUB_MAGIC_SIZE, sizeof(size));
		if (i + 1 < maps->nr && v[1].start == v->end &&
		    v[1].end == v->start + size) {
			*ret_size = size;
			return v->start;
		}
	}
	return 0;
}

/* The lowest hole of that size: programs and libraries live higher. */
static uint64_t find_hole(const struct vma_list *maps, size_t size)
{
	uint64_t at = AREA_LOWEST;

	for (size_t i = 0; i < maps->nr; i++) {
		if (maps->v[i].start >= at + size + STUB_PAGE)
			return at;
		if (maps->v[i].end + STUB_PAGE > at)
			at = maps->v[i].end + STUB_PAGE;
	}
	return at + size < AREA_HIGHEST ? at : 0;
}

/* One call that must not fail. */
static int must_call(struct tracee *t, long nr, uint64_t a, uint64_t b,
		     uint64_t c, uint64_t flags, const char *what,
		     struct error *err)
{
	uint64_t arg[6] = { a, b, c, flags, (uint64_t)-1, 0 };
	int64_t res;
	int r = tracee_call(t, nr, arg, &res, err);

	if (!r && res < 0 && res > -4096)
		r = error_sys(err, (int)res, "%s in the process", what);
	return r;
}

static int map_new_area(struct tracee *t, const struct vma_list *maps,
			size_t size, struct error *err)
{
	char page[STUB_PAGE];
	uint64_t at = find_hole(maps, size);
	int r;

	if (!at)
		return error_set(
			err, -ENOMEM,
			"the process has no room for the landing area");
	r = must_call(t, SYS_mmap, at, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE |
			      MAP_POPULATE,
		      "mmap", err);
	if (r < 0)
		return r;
	/* at once for good: the process may forbid that memory becomes code */
	r = must_call(t, SYS_mmap, at, STUB_PAGE, PROT_READ | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, "mmap", err);
	if (r < 0)
		return r;
	stub_fill_code(page, size);
	r = tracee_poke(t->task[0].tid, at, page, sizeof(page));
	if (r < 0)
		return error_sys(err, r, "writing into the process");
	if (!r)
		r = must_call(t, SYS_madvise, at, size, MADV_NOFORK, 0,
			      "madvise", err);
	if (!r) {
		t->area = at;
		t->area_size = size;
	}
	return r;
}

/*
 * Give up an area that is too small.  A snippet in which a thread may be stays
 * where it is.
 */
static int give_up_area(struct tracee *t, struct error *err)
{
	unsigned char page[STUB_PAGE];
	uint64_t keep = 0;
	int r = tracee_read(t->pid, t->area, page, sizeof(page));

	if (r < 0)
		return error_sys(err, r, "reading from the process");
	if (stub_has_snippets(page))
		keep = STUB_PAGE;
	return must_call(t, SYS_munmap, t->area + keep, t->area_size - keep, 0,
			 0, "munmap", err);
}

int tracee_map_area(struct tracee *t, size_t nr_threads, struct error *err)
{
	struct vma_list maps = { 0 };
	const struct vma *vdso;
	size_t size = stub_area_size(nr_threads, t->xsave_size);
	int r = proc_read_maps(t->pid, &maps, err);

	if (r < 0)
		goto out;
	vdso = vma_named(&maps, "[vdso]");
	if (vdso) {
		t->vdso = vdso->start;
		t->vdso_end = vdso->end;
	}
	t->area = find_area(t->pid, &maps, &t->area_size);
	if (t->area && t->area_size < size) {
		r = give_up_area(t, err);
		t->area = 0;
	}
	if (!r && !t->area)
		r = map_new_area(t, &maps, size, err);
out:
	vma_list_clear(&maps);
	return r;
}
