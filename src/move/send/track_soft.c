/*
 * track_soft.c - follow writes by soft-dirty bits, on kernels before 6.7
 *
 * All bits are cleared at once, so between reading and clearing them the
 * process stands still, for as long as reading its page table takes (5 ms a
 * GiB, about); what was found is sent while it runs again.
 */
#include <errno.h>

#include "move/send/track.h"

#define STOP_TRIES 10

/* What one mapping's pages are looked at with. */
struct look {
	struct sending *s;
	uint64_t cursor; /* up to here, all is told */
	bool shared, whole;
};

/* Pages that are there: send those written to; what lies between has gone. */
static int look_at(void *arg, uint64_t start, uint64_t end, bool written,
		   struct error *err)
{
	struct look *l = arg;
	int r = l->shared ? 0
			  : sent_each(l->s->sent, l->cursor, start, track_zap,
				      l->s, err);

	l->cursor = end;
	if (written || l->whole)
		sent_add(l->s->todo, start, end);
	return r;
}

static int look_at_mapping(struct sending *s, const struct vma *v, bool last,
			   struct error *err)
{
	struct look l = {
		.s = s,
		.cursor = v->start,
		.shared = v->kind == VMA_SHARED_ANON,
		.whole = vma_meets(&s->fresh, v),
	};
	/* terabytes of nothing would take their time */
	int r = v->empty ? 0
			 : scan_soft(s->scan, v->start, v->end, l.shared,
				     look_at, &l, err);

	if (r == 0 && last)
		r = track_guards(s, v->start, v->end, err);
	return r < 0 || l.shared ? r
				 : sent_each(s->sent, l.cursor, v->end,
					     track_zap, s, err);
}

/* All threads stand still. */
static int look_at_all(struct sending *s, bool last, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < s->maps.nr && r == 0; i++)
		if (vma_carries_pages(&s->maps.v[i]))
			r = look_at_mapping(s, &s->maps.v[i], last, err);
	if (r == 0 && !last)
		r = scan_soft_clear(s->process.pid, err);
	return r;
}

/* Which mappings are empty: as they are now, not as they were on the run. */
static int find_empty(struct sending *s, struct error *err)
{
	for (size_t i = 0; i < s->maps.nr; i++)
		s->maps.v[i].empty = false;
	return proc_read_advice(s->process.pid, &s->maps, err);
}

static int look_while_stopped(struct sending *s, struct error *err)
{
	bool throttled = s->process.tracee->nr > 0;
	int r = throttled ? 0 : tracee_stop(s->process.tracee, err);

	for (int tries = 0; r == -EAGAIN && tries < STOP_TRIES; tries++) {
		tracee_resume(s->process.tracee);
		r = tracee_stop(s->process.tracee, err);
	}
	if (r == 0)
		r = find_empty(s, err);
	if (r == 0)
		r = look_at_all(s, false, err);
	if (!throttled)
		tracee_resume(s->process.tracee);
	return r;
}

static int send_private(void *arg, uint64_t start, uint64_t end,
			struct error *err)
{
	struct sending *s = arg;

	sent_add(s->sent, start, end);
	return page_sender_add(s->process.pages, start, end, err);
}

static int send_shared(void *arg, uint64_t start, uint64_t end,
		       struct error *err)
{
	struct sending *s = arg;

	return page_sender_add(s->process.pages, start, end, err);
}

static int send_mapping(struct sending *s, const struct vma *v, bool last,
			struct error *err)
{
	enum share_how how = share_how(s->process.pid, v, &s->left);
	bool shared = v->kind == VMA_SHARED_ANON;
	int r = 0;

	if (!vma_carries_pages(v) || how == SHARE_DESCRIPTOR)
		return 0;
	/*
	 * It may hold pages that this process has never mapped, and holes where
	 * there were pages, which no bit shows: in the end it is sent whole.
	 */
	if (how == SHARE_WHOLE ||
	    (shared && (last || vma_meets(&s->fresh, v)))) {
		r = track_punch_whole(s, v->start, v->end, err);
		if (r == 0)
			r = page_sender_add_nonzero(s->process.pages, v->start,
						    v->end, err);
	}
	return r < 0 ? r
		     : sent_each(s->todo, v->start, v->end,
				 shared ? send_shared : send_private, s, err);
}

int track_send_soft(struct sending *s, bool last, struct error *err)
{
	int r;

	s->todo = sent_create();
	r = last ? look_at_all(s, true, err) : look_while_stopped(s, err);
	for (size_t i = 0; i < s->maps.nr && r == 0; i++)
		r = send_mapping(s, &s->maps.v[i], last, err);
	sent_destroy(s->todo);
	s->todo = NULL;
	return r;
}
