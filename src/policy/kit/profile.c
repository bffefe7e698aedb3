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

static struct profile_place place_of(const struct profile *p, usec_t t)
{
	size_t k = block_of(p, t);

	return (struct profile_place){ k, step_of(&p->block[k], t) };
}

/* step_of(), if it is likely to be near step i. */
static uint32_t step_near(const struct profile_block *b, uint32_t i, usec_t t)
{
	const usec_t *at = b->steps->at;

	for (int tries = 0; i < b->n && tries < 4; tries++) {
		if (at[i] <= t && (i + 1 == b->n || t < at[i + 1]))
			return i;
		i += at[i] <= t ? 1 : -1;
	}
	return step_of(b, t);
}

/* place_of(), if it is likely to be near that place, which need not exist any more. */
static struct profile_place place_near(const struct profile *p,
				       struct profile_place near, usec_t t)
{
	const struct profile_block *b = &p->block[near.block];

	if (near.block >= p->nr || b->start > t ||
	    (near.block + 1 < p->nr && b[1].start <= t))
		return place_of(p, t);
	near.step = step_near(b, near.step, t);
	return near;
}

/* Move half of a full block into a new one behind it. */
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

/* Make room for a step at i of b (by 1), or take it away (by -1). */
static void shift_steps(struct profile_block *b, uint32_t i, int by)
{
	struct profile_steps *s = b->steps;
	uint32_t from = by < 0 ? i + 1 : i, to = by < 0 ? i : i + 1;

	memmove(s->at + to, s->at + from, (b->n - from) * sizeof(*s->at));
	memmove(s->free + to, s->free + from, (b->n - from) * sizeof(*s->free));
	b->n += (uint32_t)by;
}

/* Have a step begin at t, and return it. */
static struct profile_place cut(struct profile *p, usec_t t,
				struct profile_place *near)
{
	struct profile_place at = place_near(p, *near, t);
	struct profile_block *b = &p->block[at.block];

	*near = at;
	if (b->steps->at[at.step] == t)
		return at;
	if (b->n == ROOM) {
		split_block(p, at.block);
		return cut(p, t, near);
	}
	at.step++;
	shift_steps(b, at.step, 1);
	b->steps->at[at.step] = t;
	b->steps->free[at.step] = b->steps->free[at.step - 1];
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
 * Remove a step with the same value as the one before it, so that there are never more
 * than needed.
 */
static void drop_if_flat(struct profile *p, struct profile_place at)
{
	int64_t before;

	if (!at.block && !at.step)
		return;
	before = at.step ? value(&p->block[at.block], at.step - 1)
			 : value(&p->block[at.block - 1],
				 p->block[at.block - 1].n - 1);
	if (value(&p->block[at.block], at.step) == before)
		delete_step(p, at.block, at.step);
}

static void add_steps(struct profile_block *b, uint32_t from, uint32_t to,
		      int64_t delta)
{
	int64_t *free = b->steps->free;
	bool anew = false;

	if (from == 0 && to == b->n) {
		b->add += delta;
		b->min += delta;
		b->max += delta;
		return;
	}
	for (uint32_t i = from; i < to; i++) {
		int64_t was = value(b, i);

		if (delta > 0 ? was == b->min : was == b->max)
			anew = true;
		free[i] += delta;
		b->min = was + delta < b->min ? was + delta : b->min;
		b->max = was + delta > b->max ? was + delta : b->max;
	}
	if (anew) /* the least or the greatest may be another one now */
		find_bounds(b);
}

/* Add delta to the steps from `from` up to but without `to`. */
static void add_between(struct profile *p, struct profile_place from,
			struct profile_place to, int64_t delta)
{
	struct profile_block *b = p->block;

	if (from.block == to.block) {
		add_steps(&b[from.block], from.step, to.step, delta);
		return;
	}
	add_steps(&b[from.block], from.step, b[from.block].n, delta);
	for (size_t k = from.block + 1; k < to.block; k++)
		add_steps(&b[k], 0, b[k].n, delta);
	if (to.step)
		add_steps(&b[to.block], 0, to.step, delta);
}

void profile_add(struct profile *p, usec_t from, usec_t to, int64_t delta)
{
	struct profile_place first, end, *near = &p->near[delta > 0];
	size_t nr;

	if (from < p->block[0].start)
		from = p->block[0].start;
	if (to <= from || !delta)
		return;
	p->changes++;
	first = cut(p, from, near);
	if (to == USEC_MAX) {
		end = (struct profile_place){ p->nr - 1,
					      p->block[p->nr - 1].n };
		add_between(p, first, end, delta);
	} else {
		nr = p->nr;
		end = cut(p, to, near);
		if (p->nr != nr) /* a split may have moved the first step */
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
static usec_t first_short(const struct profile *p, struct profile_place *at,
			  usec_t from, usec_t to, int64_t n)
{
	uint32_t i = at->step;

	for (size_t k = at->block; k < p->nr && p->block[k].start < to;
	     k++, i = 0) {
		const struct profile_block *b = &p->block[k];

		if (b->min >= n)
			continue;
		for (; i < b->n && b->steps->at[i] < to; i++)
			if (value(b, i) < n) {
				*at = (struct profile_place){ k, i };
				return later(b->steps->at[i], from);
			}
	}
	return USEC_MAX;
}

usec_t profile_until(const struct profile *p, usec_t from, int64_t n)
{
	struct profile_place at = place_of(p, from);

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
		for (; i < b->n && b->steps->at[i] < to; i++)
			if (value(b, i) >= n) {
				*at = (struct profile_place){ k, i };
				return later(b->steps->at[i], from);
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
		while (i > 0 && value(b, i - 1) >= n)
			i--;
		if (i > 0)
			return i < b->n ? b->steps->at[i] : b[1].start;
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
	at = place_near(p, spot->place, time);
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
	struct profile_place at = place_near(p, *near, to - 1);

	*near = at;
	return value(&p->block[at.block], at.step) < n ? to
						       : run_start(p, at, n);
}

usec_t profile_earliest(const struct profile *p, usec_t from, usec_t length,
			int64_t n)
{
	struct profile_place at = place_of(p, from);

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
	size_t k = block_of(p, from);
	uint32_t i = step_of(&p->block[k], from);
	int64_t best = value(&p->block[k], i);

	for (; k < p->nr && p->block[k].start < to; k++, i = 0) {
		const struct profile_block *b = &p->block[k];

		if (!i && k + 1 < p->nr && b[1].start <= to)
			best = better(best, max ? b->max : b->min, max);
		else
			for (; i < b->n && b->steps->at[i] < to; i++)
				best = better(best, value(b, i), max);
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
