/*
 * backfill_improve.c - better reservations when processors come free, see
 * backfill.h
 *
 * Only stretches of time in which processors came free since the last look
 * are looked at, and slots only move to earlier starts.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/backfill.h"

static int compare_freed(const void *a, const void *b)
{
	const struct freed *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Put stretches that touch together; then, if need be, whatever is next to
 * each other: looking at too much is allowed. */
static void join_freed(struct backfill *b)
{
	struct freed *f = b->freed;
	size_t n = 0;

	qsort(f, b->nr_freed, sizeof(*f), compare_freed);
	for (size_t i = 1; i < b->nr_freed; i++) {
		if (f[i].from > f[n].to)
			f[++n] = f[i];
		else if (f[i].to > f[n].to)
			f[n].to = f[i].to;
	}
	b->nr_freed = b->nr_freed ? n + 1 : 0;
	while (b->nr_freed > MAX_FREED) {
		b->nr_freed--;
		f[MAX_FREED - 1].to = f[b->nr_freed].to;
	}
}

void backfill_note_freed(struct backfill *b, usec_t from, usec_t to)
{
	if (b->nr_freed == 2 * MAX_FREED)
		join_freed(b);
	b->freed[b->nr_freed++] = (struct freed){ from, to };
}

void backfill_give(struct backfill *b, usec_t from, usec_t to, uint32_t n)
{
	profile_add(&b->profile, from, to, n);
	backfill_note_freed(b, from, to);
	b->given = true;
}

/* Slot i of k moves to an earlier start; what it leaves is free. */
static void move_slot(struct backfill *b, struct alike *k, size_t i, usec_t to)
{
	usec_t from = k->slot[k->first + i], end = add_time(to, k->length);

	backfill_occupy(b, k, from, -1);
	backfill_occupy(b, k, to, 1);
	alike_take(k, i);
	alike_add(k, to);
	backfill_note_first(b, k);
	if (from != USEC_MAX)
		backfill_note_freed(b, from > end ? from : end,
				    add_time(from, k->length));
}

/*
 * Move a slot of k to the run [start, end) of enough free processors, if that
 * is earlier: the last of all if there is room for its whole length or it
 * begins within, for it may use its present place as well; else the last that
 * begins within or right after the run.
 */
static bool use_run(struct backfill *b, struct alike *k, usec_t start,
		    usec_t end)
{
	int64_t i = (int64_t)k->nr - 1;

	if (end != USEC_MAX && end - start < k->length)
		i = alike_find(k, end);
	if (i < 0 || k->slot[k->first + (size_t)i] <= start)
		return false;
	move_slot(b, k, (size_t)i, start);
	return true;
}

/* Improve the slots of k in one stretch of time; what begins at its last slot
 * or later is of no use to it. */
static void improve_in(struct backfill *b, const struct view *view,
		       struct alike *k, struct freed f)
{
	usec_t start, end, to;

	if (f.from < view->now)
		f.from = view->now;
	while (f.from < f.to) {
		to = alike_last(k) > f.from ? alike_last(k) : f.from + 1;
		if (to > f.to)
			to = f.to;
		if (!profile_run(&b->profile, f.from, to, k->size, k->length,
				 &start, &end) ||
		    start >= alike_last(k))
			break;
		if (start < view->now)
			start = view->now;
		if (!use_run(b, k, start, end))
			f.from = end;
	}
}

static int64_t most_freed(const struct backfill *b, const struct view *view)
{
	int64_t most = 0;

	for (size_t i = 0; i < b->nr_freed; i++) {
		usec_t from = b->freed[i].from, max;

		if (from < view->now)
			from = view->now;
		if (from >= b->freed[i].to)
			continue;
		max = profile_max(&b->profile, from, b->freed[i].to);
		if (max > most)
			most = max;
	}
	return most;
}

void backfill_improve_now(struct backfill *b, const struct view *view)
{
	const struct freed now = { view->now, view->now + 1 };
	const struct job *j = NULL;
	int64_t most = profile_max(&b->profile, view->now, view->now + 1);

	while (most > 0 && (j = fitset_fit(&b->heads, j, most))) {
		struct alike *k = alikes_of(&b->kinds, j);

		if (alike_last(k) <= view->now)
			continue;
		improve_in(b, view, k, now);
		most = profile_max(&b->profile, view->now, view->now + 1);
	}
}

void backfill_improve(struct backfill *b, const struct view *view)
{
	struct freed seen[2 * MAX_FREED];
	size_t nr_seen, nr_moved;
	int64_t most;
	const struct job *j = NULL;

	b->looked = view->now;
	join_freed(b);
	most = most_freed(b, view);
	nr_seen = b->nr_freed;
	memcpy(seen, b->freed, sizeof(seen));
	b->nr_freed = 0;
	while ((j = fitset_fit(&b->heads, j, most))) {
		struct alike *k = alikes_of(&b->kinds, j);

		for (size_t i = 0; i < nr_seen; i++)
			improve_in(b, view, k, seen[i]);
		/* Its own moves and those of kinds before it. */
		for (nr_moved = 0; nr_moved < b->nr_freed; nr_moved++)
			improve_in(b, view, k, b->freed[nr_moved]);
		if (nr_moved) {
			int64_t more = most_freed(b, view);

			if (more > most)
				most = more;
		}
	}
}
