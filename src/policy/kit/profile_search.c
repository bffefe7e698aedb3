/* profile_search.c - where in a profile processors are free, see profile.h */
#include "policy/kit/profile_priv.h"

static usec_t later(usec_t a, usec_t b)
{
	return a > b ? a : b;
}

/* The first t in [from, to) at which n are not free; USEC_MAX if there is
 * none.  from lies in step *at, and t does afterwards. */
static usec_t first_short(const struct profile *p, struct profile_place *at,
			  usec_t from, usec_t to, int64_t n)
{
	uint32_t i = at->step;

	for (size_t k = at->block; k < p->nr && p->block[k].start < to;
	     k++, i = 0) {
		const struct profile_block *b = &p->block[k];

		if (b->min >= n)
			continue;
		for (; i < b->n && b->step[i].at < to; i++)
			if (profile_value(b, i) < n) {
				*at = (struct profile_place){ k, i };
				return later(b->step[i].at, from);
			}
	}
	return USEC_MAX;
}

usec_t profile_until(const struct profile *p, usec_t from, int64_t n)
{
	struct profile_place at = profile_place_of(p, from);

	return first_short(p, &at, from, USEC_MAX, n);
}

/* The first t in [from, to) at which n are free; USEC_MAX if there is none.
 * from lies in step *at, and t does afterwards. */
static usec_t first_free(const struct profile *p, struct profile_place *at,
			 usec_t from, usec_t to, int64_t n)
{
	uint32_t i = at->step;

	for (size_t k = at->block; k < p->nr && p->block[k].start < to;
	     k++, i = 0) {
		const struct profile_block *b = &p->block[k];

		if (b->max < n)
			continue;
		for (; i < b->n && b->step[i].at < to; i++)
			if (profile_value(b, i) >= n) {
				*at = (struct profile_place){ k, i };
				return later(b->step[i].at, from);
			}
	}
	return USEC_MAX;
}

/* Where the run of n free that holds step at began. */
static usec_t run_start(const struct profile *p, struct profile_place at,
			int64_t n)
{
	size_t k = at.block;
	uint32_t i = at.step + 1;

	for (;;) {
		const struct profile_block *b = &p->block[k];

		if (b->min >= n)
			i = 0;
		while (i > 0 && profile_value(b, i - 1) >= n)
			i--;
		if (i > 0)
			return i < b->n ? b->step[i].at : b[1].start;
		if (!k)
			return b->start;
		i = p->block[--k].n;
	}
}

static usec_t end_of(usec_t t, usec_t length)
{
	return length > USEC_MAX - t ? USEC_MAX : t + length;
}

void profile_find(const struct profile *p, usec_t time,
		  struct profile_spot *spot)
{
	struct profile_place at;

	if (spot->changes == p->changes && spot->time == time)
		return;
	at = profile_place_near(p, spot->place, time);
	*spot = (struct profile_spot){ p->changes, time, at };
}

bool profile_run(const struct profile *p, usec_t from, usec_t to, int64_t n,
		 usec_t length, struct profile_spot *spot, usec_t *ret_start,
		 usec_t *ret_end)
{
	struct profile_place at;
	usec_t t;

	profile_find(p, from, spot);
	at = spot->place;
	t = first_free(p, &at, from, to, n);
	if (t == USEC_MAX)
		return false;
	*ret_start = t == from ? run_start(p, at, n) : t;
	*ret_end = first_short(p, &at, t, end_of(t, length), n);
	if (*ret_end != USEC_MAX)
		*spot = (struct profile_spot){ p->changes, *ret_end, at };
	return true;
}

struct profile_longest profile_longest(const struct profile *p, usec_t from,
				       usec_t to, int64_t n,
				       struct profile_spot *spot)
{
	struct profile_longest l = { 0 };
	struct profile_place at;
	usec_t start, length, t, end = from;

	profile_find(p, from, spot);
	at = spot->place;
	while ((t = first_free(p, &at, end, to, n)) != USEC_MAX) {
		start = t == from ? run_start(p, at, n) : t;
		end = first_short(p, &at, t, USEC_MAX, n);
		length = end == USEC_MAX ? USEC_MAX : end - start;
		if (length > l.longest)
			l = (struct profile_longest){ length, start,
						      l.longest };
		if (end == USEC_MAX)
			break;
	}
	return l;
}

usec_t profile_since(const struct profile *p, usec_t to, int64_t n,
		     struct profile_place *near)
{
	struct profile_place at = profile_place_near(p, *near, to - 1);

	*near = at;
	return profile_value(&p->block[at.block], at.step) < n
		       ? to
		       : run_start(p, at, n);
}

usec_t profile_earliest(const struct profile *p, usec_t from, usec_t length,
			int64_t n)
{
	struct profile_place at = profile_place_of(p, from);

	for (;;) {
		usec_t end;

		from = first_free(p, &at, from, USEC_MAX, n);
		if (from == USEC_MAX)
			return USEC_MAX;
		end = first_short(p, &at, from, end_of(from, length), n);
		if (end == USEC_MAX)
			return from;
		from = end;
	}
}

static int64_t better(int64_t a, int64_t b, bool max)
{
	return (b > a) == max ? b : a;
}

static int64_t bound(const struct profile *p, usec_t from, usec_t to, bool max)
{
	size_t k = profile_block_of(p, from);
	uint32_t i = profile_step_of(&p->block[k], from);
	int64_t best = profile_value(&p->block[k], i);

	for (; k < p->nr && p->block[k].start < to; k++, i = 0) {
		const struct profile_block *b = &p->block[k];

		if (!i && k + 1 < p->nr && b[1].start <= to)
			best = better(best, max ? b->max : b->min, max);
		else
			for (; i < b->n && b->step[i].at < to; i++)
				best = better(best, profile_value(b, i), max);
	}
	return best;
}

int64_t profile_min(const struct profile *p, usec_t from, usec_t to)
{
	return bound(p, from, to, false);
}

int64_t profile_max(const struct profile *p, usec_t from, usec_t to)
{
	return bound(p, from, to, true);
}
