/* profile_search.c - where in a profile processors are free, see profile.h */
#include "policy/kit/profile_priv.h"

static usec_t later(usec_t a, usec_t b)
{
	return a > b ? a : b;
}

usec_t profile_first_short(const struct profile *p, struct profile_place *at,
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

	return profile_first_short(p, &at, from, USEC_MAX, n);
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

struct profile_place profile_run_start(const struct profile *p,
				       struct profile_place at, int64_t n)
{
	for (uint32_t i = at.step;; i = p->block[at.block].n) {
		const struct profile_block *b = &p->block[at.block];

		if (b->min >= n)
			i = 0;
		while (i > 0 && profile_value(b, i - 1) >= n)
			i--;
		if (i == b->n) /* it is the next one's first */
			return (struct profile_place){ at.block + 1, 0 };
		at.step = i;
		if (i || !at.block)
			return at;
		at.block--;
	}
}

static usec_t end_of(usec_t t, usec_t length)
{
	return length > USEC_MAX - t ? USEC_MAX : t + length;
}

usec_t profile_since(struct profile *p, usec_t to, int64_t n,
		     struct profile_place near)
{
	struct profile_place at = profile_place_near(p, near, to - 1);

	if (profile_value(&p->block[at.block], at.step) < n)
		return to;
	p->near[2] = profile_step_behind(p, at);
	p->near[0] = at = profile_run_start(p, at, n);
	return p->block[at.block].step[at.step].at;
}

usec_t profile_earliest(const struct profile *p, usec_t from, usec_t length,
			int64_t n, usec_t *longest)
{
	struct profile_place at = profile_place_of(p, from);

	for (*longest = 0;;) {
		usec_t end;

		from = first_free(p, &at, from, USEC_MAX, n);
		if (from == USEC_MAX)
			return USEC_MAX;
		end = profile_first_short(p, &at, from, end_of(from, length),
					  n);
		if (end == USEC_MAX)
			return from;
		*longest = end - from > *longest ? end - from : *longest;
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
