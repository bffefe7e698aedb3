/* profile.c - free processors over time, in blocks of steps, see profile.h */
#include "policy/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

#define ROOM 64

struct profile_block {
	uint32_t n;	  /* steps, at least 1 */
	int64_t add;	  /* to every value, min and max included */
	int64_t min, max; /* without add */
	usec_t at[ROOM];  /* a step holds from here to the next one */
	int64_t free[ROOM];
};

static void find_bounds(struct profile_block *b)
{
	b->min = b->max = b->free[0];
	for (uint32_t i = 1; i < b->n; i++) {
		if (b->free[i] < b->min)
			b->min = b->free[i];
		if (b->free[i] > b->max)
			b->max = b->free[i];
	}
}

/* Into block k from now on, empty. */
static struct profile_block *insert_block(struct profile *p, size_t k)
{
	array_room(p->block, p->nr, &p->cap);
	memmove(p->block + k + 1, p->block + k,
		(p->nr - k) * sizeof(struct profile_block *));
	p->nr++;
	p->block[k] = xmalloc(sizeof(*p->block[k]));
	p->block[k]->n = 0;
	p->block[k]->add = 0;
	return p->block[k];
}

static void remove_blocks(struct profile *p, size_t k, size_t n)
{
	for (size_t i = k; i < k + n; i++)
		free(p->block[i]);
	memmove(p->block + k, p->block + k + n,
		(p->nr - k - n) * sizeof(struct profile_block *));
	p->nr -= n;
}

void profile_init(struct profile *p, usec_t from, int64_t free)
{
	struct profile_block *b;

	profile_clear(p);
	b = insert_block(p, 0);
	b->n = 1;
	b->at[0] = from;
	b->free[0] = b->min = b->max = free;
}

void profile_clear(struct profile *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free(p->block[i]);
	free(p->block);
	*p = (struct profile){ 0 };
}

/* The block that holds t: the last that begins at or before it. */
static size_t block_of(const struct profile *p, usec_t t)
{
	size_t lo = 0, hi = p->nr;

	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (p->block[mid]->at[0] <= t)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* The step of b that holds t, likewise. */
static uint32_t step_of(const struct profile_block *b, usec_t t)
{
	uint32_t lo = 0, hi = b->n;

	while (hi - lo > 1) {
		uint32_t mid = (lo + hi) / 2;

		if (b->at[mid] <= t)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Half of a full block moves into a new one behind it. */
static void split_block(struct profile *p, size_t k)
{
	struct profile_block *new = insert_block(p, k + 1);
	struct profile_block *b = p->block[k];

	new->n = b->n / 2;
	b->n -= new->n;
	new->add = b->add;
	memcpy(new->at, b->at + b->n, new->n * sizeof(b->at[0]));
	memcpy(new->free, b->free + b->n, new->n * sizeof(b->free[0]));
	find_bounds(b);
	find_bounds(new);
}

/* Let a step begin at t; returns its block, and where in it it is. */
static size_t cut(struct profile *p, usec_t t, uint32_t *ret_step)
{
	size_t k = block_of(p, t);
	struct profile_block *b = p->block[k];
	uint32_t i = step_of(b, t);

	if (b->at[i] != t && b->n == ROOM) {
		split_block(p, k);
		return cut(p, t, ret_step);
	}
	if (b->at[i] != t) {
		i++;
		memmove(b->at + i + 1, b->at + i, (b->n - i) * sizeof(*b->at));
		memmove(b->free + i + 1, b->free + i,
			(b->n - i) * sizeof(*b->free));
		b->at[i] = t;
		b->free[i] = b->free[i - 1];
		b->n++;
	}
	*ret_step = i;
	return k;
}

static int64_t value(const struct profile_block *b, uint32_t i)
{
	return b->free[i] + b->add;
}

static void delete_step(struct profile *p, size_t k, uint32_t i)
{
	struct profile_block *b = p->block[k];

	b->n--;
	if (!b->n) {
		remove_blocks(p, k, 1);
		return;
	}
	memmove(b->at + i, b->at + i + 1, (b->n - i) * sizeof(*b->at));
	memmove(b->free + i, b->free + i + 1, (b->n - i) * sizeof(*b->free));
	find_bounds(b);
}

/* Steps that are none any more go, so that there are never more than needed. */
static void drop_if_flat(struct profile *p, usec_t t)
{
	size_t k = block_of(p, t);
	uint32_t i = step_of(p->block[k], t);
	int64_t before;

	if (p->block[k]->at[i] != t || (!k && !i))
		return;
	before = i ? value(p->block[k], i - 1)
		   : value(p->block[k - 1], p->block[k - 1]->n - 1);
	if (value(p->block[k], i) == before)
		delete_step(p, k, i);
}

static void add_steps(struct profile_block *b, uint32_t from, uint32_t to,
		      int64_t delta)
{
	for (uint32_t i = from; i < to; i++)
		b->free[i] += delta;
	find_bounds(b);
}

void profile_add(struct profile *p, usec_t from, usec_t to, int64_t delta)
{
	size_t first, last;
	uint32_t i, end;

	if (from < p->block[0]->at[0])
		from = p->block[0]->at[0];
	if (to <= from || !delta)
		return;
	/* The later cut first: it may split, and so move, the other's block;
	 * and once more, for the earlier one may move it. */
	if (to != USEC_MAX)
		cut(p, to, &end);
	first = cut(p, from, &i);
	last = p->nr - 1;
	end = p->block[last]->n;
	if (to != USEC_MAX)
		last = cut(p, to, &end);
	if (first == last) {
		add_steps(p->block[first], i, end, delta);
	} else {
		add_steps(p->block[first], i, p->block[first]->n, delta);
		for (size_t k = first + 1; k < last; k++)
			p->block[k]->add += delta;
		add_steps(p->block[last], 0, end, delta);
	}
	if (to != USEC_MAX)
		drop_if_flat(p, to);
	drop_if_flat(p, from);
}

void profile_trim(struct profile *p, usec_t now)
{
	size_t k = block_of(p, now);
	struct profile_block *b;
	uint32_t i;

	if (k)
		remove_blocks(p, 0, k);
	b = p->block[0];
	i = step_of(b, now);
	if (i) {
		b->n -= i;
		memmove(b->at, b->at + i, b->n * sizeof(*b->at));
		memmove(b->free, b->free + i, b->n * sizeof(*b->free));
		find_bounds(b);
	}
	if (b->at[0] < now)
		b->at[0] = now;
}

usec_t profile_until(const struct profile *p, usec_t from, int64_t n)
{
	size_t k = block_of(p, from);
	uint32_t i = step_of(p->block[k], from);

	for (; k < p->nr; k++, i = 0) {
		const struct profile_block *b = p->block[k];

		if (b->min + b->add >= n)
			continue;
		for (; i < b->n; i++)
			if (value(b, i) < n)
				return b->at[i] > from ? b->at[i] : from;
	}
	return USEC_MAX;
}

/* The first t in [from, to) at which n are free; USEC_MAX if there is none. */
static usec_t first_free(const struct profile *p, usec_t from, usec_t to,
			 int64_t n)
{
	size_t k = block_of(p, from);
	uint32_t i = step_of(p->block[k], from);

	for (; k < p->nr && p->block[k]->at[0] < to; k++, i = 0) {
		const struct profile_block *b = p->block[k];

		if (b->max + b->add < n)
			continue;
		for (; i < b->n && b->at[i] < to; i++)
			if (value(b, i) >= n)
				return b->at[i] > from ? b->at[i] : from;
	}
	return USEC_MAX;
}

/* Where the run of n free that holds t began. */
static usec_t run_start(const struct profile *p, usec_t t, int64_t n)
{
	size_t k = block_of(p, t);
	uint32_t i = step_of(p->block[k], t) + 1;

	for (;;) {
		const struct profile_block *b = p->block[k];

		if (b->min + b->add >= n)
			i = 0;
		while (i > 0 && value(b, i - 1) >= n)
			i--;
		if (i > 0)
			return i < b->n ? b->at[i] : p->block[k + 1]->at[0];
		if (!k)
			return b->at[0];
		i = p->block[--k]->n;
	}
}

bool profile_run(const struct profile *p, usec_t from, usec_t to, int64_t n,
		 usec_t *ret_start, usec_t *ret_end)
{
	usec_t t = first_free(p, from, to, n);

	if (t == USEC_MAX)
		return false;
	*ret_start = t == from ? run_start(p, t, n) : t;
	*ret_end = profile_until(p, t, n);
	return true;
}

usec_t profile_earliest(const struct profile *p, usec_t from, usec_t length,
			int64_t n)
{
	usec_t end;

	for (;;) {
		from = first_free(p, from, USEC_MAX, n);
		if (from == USEC_MAX)
			return USEC_MAX;
		end = profile_until(p, from, n);
		if (end == USEC_MAX || end - from >= length)
			return from;
		from = end;
	}
}

static bool within(const struct profile *p, size_t k, usec_t to)
{
	return k < p->nr && p->block[k]->at[0] < to;
}

static int64_t bound(const struct profile *p, usec_t from, usec_t to, bool max)
{
	size_t k = block_of(p, from);
	uint32_t i = step_of(p->block[k], from);
	int64_t best = value(p->block[k], i);

	for (; within(p, k, to); k++, i = 0) {
		const struct profile_block *b = p->block[k];

		if (!i && k + 1 < p->nr && p->block[k + 1]->at[0] <= to) {
			int64_t v = (max ? b->max : b->min) + b->add;

			if (max ? v > best : v < best)
				best = v;
			continue;
		}
		for (; i < b->n && b->at[i] < to; i++) {
			int64_t v = value(b, i);

			if (max ? v > best : v < best)
				best = v;
		}
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
