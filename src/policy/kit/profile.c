/* profile.c - free processors over time, in blocks of steps, see profile.h */
#include "policy/kit/profile_priv.h"

#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"

static void find_bounds(struct profile_block *b)
{
	const struct profile_step *s = b->step;
	int64_t min = s[0].free, max = s[0].free;

	for (uint32_t i = 1; i < b->n; i++) {
		min = s[i].free < min ? s[i].free : min;
		max = s[i].free > max ? s[i].free : max;
	}
	b->min = min + b->add;
	b->max = max + b->add;
}

/* Insert an empty block as block k. */
static struct profile_block *insert_block(struct profile *p, size_t k)
{
	struct profile_step *step;

	array_room(p->block, p->nr, &p->cap);
	memmove(p->block + k + 1, p->block + k,
		(p->nr - k) * sizeof(*p->block));
	p->nr++;
	step = xmalloc(PROFILE_ROOM *
		       (sizeof(*step) + sizeof(struct profile_pinned)));
	p->block[k] = (struct profile_block){
		.step = step,
		.pin = (struct profile_pinned *)(step + PROFILE_ROOM),
	};
	return &p->block[k];
}

static void remove_blocks(struct profile *p, size_t k, size_t n)
{
	for (size_t i = k; i < k + n; i++)
		free(p->block[i].step);
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
	b->start = b->step[0].at = from;
	b->step[0].free = b->min = b->max = free;
	b->pin[0] = PROFILE_UNPINNED;
}

void profile_clear(struct profile *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free(p->block[i].step);
	free(p->block);
	free(p->pin);
	*p = (struct profile){ 0 };
}

/* Move half of a full block into a new one behind it. */
static void split_block(struct profile *p, size_t k)
{
	struct profile_block *new = insert_block(p, k + 1);
	struct profile_block *b = &p->block[k];
	struct profile_step *s = b->step;

	new->n = b->n / 2;
	b->n -= new->n;
	new->add = b->add;
	new->start = s[b->n].at;
	memcpy(new->step, s + b->n, new->n * sizeof(*s));
	memcpy(new->pin, b->pin + b->n, new->n * sizeof(*b->pin));
	find_bounds(b);
	find_bounds(new);
}

/* Make room for a step at i of b (by 1), or take it away (by -1). */
static void shift_steps(struct profile_block *b, uint32_t i, int by)
{
	struct profile_step *s = b->step;
	uint32_t from = by < 0 ? i + 1 : i, to = by < 0 ? i : i + 1;

	memmove(s + to, s + from, (b->n - from) * sizeof(*s));
	memmove(b->pin + to, b->pin + from, (b->n - from) * sizeof(*b->pin));
	b->n += (uint32_t)by;
}

/* Have a step begin at t, which lies in that one, and return it. */
static struct profile_place cut_step(struct profile *p, usec_t t,
				     struct profile_place at)
{
	struct profile_block *b = &p->block[at.block];

	if (b->step[at.step].at == t)
		return at;
	if (b->n == PROFILE_ROOM) {
		split_block(p, at.block);
		return cut_step(p, t, profile_place_of(p, t));
	}
	at.step++;
	shift_steps(b, at.step, 1);
	b->step[at.step].at = t;
	b->step[at.step].free = b->step[at.step - 1].free;
	b->pin[at.step] = PROFILE_UNPINNED;
	return at;
}

struct profile_place profile_cut(struct profile *p, usec_t t,
				 struct profile_place *near)
{
	*near = profile_place_near(p, *near, t);
	return cut_step(p, t, *near);
}

/* Put the steps of the block behind block k into that one. */
static void join_blocks(struct profile *p, size_t k)
{
	struct profile_block *b = &p->block[k], *old = b + 1;

	for (uint32_t i = 0; i < old->n; i++, b->n++) {
		b->step[b->n].at = old->step[i].at;
		b->step[b->n].free = profile_value(old, i) - b->add;
		b->pin[b->n] = old->pin[i];
	}
	b->min = old->min < b->min ? old->min : b->min;
	b->max = old->max > b->max ? old->max : b->max;
	remove_blocks(p, k + 1, 1);
}

static void delete_step(struct profile *p, size_t k, uint32_t i)
{
	struct profile_block *b = &p->block[k];

	if (b->n == 1) {
		remove_blocks(p, k, 1);
		return;
	}
	shift_steps(b, i, -1);
	if (!i) { /* else the one before it has its value */
		b->start = b->step[0].at;
		find_bounds(b);
	}
	if (k + 1 < p->nr && b->n + b[1].n <= PROFILE_ROOM / 2)
		join_blocks(p, k);
}

void profile_drop_if_flat(struct profile *p, struct profile_place at)
{
	int64_t before;

	if ((!at.block && !at.step) || p->block[at.block].pin[at.step].first)
		return;
	before = at.step ? profile_value(&p->block[at.block], at.step - 1)
			 : profile_value(&p->block[at.block - 1],
					 p->block[at.block - 1].n - 1);
	if (profile_value(&p->block[at.block], at.step) == before)
		delete_step(p, at.block, at.step);
}

static void add_steps(struct profile_block *b, uint32_t from, uint32_t to,
		      int64_t delta)
{
	struct profile_step *s = b->step;
	bool anew = false;

	if (from == 0 && to == b->n) {
		b->add += delta;
		b->min += delta;
		b->max += delta;
		return;
	}
	for (uint32_t i = from; i < to; i++) {
		int64_t was = profile_value(b, i);

		if (delta > 0 ? was == b->min : was == b->max)
			anew = true;
		s[i].free += delta;
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

/* When the step ends; USEC_MAX: never. */
static usec_t step_end(const struct profile *p, struct profile_place at)
{
	const struct profile_block *b = &p->block[at.block];

	if (at.step + 1 < b->n)
		return b->step[at.step + 1].at;
	return at.block + 1 < p->nr ? b[1].start : USEC_MAX;
}

/*
 * If adding delta in [from, to), where from lies in that step, only moves the beginning of
 * one step of a block, do so:
 *
 *	         ____              _______
 *	________|            _____|
 *	     from to              from		and back, if delta is below 0
 */
static bool move_step(struct profile *p, struct profile_place at, usec_t from,
		      usec_t to, int64_t delta)
{
	const struct profile_block *b = &p->block[at.block];
	struct profile_step *s = b->step;
	int64_t free = s[at.step].free + delta;
	uint32_t i = at.step;

	if (from == s[i].at) {
		if (!i || b->pin[i].first || s[i - 1].free != free ||
		    to >= step_end(p, at))
			return false;
		s[i].at = to;
		return true;
	}
	if (i + 1 == b->n || b->pin[i + 1].first || s[i + 1].at != to ||
	    s[i + 1].free != free)
		return false;
	s[i + 1].at = from;
	return true;
}

/* The place of t, which is behind that place, and in the same block most often. */
static struct profile_place walk_to(const struct profile *p,
				    struct profile_place at, usec_t t)
{
	const struct profile_block *b = &p->block[at.block];

	if (at.block + 1 < p->nr && b[1].start <= t)
		return profile_place_near(p, p->near[2], t);
	while (at.step + 1 < b->n && b->step[at.step + 1].at <= t)
		at.step++;
	return at;
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
	*near = first = profile_place_near(p, *near, from);
	if (move_step(p, first, from, to, delta))
		return;
	first = cut_step(p, from, first);
	if (to == USEC_MAX) {
		end = (struct profile_place){ p->nr - 1,
					      p->block[p->nr - 1].n };
		add_between(p, first, end, delta);
	} else {
		nr = p->nr;
		end = cut_step(p, to, walk_to(p, first, to));
		if (p->nr != nr) /* a split may have moved the first step */
			first = profile_place_of(p, from);
		add_between(p, first, end, delta);
		profile_drop_if_flat(p, end);
	}
	*near = first;
	profile_drop_if_flat(p, first);
}

/* Pin what is pinned to another step to that one as well. */
static void join_pins(struct profile *p, struct profile_pinned *to,
		      const struct profile_pinned *more)
{
	uint32_t *list = &to->first;

	if (!more->first)
		return;
	while (*list)
		list = &p->pin[*list - 1].next;
	*list = more->first;
	if (more->least < to->least)
		to->least = more->least;
}

void profile_trim(struct profile *p, usec_t now)
{
	size_t k = profile_block_of(p, now);
	struct profile_block *b;
	uint32_t i;

	p->changes++;
	i = profile_step_of(&p->block[k], now);
	for (size_t n = 0; n <= k; n++)
		for (uint32_t m = 0; m < (n < k ? p->block[n].n : i); m++)
			join_pins(p, &p->block[k].pin[i], &p->block[n].pin[m]);
	if (k)
		remove_blocks(p, 0, k);
	b = &p->block[0];
	if (i) {
		b->n -= i;
		memmove(b->step, b->step + i, b->n * sizeof(*b->step));
		memmove(b->pin, b->pin + i, b->n * sizeof(*b->pin));
		find_bounds(b);
	}
	if (b->step[0].at < now)
		b->step[0].at = now;
	b->start = b->step[0].at;
}
