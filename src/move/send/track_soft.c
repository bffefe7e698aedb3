/*
 * track_soft.c - find written pages by soft-dirty bits, on kernels before 6.7
 *
 * The bits of a process can only be cleared all at once, so it stands still between
 * reading and clearing them, for as long as reading its page table takes (about 5 ms
 * for each GiB). What was found is sent while it runs again.
 */
#include <errno.h>

#include "move/send/track_in.h"

#define STOP_TRIES 10

/* A look at the pages of one mapping. */
struct look {
	struct track *t;
	struct sent *todo;
	uint64_t cursor; /* everything before this address has been told */
	bool shared, whole;
};

/*
 * Of the pages that exist, note those that were written; those between them are gone.
 */
static int look_at_range(void *arg, uint64_t start, uint64_t end, bool written,
			 struct error *err)
{
	struct look *l = arg;
	int r = l->shared ? 0
			  : sent_each(l->t->sent, l->cursor, start, track_zap,
				      l->t, err);

	l->cursor = end;
	if (written || l->whole)
		sent_add(l->todo, start, end);
	return r;
}

static int look_at_mapping(struct track *t, struct sent *todo,
			   const struct vma *v, bool last, struct error *err)
{
	struct look l = {
		.t = t,
		.todo = todo,
		.cursor = v->start,
		.shared = v->kind == VMA_SHARED_ANON,
		.whole = vma_meets(&t->fresh, v),
	};
	/* terabytes of nothing would take their time */
	int r = v->empty ? 0
			 : scan_soft(t->scan, v->start, v->end, l.shared,
				     look_at_range, &l, err);

	if (!r && last)
		r = track_guards(t, v->start, v->end, err);
	return r < 0 || l.shared ? r
				 : sent_each(t->sent, l.cursor, v->end,
					     track_zap, t, err);
}

/* All threads stand still. */
static int look_at_all(struct track *t, struct sent *todo, bool last,
		       struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < t->maps.nr && !r; i++)
		if (vma_carries_pages(&t->maps.v[i]))
			r = look_at_mapping(t, todo, &t->maps.v[i], last, err);
	if (!r && !last)
		r = scan_soft_clear(t->p->pid, err);
	return r;
}

/* Which mappings are empty now that the process stands still. */
static int find_empty(struct track *t, struct error *err)
{
	for (size_t i = 0; i < t->maps.nr; i++)
		t->maps.v[i].empty = false;
	return proc_read_advice(t->p->pid, &t->maps, err);
}

static int look_while_stopped(struct track *t, struct sent *todo,
			      struct error *err)
{
	bool throttled = t->p->tracee->nr > 0;
	int r = throttled ? 0 : tracee_stop(t->p->tracee, err);

	for (int tries = 0; r == -EAGAIN && tries < STOP_TRIES; tries++) {
		tracee_resume(t->p->tracee);
		r = tracee_stop(t->p->tracee, err);
	}
	if (!r)
		r = find_empty(t, err);
	if (!r)
		r = look_at_all(t, todo, false, err);
	if (!throttled)
		tracee_resume(t->p->tracee);
	return r;
}

static int send_private(void *arg, uint64_t start, uint64_t end,
			struct error *err)
{
	struct track *t = arg;

	sent_add(t->sent, start, end);
	return page_sender_add(t->p->pages, start, end, err);
}

static int send_shared(void *arg, uint64_t start, uint64_t end,
		       struct error *err)
{
	struct track *t = arg;

	return page_sender_add(t->p->pages, start, end, err);
}

static int send_mapping(struct track *t, struct sent *todo, const struct vma *v,
			bool last, struct error *err)
{
	enum share_how how = share_how(t->p->pid, v, &t->common->left);
	bool shared = v->kind == VMA_SHARED_ANON;
	int r = 0;

	if (!vma_carries_pages(v) || how == SHARE_DESCRIPTOR)
		return 0;
	/*
	 * A shared object may hold pages that this process has never mapped,
	 * and holes where there were pages; no bit shows either.  So the last
	 * pass sends it whole.
	 */
	if (how == SHARE_WHOLE ||
	    (shared && (last || vma_meets(&t->fresh, v)))) {
		r = track_punch_whole(t, v->start, v->end, err);
		if (!r)
			r = page_sender_add_nonzero(t->p->pages, v->start,
						    v->end, err);
	}
	return r < 0 ? r
		     : sent_each(todo, v->start, v->end,
				 shared ? send_shared : send_private, t, err);
}

int track_send_soft(struct track *t, bool last, struct error *err)
{
	/* the pages to be sent in this pass */
	struct sent *todo = sent_create();
	int r = last ? look_at_all(t, todo, true, err)
		     : look_while_stopped(t, todo, err);

	for (size_t i = 0; i < t->maps.nr && !r; i++)
		r = send_mapping(t, todo, &t->maps.v[i], last, err);
	sent_destroy(todo);
	return r;
}
