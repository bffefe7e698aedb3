/* ranges.c - lists of ranges, and what a pass notes in them; see track.h */
#include <stdlib.h>

#include "core/xalloc.h"
#include "move/send/track.h"

#define ZAP_BATCH 4096

void range_add(struct range_list *l, uint64_t start, uint64_t end)
{
	array_room(l->v, l->nr, &l->cap);
	l->v[l->nr++] = (struct frame_range){ start, end };
}

int track_zap_flush(struct sending *s, struct error *err)
{
	struct iovec iov = { s->zap, s->nr_zap * sizeof(*s->zap) };
	int r = s->nr_zap ? frame_send(s->ch, FRAME_ZAP, &iov, 1, err) : 0;

	s->nr_zap = 0;
	return r;
}

int track_zap(void *arg, uint64_t start, uint64_t end, struct error *err)
{
	struct sending *s = arg;
	struct frame_range *last = s->nr_zap ? &s->zap[s->nr_zap - 1] : NULL;
	int r = 0;

	sent_remove(s->sent, start, end);
	if (last && last->end == start) {
		last->end = end;
		return 0;
	}
	if (s->nr_zap == ZAP_BATCH)
		r = track_zap_flush(s, err);
	if (!s->zap)
		s->zap = xcalloc(ZAP_BATCH, sizeof(*s->zap));
	s->zap[s->nr_zap++] = (struct frame_range){ start, end };
	return r;
}

static int note_guard(void *arg, uint64_t start, uint64_t end,
		      struct error *err)
{
	struct sending *s = arg;

	range_add(&s->guards, start, end);
	return 0;
}

int track_guards(struct sending *s, uint64_t start, uint64_t end,
		 struct error *err)
{
	return s->has_guards ? scan_guards(s->scan_private, start, end,
					   note_guard, s, err)
			     : 0;
}

void track_miss(struct sending *s, uint64_t start, uint64_t end)
{
	range_add(&s->missed, start, end);
}
