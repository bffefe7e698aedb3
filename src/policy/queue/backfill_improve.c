/*
 * backfill_improve.c - move reservations to earlier starts when processors come
 * free; see backfill.h
 *
 * Only stretches of time in which processors came free since the last improvement
 * are searched, and slots only ever move to earlier starts.
 */
#include "core/bisect.h"
#include "policy/queue/backfill.h"

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
	usec_t from = k->slot[k->first + i], end = add_time(to, k->length);
	usec_t left = add_time(from, k->length);
	int64_t procs = (int64_t)(n * k->size);

	alike_move(k, i, n, to);
	backfill_note_first(b, k);
	profile_add(&b->profile, to, from < end ? from : end, -procs);
	if (from == USEC_MAX)
		return;
	if (from < end)
		from = end;
	profile_add(&b->profile, from, left, procs);
	backfill_freed_raise(&b->seen, from, left, procs);
	backfill_freed_raise(&b->freed, from, left, procs);
	backfill_freed_note(b, from, left);
}

/*
 * Move slot i of k to an earlier start.  As many equal slots as there is room for move with
 * it: each of them would be the next to move.
 */
static void move_slot(struct backfill *b, struct alike *k, size_t i, usec_t to)
{
	usec_t from = k->slot[k->first + i], end = add_time(to, k->length);
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

/*
 * Move slots of k into free runs of one stretch of time, which begins now or later, at that
 * spot of the profile.  A run that begins at the last slot of k or later is of no use.
 */
static void improve_in(struct backfill *b, const struct view *view,
		       struct alike *k, usec_t from, usec_t to,
		       struct profile_spot spot)
{
	usec_t start, end;

	while (from < to && from < alike_last(k)) {
		usec_t most = alike_last(k) < to ? alike_last(k) : to;

		if (!profile_run(&b->profile, from, most, k->size, k->length,
				 &spot, &start, &end))
			break;
		if (start < view->now)
			start = view->now;
		if (!use_run(b, k, start, end))
			from = end;
	}
}

/* The greatest number of processors that are free in any of the stretches. */
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

static bool is_known(const struct freed *f, size_t i)
{
	return f->known >> i & 1;
}

/* The longest run of 2^i free processors that touches f; computed if it is not known. */
static const struct profile_longest *longest_run(const struct backfill *b,
						 struct freed_list *list,
						 struct freed *f, size_t i)
{
	struct freed_runs *r = &list->runs[f->seat];

	if (!is_known(f, i))
		r->run[i] = profile_longest(&b->profile, f->from, f->to,
					    INT64_C(1) << i, &r->spot);
	f->known |= UINT32_C(1) << i;
	return &r->run[i];
}

/* Compute so_far of each from the runs that are known; an unknown one counts as endless. */
static void find_longest(struct freed_list *list)
{
	usec_t longest = 0;

	for (size_t i = 0; i < list->tidy; i++) {
		struct freed *f = &list->f[i];
		usec_t run = is_known(f, 0) ? list->runs[f->seat].run[0].longest
					    : USEC_MAX;

		if (run > longest)
			longest = run;
		f->so_far = longest;
	}
}

/* The greatest i with 2^i <= size and i < FREED_SIZES. */
static size_t size_class(uint32_t size)
{
	size_t i = (size_t)(31 - __builtin_clz(size));

	return i < FREED_SIZES ? i : FREED_SIZES - 1;
}

/* May a run of 2^i free processors be as long as k's jobs and begin before its last slot? */
static bool may_be_run(const struct backfill *b, const struct alike *k,
		       struct freed_list *list, struct freed *f, size_t i)
{
	const struct profile_longest *l = longest_run(b, list, f, i);

	return (l->start < alike_last(k) ? l->longest : l->before) >= k->length;
}

/* May a job of k have room in f for its whole length? */
static bool may_hold(const struct backfill *b, const struct alike *k,
		     struct freed_list *list, struct freed *f)
{
	return (!is_known(f, 0) || may_be_run(b, k, list, f, 0)) &&
	       may_be_run(b, k, list, f, size_class(k->size));
}

/*
 * Move slots of k that begin in (from, to] ahead as far as processors are free right before
 * them.  Slots that begin elsewhere cannot move so: right before them nothing came free.
 */
static void slide(struct backfill *b, struct alike *k, usec_t from, usec_t to)
{
	int64_t i = alike_find(k, to);
	usec_t at, start;

	while (i >= 0 && (at = k->slot[k->first + (size_t)i]) > from) {
		start = profile_since(&b->profile, at, k->size, &k->near);
		if (start < at)
			move_slot(b, k, (size_t)i, start);
		else
			i = alike_before(k, (size_t)i);
	}
}

/*
 * Move slots of k into f where they fit with their whole length.  If none did, the bounds of
 * f were too high: compute them again.
 */
static void fill_in(struct backfill *b, const struct view *view,
		    struct alike *k, struct freed_list *list, struct freed *f)
{
	struct freed_runs *r = &list->runs[f->seat];
	uint64_t changes = b->profile.changes;

	profile_find(&b->profile, f->from, &r->spot);
	improve_in(b, view, k, f->from, f->to, r->spot);
	if (changes != b->profile.changes || r->reckoned == changes)
		return;
	r->reckoned = changes;
	f->known &= ~(UINT32_C(1) << size_class(k->size) | UINT32_C(1));
	longest_run(b, list, f, 0);
	find_longest(list);
}

/* f is an element of the list, which another stretch may take when slots move. */
static void improve_in_one(struct backfill *b, const struct view *view,
			   struct alike *k, struct freed_list *list,
			   struct freed *f)
{
	if (f->from < view->now)
		f->from = view->now;
	if (f->from >= f->to || f->from >= alike_last(k))
		return;
	if (may_hold(b, k, list, f))
		fill_in(b, view, k, list, f);
	else if (alike_first(k) <= f->to)
		slide(b, k, f->from, f->to);
}

/*
 * The index in the list to begin with for k.  In a stretch without a run as long as k's jobs,
 * slots can only move ahead within it or from its end: if it ends before the first slot of k,
 * it is left out.
 */
static size_t first_for(const struct freed_list *list, const struct alike *k)
{
	usec_t first = alike_first(k);
	size_t at;

	bisect(at, list->tidy,
	       list->f[at].to < first && list->f[at].so_far < k->length);
	return at;
}

/*
 * Search each stretch of the list for k, which was submitted at that time, also stretches
 * that are added meanwhile.  If the list was sorted meanwhile, begin again.
 */
static void improve_in_all(struct backfill *b, const struct view *view,
			   struct alike *k, struct freed_list *list,
			   usec_t submit)
{
	for (size_t i = first_for(list, k); i < list->nr; i++) {
		uint64_t joins = list->joins;

		if (i < list->tidy && list->f[i].from >= alike_last(k)) {
			i = list->tidy - 1;
			continue;
		}
		if (list->f[i].most >= (int64_t)k->size &&
		    list->f[i].upto >= submit)
			improve_in_one(b, view, k, list, &list->f[i]);
		if (list->joins != joins)
			i = SIZE_MAX; /* + 1 is 0 */
	}
}

void backfill_improve_now(struct backfill *b, const struct view *view)
{
	const struct profile_spot nowhere = { 0 };
	const struct job *j = NULL;
	int64_t most = profile_max(&b->profile, view->now, view->now + 1);

	while (most > 0 && (j = fitset_fit(&b->heads, j, most))) {
		struct alike *k = alikes_of(&b->kinds, j);

		if (alike_last(k) <= view->now)
			continue;
		improve_in(b, view, k, view->now, view->now + 1, nowhere);
		most = profile_max(&b->profile, view->now, view->now + 1);
	}
}

/* The first kind after k (NULL: of all) whose jobs need at most that many processors. */
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
	if (k)
		__builtin_prefetch(k->behind);
	return k;
}

void backfill_improve(struct backfill *b, const struct view *view)
{
	struct alike *k = NULL;
	int64_t most, more;
	uint64_t changes;

	b->looked = view->now;
	backfill_freed_join(&b->freed);
	backfill_freed_copy(&b->seen, &b->freed);
	backfill_freed_clear(&b->freed);
	for (size_t i = 0; i < b->seen.nr; i++)
		b->seen.f[i].most = INT64_MAX; /* out of date */
	most = most_of(b, view, &b->seen);
	for (size_t i = 0; i < b->seen.nr; i++)
		longest_run(b, &b->seen, &b->seen.f[i], 0);
	find_longest(&b->seen);
	while ((k = next_kind(b, k, most))) {
		b->mover = b->kinds.each ? k->submit : USEC_MAX;
		changes = b->profile.changes;
		improve_in_all(b, view, k, &b->seen, k->submit);
		/*
		 * Also the stretches that its own moves and those of the kinds
		 * before it freed.
		 */
		improve_in_all(b, view, k, &b->freed, 0);
		if (b->profile.changes == changes)
			continue;
		backfill_freed_tidy(&b->freed);
		find_longest(&b->freed);
		more = most_of(b, view, &b->freed);
		if (more > most)
			most = more;
	}
	b->seen.nr = 0;
	b->mover = USEC_MAX;
}
