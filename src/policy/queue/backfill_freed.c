/*
 * backfill_freed.c - the stretches of time in which processors came free since
 * they were looked at last, see backfill.h
 */
#include <string.h>

#include "policy/queue/backfill.h"

/* How long its runs are is not known any more. */
static void freed_forget(struct freed *f)
{
	for (size_t i = 0; i < FREED_SIZES; i++)
		f->run[i].longest = -1;
}

/* What is true of both. */
static void join_runs(struct profile_longest *a,
		      const struct profile_longest *b)
{
	if (a->longest < 0 || b->longest < 0)
		a->longest = -1;
	else if (b->longest > a->longest)
		a->longest = b->longest;
	if (b->start < a->start)
		a->start = b->start;
	if (b->before > a->before)
		a->before = b->before;
}

/* b, which touches a, becomes a part of it. */
static void join_freed(struct freed *a, const struct freed *b)
{
	if (b->most > a->most)
		a->most = b->most;
	if (b->to > a->to)
		a->to = b->to;
	if (b->upto > a->upto)
		a->upto = b->upto;
	for (size_t i = 0; i < FREED_SIZES; i++)
		join_runs(&a->run[i], &b->run[i]);
}

struct freed freed_stretch(usec_t from, usec_t to, int64_t most)
{
	struct freed f = {
		.from = from, .to = to, .most = most, .upto = USEC_MAX
	};

	freed_forget(&f);
	return f;
}

void backfill_freed_copy(struct freed_list *to, const struct freed_list *from)
{
	memcpy(to->f, from->f, from->nr * sizeof(*to->f));
	to->nr = from->nr;
	to->tidy = from->tidy;
}

static void move_freed(struct freed *to, const struct freed *from, size_t n)
{
	memmove(to, from, n * sizeof(*to));
}

/* Put one among the first n, which are in order and do not touch; how many are they then? */
static size_t put_freed(struct freed *f, size_t n, const struct freed *one)
{
	struct freed copy;
	size_t i = n;

	while (i > 0 && f[i - 1].from > one->from)
		i--;
	if (i > 0 && one->from <= f[i - 1].to) {
		join_freed(&f[--i], one);
	} else if (i == n && one == f + n) {
		n++;
	} else {
		copy = *one; /* which may lie where the others go */
		move_freed(f + i + 1, f + i, n++ - i);
		f[i] = copy;
	}
	while (i + 1 < n && f[i + 1].from <= f[i].to) {
		join_freed(&f[i], &f[i + 1]);
		move_freed(f + i + 1, f + i + 2, n-- - i - 2);
	}
	return n;
}

void backfill_freed_tidy(struct freed_list *list)
{
	size_t n = list->tidy;

	list->joins++;
	for (size_t i = n; i < list->nr; i++)
		n = put_freed(list->f, n, &list->f[i]);
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
	last->to = list->f[list->nr - 1].to;
	last->most = INT64_MAX;
	last->upto = USEC_MAX;
	freed_forget(last);
	list->tidy = list->nr = MAX_FREED;
}

void backfill_freed_note(struct backfill *b, usec_t from, usec_t to)
{
	struct freed_list *list = &b->freed;

	if (list->nr == 2 * MAX_FREED)
		backfill_freed_join(list);
	list->f[list->nr] = freed_stretch(from, to, INT64_MAX);
	list->f[list->nr++].upto = b->mover;
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
	for (size_t i = 0; i < list->nr; i++) {
		struct freed *f = &list->f[i];

		if (f->from < to && from < f->to && f->most != INT64_MAX)
			f->most += n;
	}
}
