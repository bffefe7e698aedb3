/*
 * memory.c - what MAP, UNMAP, ZAP, PUNCH and PAGES tell of a process's memory; the
 * first MAP makes the landing process
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "core/xalloc.h"
#include "move/land/place.h"
#include "move/proc/clocks.h"
#include "move/proc/files.h"
#include "move/receive/receive.h"
#include "move/wire/fault.h"
#include "move/wire/message.h"

#define LANDING_MAX (1u << 30)

static int make_landing(struct receiving *v, const Move__Layout *m,
			struct error *err)
{
	struct receive_process *p = &v->process;
	struct landing_spec spec = {
		.area = m->area,
		.size = m->area_size,
		.pid = v->hello->pid,
		.own_session = v->hello->own_session,
		.own_group = v->hello->own_group,
		.clocks = { m->monotonic_offset, m->boottime_offset },
	};
	struct clocks here;
	int r;

	if (m->area_size < stub_area_size(1, v->hello->xsave_size) ||
	    m->area_size > LANDING_MAX)
		return error_set(err, -EPROTO, "landing area of %llu bytes",
				 (unsigned long long)m->area_size);
	clocks_offsets(0, &here);
	/*
	 * A thread in the middle of the vdso may have seen that there is a time
	 * namespace, so that its page must exist.
	 */
	spec.shift_clocks = m->own_clocks ||
			    spec.clocks.monotonic != here.monotonic ||
			    spec.clocks.boottime != here.boottime;
	r = landing_create(v->dst, &spec, v->ch, &p->landing, err);
	if (!r)
		r = landing_watch(p->landing, err);
	if (!r)
		r = place_begin(p->landing, err);
	if (!r)
		r = restore_clear(p->landing, v->other_vdso ? 0 : m->vdso, err);
	if (!r)
		r = restore_check_room(p->landing, m->queued, m->locked, err);
	if (!r)
		r = restore_read_ids(p->landing, &p->ids, err);
	if (!r)
		p->exe = xstrdup(m->exe);
	if (!r && v->other_vdso)
		r = restore_vdso(p->landing, m->vdso, v->hello->vdso.data,
				 v->hello->vdso.len, err);
	return r < 0 ? r : move_fault(MF_DEST_SPAWNED, err);
}

/* The file that was compared last, in a MAP. */
struct compared {
	const Move__File *file; /* NULL: none */
	int result;
	struct error why;
};

/* Mappings of one file follow one another: it is compared once. */
static int compare_file(int root, const Move__File *f, struct compared *c)
{
	const Move__File *last = c->file;

	if (!last || strcmp(last->path, f->path) || last->shared != f->shared ||
	    last->ino != f->ino || last->hash != f->hash)
		c->result = files_check_new(root, f, &c->why);
	c->file = f;
	return c->result;
}

/*
 * If the file cannot be opened nothing is mapped, and what was mapped there before is
 * gone.
 */
static int receive_mapping(struct receiving *v, const Move__Vma *m,
			   struct compared *c, struct error *err)
{
	struct error why = ERROR_INIT;
	int fd = -1, r = 0;

	if (m->file) {
		r = compare_file(v->root, m->file, c);
		if (r < 0)
			why = c->why;
		else
			r = fd = restore_open(v->process.landing, m, &why);
	}
	if (r >= 0) {
		restore_mapped(&v->process.protected, m);
		return restore_map(v->process.landing, m, fd, err);
	}
	lacks_add(&v->lacks, m->start, m->end, &why);
	restore_unmapped(&v->process.protected, m->start, m->end);
	return landing_call(v->process.landing, "munmap", SYS_munmap, m->start,
			    m->end - m->start, 0, 0, 0, 0, err);
}

static int receive_map(struct receiving *v, struct error *err)
{
	struct compared c = { 0 };
	Move__Layout *m;
	int r = wire_unpack(&v->frame, &move__layout__descriptor, &m, err);

	if (r < 0)
		return r;
	if (!v->process.landing)
		r = make_landing(v, m, err);
	for (size_t i = 0; i < m->n_map && !r; i++)
		r = receive_mapping(v, m->map[i], &c, err);
	if (!r)
		r = landing_flush(v->process.landing, err);
	for (size_t i = 0; i < m->n_map && !r; i++)
		place_expect(v->process.landing, m->map[i]);
	if (v->process.landing)
		landing_close_files(v->process.landing);
	move__layout__free_unpacked(m, NULL);
	return r;
}

static void lose_page(void *arg, uint64_t start, uint64_t end)
{
	struct receiving *v = arg;
	struct error why;

	error_set(
		&why, -ENOTSUP,
		"the page at %#llx cannot be placed here: the file mapped there is shorter, or is gone",
		(unsigned long long)start);
	lacks_add(&v->lacks, start, end, &why);
}

static int receive_ranges(struct receiving *v, struct error *err)
{
	const struct frame_range *range = (const void *)v->frame.data;
	size_t n = v->frame.size / sizeof(*range);
	bool unmap = v->frame.type == FRAME_UNMAP;
	int advice = v->frame.type == FRAME_ZAP ? MADV_DONTNEED : MADV_REMOVE;
	int r = 0;

	for (size_t i = 0; i < n && !r; i++) {
		if (unmap)
			restore_unmapped(&v->process.protected, range[i].start,
					 range[i].end);
		r = landing_call(v->process.landing,
				 unmap ? "munmap" : "madvise",
				 unmap ? SYS_munmap : SYS_madvise,
				 range[i].start, range[i].end - range[i].start,
				 unmap ? 0 : (uint64_t)advice, 0, 0, 0, err);
	}
	return r < 0 ? r : landing_flush(v->process.landing, err);
}

static int receive_pages(struct receiving *v, struct error *err)
{
	const struct frame_pages *head = (const void *)v->frame.data;
	const struct frame_run *run = (const void *)(head + 1);
	struct receive_process *p = &v->process;
	int r = 0;

	for (uint64_t i = 0; i < head->nr_runs && !r; i++)
		r = restore_open_range(
			p->landing, &p->protected, run[i].start,
			run[i].start + run[i].nr_pages * FRAME_PAGE, err);
	return r < 0 ? r
		     : place_pages(p->landing, &v->frame, lose_page, v, err);
}

int receive_memory(struct receiving *v, struct error *err)
{
	switch (v->frame.type) {
	case FRAME_MAP:
		return receive_map(v, err);
	case FRAME_PAGES:
		return receive_pages(v, err);
	default:
		return receive_ranges(v, err);
	}
}
