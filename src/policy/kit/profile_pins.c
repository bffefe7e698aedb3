/*
 * profile_pins.c - who has to know where in a profile processors come free, see profile.h
 */
#include "core/xalloc.h"
#include "policy/kit/profile_priv.h"

static usec_t no_earlier(const struct profile *p, usec_t at)
{
	return at < p->block[0].start ? p->block[0].start : at;
}

static uint32_t new_pin(struct profile *p)
{
	uint32_t i = p->unused;

	if (i) {
		p->unused = p->pin[i - 1].next;
		return i;
	}
	array_room(p->pin, p->nr_pins, &p->cap_pins);
	return ++p->nr_pins;
}

static void forget(struct profile *p, uint32_t i)
{
	p->pin[i - 1].next = p->unused;
	p->unused = i;
}

void profile_pin(struct profile *p, usec_t at, uint32_t what, uint32_t size)
{
	struct profile_place to =
		profile_cut(p, no_earlier(p, at), &p->near[0]);
	struct profile_pinned *there = &p->block[to.block].pin[to.step];
	uint32_t i = new_pin(p);

	p->changes++;
	p->pin[i - 1] = (struct profile_pin){
		.at = at, .what = what, .size = size, .next = there->first
	};
	there->first = i;
	if (size < there->least)
		there->least = size;
}

void profile_unpin(struct profile *p, usec_t at, uint32_t what)
{
	struct profile_place from =
		profile_place_near(p, p->near[2], no_earlier(p, at));
	struct profile_pinned *there = &p->block[from.block].pin[from.step];
	uint32_t i, *link = &there->first;

	p->near[2] = from;
	while (*link && p->pin[*link - 1].what != what)
		link = &p->pin[*link - 1].next;
	i = *link;
	if (!i)
		return;
	p->changes++;
	*link = p->pin[i - 1].next;
	if (!there->first)
		there->least = UINT32_MAX;
	if (p->pin[i - 1].marked)
		p->pin[i - 1].gone = true;
	else
		forget(p, i);
	profile_drop_if_flat(p, from);
}

/* Of those of the step behind `at` mark the ones for which there was no room before. */
static inline void mark_step(struct profile *p, uint32_t i,
			     struct profile_place at, int64_t free, int64_t n,
			     uint32_t *marks)
{
	for (; i; i = p->pin[i - 1].next) {
		struct profile_pin *pin = &p->pin[i - 1];
		uint64_t spare = (uint64_t)(free - pin->size);

		if (spare >= (uint64_t)n || pin->marked) /* below 0 is a lot */
			continue;
		pin->marked = true;
		pin->block = (uint32_t)at.block;
		pin->step = (uint8_t)at.step;
		pin->link = marks[pin->what];
		marks[pin->what] = i;
	}
}

void profile_mark_pins(struct profile *p, struct profile_freed *freed,
		       uint32_t *marks)
{
	struct profile_place at =
		profile_place_near(p, p->near[1], freed->from);
	int64_t free = profile_value(&p->block[at.block], at.step);
	int64_t least = free, most = free;
	uint32_t i = at.step + 1;
	usec_t to = freed->to;

	freed->first = at;
	for (size_t k = at.block; k < p->nr; k++, i = 0) {
		const struct profile_block *b = &p->block[k];

		for (; i < b->n && b->step[i].at <= to; i++) {
			if (free >= b->pin[i].least)
				mark_step(p, b->pin[i].first, at, free,
					  freed->n, marks);
			at = (struct profile_place){ k, i };
			if (b->step[i].at == to)
				break;
			free = profile_value(b, i);
			least = free < least ? free : least;
			most = free > most ? free : most;
		}
		if (i < b->n)
			break;
	}
	freed->last = at;
	freed->least = least;
	freed->most = most;
}

/* Is there still room right before the pin?  *near is where. */
static bool has_room(const struct profile *p, const struct profile_pin *pin,
		     struct profile_place *near)
{
	*near = profile_place_near(
		p, (struct profile_place){ pin->block, pin->step },
		pin->at - 1);
	return profile_value(&p->block[near->block], near->step) >= pin->size;
}

bool profile_next_mark(struct profile *p, uint32_t *first, usec_t *ret_at,
		       struct profile_place *ret_near)
{
	while (*first) {
		uint32_t i = *first;
		struct profile_pin *pin = &p->pin[i - 1];

		*first = pin->link;
		pin->marked = false;
		if (pin->gone) {
			forget(p, i);
		} else if (has_room(p, pin, ret_near)) {
			*ret_at = pin->at;
			return true;
		}
	}
	return false;
}
