/*
 * ranges.c - lists of address ranges, and what a pass over the memory notes in them;
 * see track.h
 */
#include <stdlib.h>

#include "core/xalloc.h"
#include "move/send/track_in.h"

#define ZAP_BATCH 4096

void range_add(struct range_list *l, uint64_t start, uint64_t end)
{
	array_room(l->v, l->nr, &l->cap);
	l->v[l->nr++] = (struct frame_range){ start, end };
}

int track_zap_flush(struct track *t, struct error *err)
{
	struct iovec iov = { t->zap, t->nr_zap * sizeof(*t->zap) };
	int r = t->nr_zap ? frame_send(t->ch, FRAME_ZAP, &iov, 1, err) : 0;

	t->nr_zap = 0;
	return r;
}

int track_zap(void *arg, uint64_t start, uint64_t end, struct error *err)
{
	struct track *t = arg;
	struct frame_range *last = t->nr_zap ? &t->zap[t->nr_zap - 1] : NULL;
	int r = 0;

	sent_remove(t->sent, start, end);
	if (last && last->end == start) {
		last->end = end;
		return 0;
	}
	if (t->nr_zap == ZAP_BATCH)
		r = track_zap_flush(t, err);
	if (!t->zap)
		t->zap = xcalloc(ZAP_BATCH, sizeof(*t->zap));
	t->zap[t->nr_zap++] = (struct frame_range){ start, end };
	return r;
}

int track_note_guard(void *arg, uint64_t start, uint64_t end, struct error *err)
{
	struct track *t = arg;

	range_add(&t->guards, start, end);
	return 0;
}

int track_guards(struct track *t, uint64_t start, uint64_t end,
		 struct error *err)
{
	return t->has_guards ? scan_guards(t->scan_private, start, end,
					   track_note_guard, t, err)
			     : 0;
}

void track_miss(struct track *t, uint64_t start, uint64_t end)
{
	range_add(&t->missed, start, end);
}

/* ---- what was given up ---- */

/* What is dropped of a range, but for what is found there. */
struct drop {
	struct track *t;
	uint64_t from;
};

static int keep_moving(void *arg, uint64_t start, uint64_t end,
		       struct error *err)
{
	struct drop *d = arg;
	int r = sent_each(d->t->sent, d->from, start, track_zap, d->t, err);

	d->from = end;
	return r;
}

int track_drop(struct track *t, uint64_t start, uint64_t end, struct error *err)
{
	struct drop d = { t, start };
	int r;

	if (!sent_any(t->sent, start, end))
		return 0;
	r = scan_moving(t->scan_private, start, end, keep_moving, &d, err);
	return r < 0 ? r : sent_each(t->sent, d.from, end, track_zap, t, err);
}
