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

/* The longest run of 2^i free that touches f is known then. */
static usec_t longest_run(const struct backfill *b, struct freed *f, size_t i)
{
	if (f->longest[i] < 0)
		f->longest[i] = profile_longest(&b->profile, f->from, f->to,
						INT64_C(1) << i);
	return f->longest[i];
}

/* The i of the greatest 2^i that is not above size. */
static size_t size_class(uint32_t size)
{
	size_t i = (size_t)(31 - __builtin_clz(size));

	return i < FREED_SIZES ? i : FREED_SIZES - 1;
}

/* May there be room in f for the whole length of k? */
static bool may_hold(const struct backfill *b, const struct alike *k,
		     struct freed *f)
{
	return longest_run(b, f, 0) >= k->length &&
	       longest_run(b, f, size_class(k->size)) >= k->length;
}

/*
 * Slots of k in (from, to] move ahead over what is free right before them.  One that begins
 * elsewhere cannot: right before it nothing came free.
 */
static void slide(struct backfill *b, struct alike *k, usec_t from, usec_t to)
{
	int64_t i = alike_find(k, to);
	usec_t at, start;

	while (i >= 0 && (at = k->slot[k->first + (size_t)i]) > from) {
		start = profile_since(&b->profile, at, k->size);
		if (start < at)
			move_slot(b, k, (size_t)i, start);
		else
			while (i >= 0 && k->slot[k->first + (size_t)i] == at)
				i--;
	}
}

/* For the whole length of k.  If that was in vain, what is known of f is too old. */
static void fill_in(struct backfill *b, const struct view *view,
		    struct alike *k, struct freed *f)
{
	uint64_t changes = b->profile.changes;

	profile_find(&b->profile, f->from, &f->spot);
	improve_in(b, view, k, *f);
	if (changes != b->profile.changes || f->reckoned == changes)
		return;
	f->reckoned = changes;
	f->longest[0] = f->longest[size_class(k->size)] = -1;
}

/* f is the list's, and may be another one when slots have moved. */
static void improve_in_one(struct backfill *b, const struct view *view,
			   struct alike *k, struct freed *f)
{
	if (f->from < view->now)
		f->from = view->now;
	if (f->from >= f->to || f->from >= alike_last(k))
		return;
	if (may_hold(b, k, f))
		fill_in(b, view, k, f);
	else if (alike_first(k) <= f->to)
		slide(b, k, f->from, f->to);
}

/* Look at each of them for the slots of k, which was submitted then, also at those
 * that come to it meanwhile; anew, if they are in another order then. */
static void improve_in_all(struct backfill *b, const struct view *view,
			   struct alike *k, struct freed_list *list,
			   usec_t submit)
{
	for (size_t i = 0; i < list->nr; i++) {
		uint64_t joins = list->joins;

		if (list->f[i].most >= (int64_t)k->size &&
		    list->f[i].upto >= submit)
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

/* The first kind behind k (NULL: of all) whose jobs are of at most that size. */
static struct alike *next_kind(struct backfill *b, struct alike *k,
			       int64_t most)
{
	const struct job *j;

	if (!b->kinds.each) {
		j = fitset_fit(&b->heads, k ? k->head : NULL, most);
		return j ? alikes_of(&b->kinds, j) : NULL;
	}
	do
		k = k ? k->behind : b->kinds.first;
	while (k && k->size > most);
	return k;
}

void backfill_improve(struct backfill *b, const struct view *view)
{
	struct alike *k = NULL;
	int64_t most, more;

	b->looked = view->now;
	backfill_freed_join(&b->freed);
	b->seen = b->freed;
	b->freed.nr = 0;
	for (size_t i = 0; i < b->seen.nr; i++)
		b->seen.f[i].most = INT64_MAX; /* not known any more */
	most = most_of(b, view, &b->seen);
	while ((k = next_kind(b, k, most))) {
		b->mover = b->kinds.each ? k->head->submit : USEC_MAX;
		improve_in_all(b, view, k, &b->seen, k->head->submit);
		/*
		 * Look at the stretches that its own moves and those of kinds
		 * before it made free.
		 */
		improve_in_all(b, view, k, &b->freed, 0);
		more = most_of(b, view, &b->freed);
		if (more > most)
			most = more;
	}
	b->seen.nr = 0;
	b->mover = USEC_MAX;
}
