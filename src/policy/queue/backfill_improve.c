/*
 * backfill_improve.c - move reservations to earlier starts when processors come
 * free; see backfill.h
 *
 * Slots only ever move to earlier starts, and each can do so in two ways only: ahead, over
 * what is free right before it, or into a hole that is as long as the job.  What comes free
 * (backfill_freed()) marks the slots that it lets move ahead, and notes the holes that it is
 * a part of.  A kind without a mark, which no such hole may have room for, is passed over.
 */
#include "policy/queue/backfill.h"

/* So many came free that it does not matter how many were free before. */
#define ANY (INT64_MAX / 2)

static void note_hole(void *arg, uint32_t class, usec_t start, usec_t end)
{
	struct backfill *b = arg;
	struct hole_place hole = { start, end,
				   end == USEC_MAX ? USEC_MAX : end - start };

	holes_add(&b->holes, class, hole);
	holes_add(&b->after, class, hole);
}

/* n came free in [from, to): mark slots, and note holes. */
static void look_at(struct backfill *b, usec_t from, usec_t to, int64_t n)
{
	struct profile_freed freed = { .from = from, .to = to, .n = n };

	profile_mark_pins(&b->profile, &freed, b->kinds.marks);
	profile_runs(&b->profile, &freed, &b->wanted, note_hole, b);
}

/*
 * Move n equal slots of k, the last of which is slot i, to the earlier start `to`:
 *
 *	to            end
 *	|..............|
 *	        |..............|
 *	        from          left	the part right of end comes free
 */
static void move_slots(struct backfill *b, struct alike *k, size_t i, size_t n,
		       usec_t to)
{
	usec_t from = k->slot[k->first + i], end = usec_add(to, k->length);
	usec_t left = usec_add(from, k->length);
	int64_t procs = (int64_t)(n * k->size);
	struct alike_moved moved = alike_move(k, i, n, to);

	if (moved.first_there)
		profile_pin(&b->profile, to, k->ix, k->size);
	backfill_note_first(b, k);
	profile_add(&b->profile, to, from < end ? from : end, -procs);
	if (from == USEC_MAX)
		return;
	if (moved.last_here)
		profile_unpin(&b->profile, from, k->ix);
	if (from < end)
		from = end;
	profile_add(&b->profile, from, left, procs);
	if (b->looking)
		look_at(b, from, left, procs);
	else
		backfill_freed(b, from, left);
}

/*
 * Move slot i of k to an earlier start.  As many equal slots as there is room for move with
 * it: each of them would be the next to move.
 */
static void move_slot(struct backfill *b, struct alike *k, size_t i, usec_t to)
{
	usec_t from = k->slot[k->first + i], end = usec_add(to, k->length);
	size_t n = alike_equal(k, i, k->nr);

	if (n > 1) {
		int64_t room =
			profile_min(&b->profile, to, from < end ? from : end) /
			(int64_t)k->size;

		n = n < (size_t)room ? n : (size_t)room;
	}
	move_slots(b, k, i, n, to);
}

/*
 * Move a slot of k to the run [start, end) of enough free processors, if that is earlier.
 * Which slot: if the run has room for the whole length, the last slot of k; else the last
 * that begins within the run or right at its end, as it can go on in the place that it has
 * now.
 */
static bool use_run(struct backfill *b, struct alike *k, usec_t start,
		    usec_t end)
{
	int64_t i = (int64_t)k->nr - 1;

	if (end != USEC_MAX && end - start < k->length)
		i = alike_first(k) > end ? -1 : alike_find(k, end);
	if (i < 0 || k->slot[k->first + (size_t)i] <= start)
		return false;
	move_slot(b, k, (size_t)i, start);
	return true;
}

/* Move slots of k to now, as far as there is room. */
static void improve_one_now(struct backfill *b, const struct view *view,
			    struct alike *k)
{
	usec_t end;

	do
		end = profile_until(&b->profile, view->now, k->size);
	while (end > view->now && use_run(b, k, view->now, end));
}

/* Move slots of k that begin at `at` ahead, as far as processors are free right before them. */
static void slide_from(struct backfill *b, struct alike *k, usec_t at,
		       struct profile_place near)
{
	usec_t start;
	int64_t i;

	while ((start = profile_since(&b->profile, at, k->size, near)) < at) {
		i = alike_find(k, at);
		if (i < 0 || k->slot[k->first + (size_t)i] != at)
			return;
		move_slot(b, k, (size_t)i, start);
	}
}

/* Slots where no pin is marked cannot move so: right before them nothing came free. */
static void slide(struct backfill *b, struct alike *k)
{
	struct profile_place near;
	usec_t at;

	while (profile_next_mark(&b->profile, &b->kinds.marks[k->ix], &at,
				 &near))
		slide_from(b, k, at, near);
}

/*
 * Move slots of k into a hole that is as long as they are.  False: there is none, and how long
 * those are that there are is noted.
 */
static bool fill(struct backfill *b, struct alike *k)
{
	uint32_t class = profile_class(k->size);
	usec_t from =
		holes_find(&b->holes, class, k->size, k->length, alike_last(k));
	usec_t to, longest;

	if (from == USEC_MAX)
		return false;
	to = profile_earliest(&b->profile, from, k->length, k->size, &longest);
	if (to < alike_last(k)) {
		move_slot(b, k, k->nr - 1, to);
		return true;
	}
	if (k->size == UINT32_C(1) << class)
		holes_exclude(&b->holes, class, longest, from, to);
	else
		holes_in_vain(&b->holes, class, k->size, longest, from, to);
	return false;
}

void backfill_improve_now(struct backfill *b, const struct view *view)
{
	const struct job *j = NULL;
	int64_t most = profile_max(&b->profile, view->now, view->now + 1);

	while (most > 0 && (j = fitset_fit(&b->heads, j, most))) {
		struct alike *k = alikes_of(&b->kinds, j);

		if (alike_last(k) <= view->now)
			continue;
		improve_one_now(b, view, k);
		most = profile_max(&b->profile, view->now, view->now + 1);
	}
}

static bool may_fill(const struct backfill *b, const struct alike *k)
{
	return holes_may_hold(&b->holes, profile_class(k->size), k->size,
			      k->length, alike_last(k));
}

/* The first kind after k (NULL: of all) that may be able to move slots. */
static struct alike *next_kind(struct backfill *b, struct alike *k)
{
	const struct job *j = k ? k->head : NULL;

	do {
		if (b->kinds.each)
			k = k ? k->behind : b->kinds.first;
		else if ((j = fitset_fit(&b->heads, j, INT64_MAX)))
			k = alikes_of(&b->kinds, j);
		else
			k = NULL;
		if (k)
			__builtin_prefetch(k->ahead);
	} while (k && !b->kinds.marks[k->ix] && !may_fill(b, k));
	return k;
}

/* Move slots of k as long as any can. */
static void improve_kind(struct backfill *b, struct alike *k)
{
	do {
		slide(b, k);
	} while (fill(b, k));
}

/* Slots have moved to earlier times, and jobs have gone. */
static void want_less(struct backfill *b)
{
	for (uint32_t class = 0; class < PROFILE_CLASSES; class ++)
		b->wanted.most[class] = b->wanted.nr[class] = 0;
	for (size_t i = 0; i < b->starts.nr; i++)
		backfill_want(b, b->kinds.kind[b->starts.node[i].handle]);
}

void backfill_improve(struct backfill *b, const struct view *view)
{
	struct alike *k = NULL;

	b->looked = view->now;
	if (b->looks++ % 8 == 0) /* it need not be exact */
		want_less(b);
	b->holes = b->after;
	holes_trim(&b->holes, view->now);
	if (b->freed_from < b->freed_to)
		look_at(b, b->freed_from, b->freed_to, ANY);
	backfill_forget_freed(b);
	b->looking = true;
	while ((k = next_kind(b, k)))
		improve_kind(b, k);
	b->looking = false;
}
