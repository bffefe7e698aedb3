/* track.c - follow what the process does to its memory; see track.h */
#include "move/track.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/layout.h"
#include "move/wire.h"

#define ZAP_BATCH 4096

/* What one pass over one mapping needs to know. */
struct pass {
	struct sending *s;
	bool shared;	 /* pages belong to an object, not to the process */
	uint64_t cursor; /* up to here, all is told */
};

/* The process is at the pause of its list: fetch its new descriptor. */
static int fetch_uffd(void *arg, const struct stub_call *made,
		      struct error *err)
{
	struct sending *s = arg;

	if (made->ret < 0)
		return error_sys(err, (int)made->ret,
				 "userfaultfd in the process");
	s->uffd = (int)syscall(SYS_pidfd_getfd, s->pidfd, (int)made->ret, 0);
	if (s->uffd < 0)
		return error_sys(err, -errno, "pidfd_getfd");
	return 0;
}

static int make_uffd(struct sending *s, struct error *err)
{
	struct tracee_list *list = xcalloc(s->tracee->nr, sizeof(*list));
	struct stub_call call[2] = {
		{ .nr = SYS_userfaultfd,
		  .arg = { O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY } },
		{ .nr = SYS_close, .arg = { (uint64_t)-1 } },
	};
	int r;

	list[0].call = call;
	list[0].n = 2;
	list[0].at_pause = fetch_uffd;
	list[0].arg = s;
	r = tracee_run(s->tracee, list, NULL, 0, err);
	free(list);
	return r;
}

int track_start(struct sending *s, struct error *err)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_WP_ASYNC |
			    UFFD_FEATURE_WP_UNPOPULATED |
			    UFFD_FEATURE_WP_HUGETLBFS_SHMEM |
			    UFFD_FEATURE_PAGEFAULT_FLAG_WP,
	};
	int r = make_uffd(s, err);

	if (r == 0 && ioctl(s->uffd, UFFDIO_API, &api) < 0)
		r = error_set(
			err, -EOPNOTSUPP,
			"this kernel cannot track writes (UFFD_FEATURE_WP_ASYNC, Linux 6.7)");
	if (r < 0)
		track_stop(s);
	return r;
}

void track_stop(struct sending *s)
{
	io_close(&s->uffd); /* the kernel forgets all protections */
}

static int track_register(struct sending *s, const struct vma *v,
			  struct error *err)
{
	struct uffdio_register reg = {
		.range = { v->start, v->end - v->start },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};

	if (ioctl(s->uffd, UFFDIO_REGISTER, &reg) < 0 && errno != ENOENT)
		return error_sys(err, -errno, "tracking %#llx-%#llx (%s)",
				 (unsigned long long)v->start,
				 (unsigned long long)v->end,
				 v->path ? v->path : "anonymous");
	return 0;
}

static int zap_flush(struct sending *s, struct error *err)
{
	struct iovec iov = { s->zap, s->nr_zap * sizeof(*s->zap) };
	int r = s->nr_zap ? frame_send(s->ch, FRAME_ZAP, &iov, 1, err) : 0;

	s->nr_zap = 0;
	return r;
}

/* The destination has these pages, and the process no longer does. */
static int zap_range(void *arg, uint64_t start, uint64_t end, struct error *err)
{
	struct sending *s = arg;
	struct frame_range *last = s->zap + s->nr_zap;
	int r = 0;

	sent_remove(s->sent, start, end);
	if (s->nr_zap && last[-1].end == start) {
		last[-1].end = end;
		return 0;
	}
	if (s->nr_zap == ZAP_BATCH)
		r = zap_flush(s, err);
	if (!s->zap)
		s->zap = xcalloc(ZAP_BATCH, sizeof(*s->zap));
	s->zap[s->nr_zap++] = (struct frame_range){ start, end };
	return r;
}

/* These pages are the process's own: send; what lies between has gone. */
static int send_private(void *arg, uint64_t start, uint64_t end,
			struct error *err)
{
	struct pass *p = arg;
	int r = sent_each(p->s->sent, p->cursor, start, zap_range, p->s, err);

	p->cursor = end;
	sent_add(p->s->sent, start, end);
	return r < 0 ? r : page_sender_add(p->s->pages, start, end, err);
}

static int send_range(struct pass *p, uint64_t start, uint64_t end,
		      struct error *err)
{
	int r;

	if (p->shared)
		return page_sender_add(p->s->pages, start, end, err);
	p->cursor = start;
	r = scan_private(p->s->scan_private, start, end, send_private, p, err);
	return r < 0 ? r
		     : sent_each(p->s->sent, p->cursor, end, zap_range, p->s,
				 err);
}

static int on_written(void *arg, uint64_t start, uint64_t end,
		      struct error *err)
{
	return send_range(arg, start, end, err);
}

/* A mapping that nobody has looked at: all that the destination has is old. */
static int send_fresh(struct sending *s, const struct vma *v, struct pass *p,
		      struct error *err)
{
	int r = sent_each(s->sent, v->start, v->end, zap_range, s, err);

	if (r == 0)
		r = zap_flush(s, err);
	if (r < 0)
		return r;
	if (p->shared)
		return page_sender_add_nonzero(s->pages, v->start, v->end, err);
	return send_range(p, v->start, v->end, err);
}

/* Its first pass: protect what is there, so that the next sees changes. */
static int ignore(void *arg, uint64_t start, uint64_t end, struct error *err)
{
	return 0;
}

static int send_vma(struct sending *s, const struct vma *v, bool last,
		    struct error *err)
{
	struct pass p = { .s = s, .shared = v->kind == VMA_SHARED_ANON };
	int r = -EPERM;

	if (v->kind == VMA_SHARED_FILE)
		return 0;
	if (s->uffd >= 0)
		r = scan_written(s->scan, v->start, v->end, on_written, &p,
				 err);
	if (r != -EPERM)
		return r;
	r = 0;
	if (!last) {
		r = track_register(s, v, err);
		if (r == 0)
			r = scan_written(s->scan, v->start, v->end, ignore,
					 NULL, err);
		/* replaced under our hands: the next pass will see it */
		if (r == -EPERM)
			r = 0;
	}
	return r < 0 ? r : send_fresh(s, v, &p, err);
}

/* A page that was sent has gone: the whole page table may have. */
static int probe_block(void *arg, uint64_t start, uint64_t end,
		       struct error *err)
{
	struct sending *s = arg;
	struct pass p = { .s = s };
	int r = scan_is_there(s->scan, start);

	if (r < 0)
		return error_sys(err, r, "pagemap of process %d", s->src->pid);
	return r ? 0 : send_range(&p, start, end, err);
}

int track_send(struct sending *s, bool last, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < s->maps.nr && r == 0; i++)
		r = send_vma(s, &s->maps.v[i], last, err);
	if (r == 0 && last && s->uffd >= 0)
		r = sent_each_block(s->sent, probe_block, s, err);
	if (r == 0)
		r = zap_flush(s, err);
	return r < 0 ? r : page_sender_flush(s->pages, err);
}

static int tell_gone(struct sending *s, const struct vma_list *gone,
		     struct error *err)
{
	struct frame_range *range = xcalloc(gone->nr, sizeof(*range));
	struct iovec iov = { range, gone->nr * sizeof(*range) };
	int r;

	for (size_t i = 0; i < gone->nr; i++) {
		range[i] = (struct frame_range){ gone->v[i].start,
						 gone->v[i].end };
		sent_remove(s->sent, range[i].start, range[i].end);
	}
	r = frame_send(s->ch, FRAME_UNMAP, &iov, 1, err);
	free(range);
	return r;
}

static int tell_fresh(struct sending *s, const struct vma_list *fresh,
		      struct error *err)
{
	Move__Layout *l = capture_new(&move__layout__descriptor);
	int r;

	l->area = s->tracee->area;
	l->area_size = s->tracee->area_size;
	l->vdso = s->vdso;
	for (size_t i = 0; i < fresh->nr; i++)
		capture_add(l->map, l->n_map, layout_vma(&fresh->v[i]));
	r = wire_send(s->ch, FRAME_MAP, &l->base, err);
	move__layout__free_unpacked(l, NULL);
	return r;
}

/* The advice is slow to read; at the freeze only if something is new. */
static int read_layout(struct sending *s, struct vma_list *now, bool last,
		       struct error *err)
{
	const struct vma *vdso;
	int r = proc_read_maps(s->src->pid, now, err);

	if (r < 0)
		return r;
	vdso = vma_named(now, "[vdso]");
	s->vdso = vdso ? vdso->start : 0;
	layout_keep_moving(now, s->tracee->area, s->tracee->area_size);
	if (!layout_copy_advice(&s->maps, now) || (s->read_advice && !last))
		r = proc_read_advice(s->src->pid, now, err);
	s->read_advice = false;
	return r;
}

int track_layout(struct sending *s, bool last, struct error *err)
{
	struct vma_list now = { 0 }, gone = { 0 }, fresh = { 0 };
	int r = read_layout(s, &now, last, err);

	if (r < 0) {
		vma_list_clear(&now);
		return r;
	}
	layout_diff(&s->maps, &now, &gone, &fresh);
	if (gone.nr)
		r = tell_gone(s, &gone, err);
	if (r == 0 && fresh.nr)
		r = tell_fresh(s, &fresh, err);
	vma_list_clear(&gone);
	vma_list_clear(&fresh);
	vma_list_clear(&s->maps);
	s->maps = now;
	return r;
}
