/* profile.c - free processors over time, in blocks of steps, see profile.h */
#include "policy/kit/profile.h"

#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

#define ROOM 64

struct profile_steps {
	usec_t at[ROOM]; /* a step holds from here to the next one */
	int64_t free[ROOM];
};

static int64_t value(const struct profile_block *b, uint32_t i)
{
	return b->steps->free[i] + b->add;
}

static void find_bounds(struct profile_block *b)
{
	const int64_t *free = b->steps->free;
	int64_t min = free[0], max = free[0];

	for (uint32_t i = 1; i < b->n; i++) {
		min = free[i] < min ? free[i] : min;
		max = free[i] > max ? free[i] : max;
	}
	b->min = min + b->add;
	b->max = max + b->add;
}

/* Insert an empty block as block k. */
static struct profile_block *insert_block(struct profile *p, size_t k)
{
	array_room(p->block, p->nr, &p->cap);
	memmove(p->block + k + 1, p->block + k,
		(p->nr - k) * sizeof(*p->block));
	p->nr++;
	p->block[k] = (struct profile_block){
		.steps = xmalloc(sizeof(struct profile_steps)),
	};
	return &p->block[k];
}

static void remove_blocks(struct profile *p, size_t k, size_t n)
{
	for (size_t i = k; i < k + n; i++)
		free(p->block[i].steps);
	memmove(p->block + k, p->block + k + n,
		(p->nr - k - n) * sizeof(*p->block));
	p->nr -= n;
}

void profile_init(struct profile *p, usec_t from, int64_t free)
{
	uint64_t changes = p->changes;
	struct profile_block *b;

	profile_clear(p);
	p->changes = changes + 1;
	b = insert_block(p, 0);
	b->n = 1;
	b->start = b->steps->at[0] = from;
	b->steps->free[0] = b->min = b->max = free;
}

void profile_clear(struct profile *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free(p->block[i].steps);
	free(p->block);
	*p = (struct profile){ 0 };
}

/* The block that holds t: the last that begins at or before it. */
static size_t block_of(const struct profile *p, usec_t t)
{
	const struct profile_block *lo = p->block;

	for (size_t n = p->nr; n > 1; n -= n / 2)
		lo += lo[n / 2].start <= t ? n / 2 : 0;
	return (size_t)(lo - p->block);
}

/* The step of b that holds t, likewise. */
static uint32_t step_of(const struct profile_block *b, usec_t t)
{
	const usec_t *lo = b->steps->at;

	for (size_t n = b->n; n > 1; n -= n / 2)
		lo += lo[n / 2] <= t ? n / 2 : 0;
	return (uint32_t)(lo - b->steps->at);
}

/* A step: which block, and where in it. */
struct place {
	size_t k;
	uint32_t i;
};

static struct place place_of(const struct profile *p, usec_t t)
{
	size_t k = block_of(p, t);

	return (struct place){ k, step_of(&p->block[k], t) };
}

/* Half of a full block moves into a new one behind it. */
static void split_block(struct profile *p, size_t k)
{
	struct profile_block *new = insert_block(p, k + 1);
	struct profile_block *b = &p->block[k];
	struct profile_steps *s = b->steps;

	new->n = b->n / 2;
	b->n -= new->n;
	new->add = b->add;
	new->start = s->at[b->n];
	memcpy(new->steps->at, s->at + b->n, new->n * sizeof(*s->at));
	memcpy(new->steps->free, s->free + b->n, new->n * sizeof(*s->free));
	find_bounds(b);
	find_bounds(new);
}

/* Room for a step at i of b, or, by -1, none any more. */
static void shift_steps(struct profile_block *b, uint32_t i, int by)
{
	struct profile_steps *s = b->steps;
	uint32_t from = by < 0 ? i + 1 : i, to = by < 0 ? i : i + 1;

	memmove(s->at + to, s->at + from, (b->n - from) * sizeof(*s->at));
	memmove(s->free + to, s->free + from, (b->n - from) * sizeof(*s->free));
	b->n += (uint32_t)by;
}

/* Let a step begin at t, and return it. */
static struct place cut(struct profile *p, usec_t t)
{
	struct place at = place_of(p, t);
	struct profile_block *b = &p->block[at.k];

	if (b->steps->at[at.i] == t)
		return at;
	if (b->n == ROOM) {
		split_block(p, at.k);
		return cut(p, t);
	}
	at.i++;
	shift_steps(b, at.i, 1);
	b->steps->at[at.i] = t;
	b->steps->free[at.i] = b->steps->free[at.i - 1];
	return at;
}

static void delete_step(struct profile *p, size_t k, uint32_t i)
{
	struct profile_block *b = &p->block[k];

	if (b->n == 1) {
		remove_blocks(p, k, 1);
		return;
	}
	shift_steps(b, i, -1);
	if (i)
		return; /* the one before it has its value */
	b->start = b->steps->at[0];
	find_bounds(b);
}

/*
 * Remove a step whose value is that of the one before it, so that there are
 * never more than needed.
 */
static void drop_if_flat(struct profile *p, struct place at)
{
	int64_t before;

	if (!at.k && !at.i)
		return;
	before = at.i ? value(&p->block[at.k], at.i - 1)
		      : value(&p->block[at.k - 1], p->block[at.k - 1].n - 1);
	if (value(&p->block[at.k], at.i) == before)
		delete_step(p, at.k, at.i);
}

static void add_steps(struct profile_block *b, uint32_t from, uint32_t to,
		      int64_t delta)
{
	int64_t *free = b->steps->free;

	if (from == 0 && to == b->n) {
		b->add += delta;
		b->min += delta;
		b->max += delta;
		return;
	}
	for (uint32_t i = from; i < to; i++)
		free[i] += delta;
	find_bounds(b);
}

/* Add delta from step from on until before step to. */
static void add_between(struct profile *p, struct place from, struct place to,
			int64_t delta)
{
	struct profile_block *b = p->block;

	if (from.k == to.k) {
		add_steps(&b[from.k], from.i, to.i, delta);
		return;
	}
	add_steps(&b[from.k], from.i, b[from.k].n, delta);
	for (size_t k = from.k + 1; k < to.k; k++)
		add_steps(&b[k], 0, b[k].n, delta);
	if (to.i)
		add_steps(&b[to.k], 0, to.i, delta);
}

void profile_add(struct profile *p, usec_t from, usec_t to, int64_t delta)
{
	struct place first, end;
	size_t nr;

	if (from < p->block[0].start)
		from = p->block[0].start;
	if (to <= from || !delta)
		return;
	p->changes++;
	first = cut(p, from);
	if (to == USEC_MAX) {
		end = (struct place){ p->nr - 1, p->block[p->nr - 1].n };
		add_between(p, first, end, delta);
	} else {
		nr = p->nr;
		end = cut(p, to);
		if (p->nr != nr) /* a split may have moved it */
			first = place_of(p, from);
		add_between(p, first, end, delta);
		drop_if_flat(p, end);
	}
	drop_if_flat(p, first);
}

void profile_trim(struct profile *p, usec_t now)
{
	size_t k = block_of(p, now);
	struct profile_block *b;
	uint32_t i;

	p->changes++;
	if (k)
		remove_blocks(p, 0, k);
	b = &p->block[0];
	i = step_of(b, now);
	if (i) {
		struct profile_steps *s = b->steps;

		b->n -= i;
		memmove(s->at, s->at + i, b->n * sizeof(*s->at));
		memmove(s->free, s->free + i, b->n * sizeof(*s->free));
		find_bounds(b);
	}
	if (b->steps->at[0] < now)
		b->steps->at[0] = now;
	b->start = b->steps->at[0];
}

static usec_t later(usec_t a, usec_t b)
{
	return a > b ? a : b;
}

/* The first t in [from, to) at which n are not free; USEC_MAX if there is
 * none.  from lies in step *at, and t does afterwards. */
static usec_t first_short(const struct profile *p, struct place *at,
			  usec_t from, usec_t to, int64_t n)
{
	uint32_t i = at->i;

	for (size_t k = at->k; k < p->nr && p->block[k].start < to;
	     k++, i = 0) {
		const struct profile_block *b = &p->block[k];

		if (b->min >= n)
			continue;
		for (; i < b->n && b->steps->at[i] < to; i++)
			if (value(b, i) < n) {
				*at = (struct place){ k, i };
				return later(b->steps->at[i], from);
			}
	}
	return USEC_MAX;
}

usec_t profile_until(const struct profile *p, usec_t from, int64_t n)
{
	struct place at = place_of(p, from);

	return first_short(p, &at, from, USEC_MAX, n);
}

/* The first t in [from, to) at which n are free; USEC_MAX if there is none.
 * from lies in step *at, and t does afterwards. */
static usec_t first_free(const struct profile *p, struct place *at, usec_t from,
			 usec_t to, int64_t n)
{
	uint32_t i = at->i;

	for (size_t k = at->k; k < p->nr && p->block[k].start < to;
	     k++, i = 0) {
		const struct profile_block *b = &p->block[k];

		if (b->max < n)
			continue;
		for (; i < b->n && b->steps->at[i] < to; i++)
			if (value(b, i) >= n) {
				*at = (struct place){ k, i };
				return later(b->steps->at[i], from);
			}
	}
	return USEC_MAX;
}

/* Where the run of n free that holds step at began. */
static usec_t run_start(const struct profile *p, struct place at, int64_t n)
{
	size_t k = at.k;
	uint32_t i = at.i + 1;

	for (;;) {
		const struct profile_block *b = &p->block[k];

		if (b->min >= n)
			i = 0;
		while (i > 0 && value(b, i - 1) >= n)
			i--;
		if (i > 0)
			return i < b->n ? b->steps->at[i] : b[1].start;
		if (!k)
			return b->start;
		i = p->block[--k].n;
	}
}

static usec_t after(usec_t t, usec_t length)
{
	return length > USEC_MAX - t ? USEC_MAX : t + length;
}

void profile_find(const struct profile *p, usec_t time,
		  struct profile_spot *spot)
{
	struct place at;

	if (spot->changes == p->changes && spot->time == time)
		return;
	at = place_of(p, time);
	*spot = (struct profile_spot){ p->changes, time, at.k, at.i };
}

bool profile_run(const struct profile *p, usec_t from, usec_t to, int64_t n,
		 usec_t length, struct profile_spot *spot, usec_t *ret_start,
		 usec_t *ret_end)
{
	struct place at;
	usec_t t;

	profile_find(p, from, spot);
	at = (struct place){ spot->block, spot->step };
	t = first_free(p, &at, from, to, n);
	if (t == USEC_MAX)
		return false;
	*ret_start = t == from ? run_start(p, at, n) : t;
	*ret_end = first_short(p, &at, t, after(t, length), n);
	return true;
}

usec_t profile_longest(const struct profile *p, usec_t from, usec_t to,
		       int64_t n)
{
	struct place at = place_of(p, from);
	usec_t longest = 0, start, t, end = from;

	while ((t = first_free(p, &at, end, to, n)) != USEC_MAX) {
		start = t == from ? run_start(p, at, n) : t;
		end = first_short(p, &at, t, USEC_MAX, n);
		if (end == USEC_MAX)
			return USEC_MAX;
		if (end - start > longest)
			longest = end - start;
	}
	return longest;
}

usec_t profile_since(const struct profile *p, usec_t to, int64_t n)
{
	struct place at = place_of(p, to - 1);

	return value(&p->block[at.k], at.i) < n ? to : run_start(p, at, n);
}

usec_t profile_earliest(const struct profile *p, usec_t from, usec_t length,
			int64_t n)
{
	struct place at = place_of(p, from);

	for (;;) {
		usec_t end;

		from = first_free(p, &at, from, USEC_MAX, n);
		if (from == USEC_MAX)
			return USEC_MAX;
		end = first_short(p, &at, from, after(from, length), n);
		if (end == USEC_MAX)
			return from;
		from = end;
	}
}

static bool within(const struct profile *p, size_t k, usec_t to)
{
	return k < p->nr && p->block[k].start < to;
}

static int64_t bound(const struct profile *p, usec_t from, usec_t to, bool max)
{
	size_t k = block_of(p, from);
	uint32_t i = step_of(&p->block[k], from);
	int64_t best = value(&p->block[k], i);

	for (; within(p, k, to); k++, i = 0) {
		const struct profile_block *b = &p->block[k];

		if (!i && k + 1 < p->nr && p->block[k + 1].start <= to) {
			int64_t v = max ? b->max : b->min;

			if (max ? v > best : v < best)
				best = v;
			continue;
		}
		for (; i < b->n && b->steps->at[i] < to; i++) {
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
