/*
 * backfill_freed.c - the stretches of time in which processors came free since
 * they were looked at last, see backfill.h
 */
#include "policy/queue/backfill.h"

/* How long its runs are is not known any more. */
static void freed_forget(struct freed *f)
{
	for (size_t i = 0; i < FREED_SIZES; i++)
		f->longest[i] = -1;
}

/* Sort by time.  There are few, and most of them are in order already. */
static void sort_freed(struct freed *f, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct freed one = f[i];
		size_t k = i;

		for (; k > 0 && f[k - 1].from > one.from; k--)
			f[k] = f[k - 1];
		f[k] = one;
	}
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
		a->longest[i] = a->longest[i] < 0 || b->longest[i] < 0 ? -1
				: a->longest[i] > b->longest[i] ? a->longest[i]
								: b->longest[i];
}

struct freed freed_stretch(usec_t from, usec_t to, int64_t most)
{
	struct freed f = {
		.from = from, .to = to, .most = most, .upto = USEC_MAX
	};

	freed_forget(&f);
	return f;
}

void backfill_freed_join(struct freed_list *list)
{
	struct freed *f = list->f;
	size_t n = 0;

	list->joins++;
	sort_freed(f, list->nr);
	for (size_t i = 1; i < list->nr; i++) {
		if (f[i].from > f[n].to)
			f[++n] = f[i];
		else
			join_freed(&f[n], &f[i]);
	}
	list->nr = list->nr ? n + 1 : 0;
	if (list->nr > MAX_FREED) {
		f[MAX_FREED - 1].to = f[list->nr - 1].to;
		f[MAX_FREED - 1].most = INT64_MAX;
		f[MAX_FREED - 1].upto = USEC_MAX;
		freed_forget(&f[MAX_FREED - 1]);
		list->nr = MAX_FREED;
	}
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
			  uint32_t n)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct freed *f = &list->f[i];

		if (f->from < to && from < f->to && f->most != INT64_MAX)
			f->most += n;
	}
}
