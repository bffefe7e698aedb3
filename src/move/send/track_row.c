/*
 * track_row.c - mappings that lie side by side, in the last pass
 *
 * A program of many libraries has a thousand mappings, of which nearly nothing has
 * changed since the last round.  A system call or two for each would take longer than
 * all the rest of the pass.
 */
#include <errno.h>

#include "move/send/track_in.h"

/*
 * What is larger has many pages, which scan_written() passes over ten times as fast.
 */
#define SMALL (2u << 20)

static bool is_small(const struct vma *v)
{
	return v->kind <= VMA_FILE && v->end - v->start <= SMALL;
}

size_t track_row(const struct track *t, size_t i)
{
	const struct vma *v = &t->maps.v[i], *end = t->maps.v + t->maps.nr;
	size_t n = 0;

	if (t->method != TRACK_ASYNC || t->swapped)
		return 0;
	while (v + n < end && is_small(&v[n]) &&
	       (!n || v[n - 1].end == v[n].start))
		n++;
	return n;
}

/* A mark in other memory is that of a page on its way to another place. */
static int drop_marked(struct track *t, uint64_t start, uint64_t end,
		       struct error *err)
{
	const struct vma *v;
	uint64_t to;
	int r = 0;

	for (; start < end && !r && (v = vma_find(&t->maps, start));
	     start = to) {
		to = v->end < end ? v->end : end;
		if (v->kind == VMA_FILE)
			r = track_drop(t, start, to, err);
	}
	return r;
}

static int on_change(void *track, uint64_t start, uint64_t end,
		     enum scan_change what, struct error *err)
{
	struct track *t = track;
	int r = 0;

	switch (what) {
	case SCAN_CHANGED:
		sent_add(t->sent, start, end);
		return page_sender_add(t->p->pages, start, end, err);
	case SCAN_MARK:
		return drop_marked(t, start, end, err);
	case SCAN_GUARD:
		r = track_note_guard(t, start, end, err);
		break;
	case SCAN_GONE:
		break;
	}
	return r < 0 ? r : sent_each(t->sent, start, end, track_zap, t, err);
}

/* Is some of it to be sent whole? */
static bool meets_whole(const struct track *t, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < t->whole.nr; i++)
		if (t->whole.v[i].start < end && t->whole.v[i].end > start)
			return true;
	return false;
}

int track_send_row(struct track *t, size_t i, size_t n, struct error *err)
{
	uint64_t start = t->maps.v[i].start, end = t->maps.v[i + n - 1].end;
	size_t nr_guards = t->guards.nr;
	int r;

	if (meets_whole(t, start, end))
		return -EPERM;
	r = scan_changed(t->scan, start, end, t->has_guards, on_change, t, err);
	if (r == -EPERM)
		t->guards.nr = nr_guards;
	return r;
}
