/*
 * backfill_improve.c - better reservations when processors come free, see
 * backfill.h
 *
 * Only stretches of time in which processors came free since the last look
 * are looked at, and slots only move to earlier starts.
 */
#include "policy/queue/backfill.h"

/*
 * Slot i of k moves to an earlier start:
 *
 *	to            end
 *	|..............|
 *	        |..............|
 *	        from          left	free is then what is right of end
 */
static void move_slot(struct backfill *b, struct alike *k, size_t i, usec_t to)
{
	usec_t from = k->slot[k->first + i], end = add_time(to, k->length);
	usec_t left = add_time(from, k->length);

	alike_take(k, i);
	alike_add(k, to);
	backfill_note_first(b, k);
	profile_add(&b->profile, to, from < end ? from : end,
		    -(int64_t)k->size);
	if (from == USEC_MAX)
		return;
	if (from < end)
		from = end;
	profile_add(&b->profile, from, left, k->size);
	backfill_freed_raise(&b->seen, from, left, k->size);
	backfill_freed_raise(&b->freed, from, left, k->size);
	backfill_freed_note(b, from, left);
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

/* Improve the slots of k in one stretch of time, from now or later on; what begins at
 * its last slot or later is of no use to it. */
static void improve_in(struct backfill *b, const struct view *view,
		       struct alike *k, struct freed f)
{
	usec_t start, end, to;

	while (f.from < f.to && f.from < alike_last(k)) {
		to = alike_last(k) < f.to ? alike_last(k) : f.to;
		if (!profile_run(&b->profile, f.from, to, k->size, k->length,
				 &f.spot, &start, &end))
			break;
		if (start < view->now)
			start = view->now;
		if (!use_run(b, k, start, end))
			f.from = end;
	}
}

/* How many processors are free at most in any of the stretches. */
static int64_t most_of(const struct backfill *b, const struct view *view,
		       struct freed_list *list)
{
	int64_t most = 0;

	for (size_t i = 0; i < list->nr; i++) {
		struct freed *f = &list->f[i];
		usec_t from = f->from > view->now ? f->from : view->now;

		if (from >= f->to)
			f->most = 0;
		else if (f->most == INT64_MAX)
			f->most = profile_max(&b->profile, from, f->to);
		if (f->most > most)
			most = f->most;
	}
	return most;
}

/* f is the list's, and may be another one when slots have moved. */
static void improve_in_one(struct backfill *b, const struct view *view,
			   struct alike *k, struct freed *f)
{
	if (f->from < view->now)
		f->from = view->now;
	if (f->from >= f->to || f->from >= alike_last(k))
		return;
	profile_find(&b->profile, f->from, &f->spot);
	improve_in(b, view, k, *f);
}

/* Look at each of them for the slots of k, also at those that come to it
 * meanwhile; anew, if they are in another order then. */
static void improve_in_all(struct backfill *b, const struct view *view,
			   struct alike *k, struct freed_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		uint64_t joins = list->joins;

		if (list->f[i].most >= (int64_t)k->size)
			improve_in_one(b, view, k, &list->f[i]);
		if (list->joins != joins)
			i = SIZE_MAX; /* + 1 is 0 */
	}
}

void backfill_improve_now(struct backfill *b, const struct view *view)
{
	const struct freed now = { .from = view->now, .to = view->now + 1 };
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
	const struct job *j = NULL;
	int64_t most, more;

	b->looked = view->now;
	backfill_freed_join(&b->freed);
	b->seen = b->freed;
	b->freed.nr = 0;
	for (size_t i = 0; i < b->seen.nr; i++)
		b->seen.f[i].most = INT64_MAX; /* not known any more */
	most = most_of(b, view, &b->seen);
	while ((j = fitset_fit(&b->heads, j, most))) {
		struct alike *k = alikes_of(&b->kinds, j);

		improve_in_all(b, view, k, &b->seen);
		/*
		 * Look at the stretches that its own moves and those of kinds
		 * before it made free.
		 */
		improve_in_all(b, view, k, &b->freed);
		more = most_of(b, view, &b->freed);
		if (more > most)
			most = more;
	}
	b->seen.nr = 0;
}
