/*
 * backfill_freed.c - the list of stretches of time in which processors came free
 * since the last improvement; see backfill.h
 */
#include <string.h>

#include "core/bisect.h"
#include "policy/queue/backfill.h"

/* Make a an upper bound of both. */
static void join_runs(struct profile_longest *a,
		      const struct profile_longest *b)
{
	if (b->longest > a->longest)
		a->longest = b->longest;
	if (b->start < a->start)
		a->start = b->start;
	if (b->before > a->before)
		a->before = b->before;
}

/* Join b, which touches a, into a. */
static void join_freed(struct freed_list *list, struct freed *a,
		       const struct freed *b)
{
	const struct freed_runs *of_b = &list->runs[b->seat];
	struct freed_runs *of_a = &list->runs[a->seat];

	if (b->most > a->most)
		a->most = b->most;
	if (b->to > a->to)
		a->to = b->to;
	if (b->upto > a->upto)
		a->upto = b->upto;
	a->known &= b->known;
	for (size_t i = 0; a->known >> i; i++)
		if (a->known >> i & 1)
			join_runs(&of_a->run[i], &of_b->run[i]);
	list->seats &= ~(UINT64_C(1) << b->seat);
}

struct freed *backfill_freed_add(struct freed_list *list, usec_t from,
				 usec_t to, int64_t most)
{
	uint32_t seat = (uint32_t)__builtin_ctzll(~list->seats);
	struct freed *f = &list->f[list->nr++];

	list->seats |= UINT64_C(1) << seat;
	list->runs[seat].reckoned = 0;
	list->runs[seat].spot = (struct profile_spot){ 0 };
	*f = (struct freed){ .from = from,
			     .to = to,
			     .most = most,
			     .upto = USEC_MAX,
			     .seat = seat };
	return f;
}

void backfill_freed_clear(struct freed_list *list)
{
	list->nr = list->tidy = 0;
	list->seats = 0;
}

void backfill_freed_copy(struct freed_list *to, const struct freed_list *from)
{
	memcpy(to->f, from->f, from->nr * sizeof(*to->f));
	for (size_t i = 0; i < from->nr; i++)
		if (from->f[i].known)
			to->runs[from->f[i].seat] = from->runs[from->f[i].seat];
		else
			to->runs[from->f[i].seat].reckoned = 0;
	to->seats = from->seats;
	to->nr = from->nr;
	to->tidy = from->tidy;
}

static void move_freed(struct freed *to, const struct freed *from, size_t n)
{
	memmove(to, from, n * sizeof(*to));
}

/*
 * Insert one into the first n, which are sorted and do not touch; returns how many they are
 * then.
 */
static size_t put_freed(struct freed_list *list, size_t n,
			const struct freed *one)
{
	struct freed copy, *f = list->f;
	size_t i = n;

	while (i > 0 && f[i - 1].from > one->from)
		i--;
	if (i > 0 && one->from <= f[i - 1].to) {
		join_freed(list, &f[--i], one);
	} else if (i == n && one == f + n) {
		n++;
	} else {
		copy = *one; /* the move may overwrite it */
		move_freed(f + i + 1, f + i, n++ - i);
		f[i] = copy;
	}
	while (i + 1 < n && f[i + 1].from <= f[i].to) {
		join_freed(list, &f[i], &f[i + 1]);
		move_freed(f + i + 1, f + i + 2, n-- - i - 2);
	}
	return n;
}

void backfill_freed_tidy(struct freed_list *list)
{
	size_t n = list->tidy;

	list->joins++;
	for (size_t i = n; i < list->nr; i++)
		n = put_freed(list, n, &list->f[i]);
	list->tidy = list->nr = n;
	for (size_t i = 0; i < n; i++)
		list->f[i].so_far = USEC_MAX;
}

void backfill_freed_join(struct freed_list *list)
{
	struct freed *last = &list->f[MAX_FREED - 1];

	backfill_freed_tidy(list);
	if (list->nr <= MAX_FREED)
		return;
	for (size_t i = MAX_FREED; i < list->nr; i++)
		list->seats &= ~(UINT64_C(1) << list->f[i].seat);
	last->to = list->f[list->nr - 1].to;
	last->most = INT64_MAX;
	last->upto = USEC_MAX;
	last->known = 0;
	list->tidy = list->nr = MAX_FREED;
}

void backfill_freed_note(struct backfill *b, usec_t from, usec_t to)
{
	struct freed_list *list = &b->freed;

	if (list->nr == 2 * MAX_FREED)
		backfill_freed_join(list);
	backfill_freed_add(list, from, to, INT64_MAX)->upto = b->mover;
}

void backfill_give(struct backfill *b, usec_t from, usec_t to, uint32_t n)
{
	profile_add(&b->profile, from, to, n);
	backfill_freed_note(b, from, to);
	b->given = true;
}

void backfill_freed_raise(struct freed_list *list, usec_t from, usec_t to,
			  int64_t n)
{
	size_t i;

	bisect(i, list->tidy, list->f[i].to <= from);
	for (; i < list->nr; i++) {
		struct freed *f = &list->f[i];

		if (i < list->tidy && f->from >= to)
			i = list->tidy - 1;
		else if (f->from < to && from < f->to && f->most != INT64_MAX)
			f->most += n;
	}
}
