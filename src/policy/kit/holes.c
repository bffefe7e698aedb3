/* holes.c - bounds of the holes in a profile, see holes.h */
#include "policy/kit/holes.h"

#include <string.h>

static usec_t later(usec_t a, usec_t b)
{
	return a > b ? a : b;
}

static void take_out(struct holes_class *c, uint32_t from, uint32_t to)
{
	memmove(c->place + from, c->place + to,
		(c->nr - to) * sizeof(*c->place));
	c->nr -= to - from;
}

static void note_longest(struct holes_class *c)
{
	c->longest = c->nr ? c->place[c->nr - 1].longest : 0;
}

/* Insert new before place i, or instead of those from i up to `to` that it covers. */
static void put(struct holes_class *c, uint32_t i, uint32_t to,
		struct hole_place new)
{
	for (uint32_t n = i; n < to; n++)
		new.end = later(new.end, c->place[n].end);
	if (to > i) {
		take_out(c, i + 1, to);
	} else if (c->nr < HOLES_OF_CLASS) {
		memmove(c->place + i + 1, c->place + i,
			(c->nr++ - i) * sizeof(*c->place));
	} else if (i < c->nr) { /* the next one begins as early */
		new.end = later(new.end, c->place[i].end);
		new.longest = c->place[i].longest;
	} else { /* the last one is as long */
		new.end = later(new.end, c->place[--i].end);
		new.start = c->place[i].start;
	}
	c->place[i] = new;
}

void holes_add(struct holes *h, uint32_t class, struct hole_place new)
{
	struct holes_class *c = &h->class[class];
	uint32_t i = 0, to;

	c->vain.before = 0;
	while (i < c->nr && c->place[i].start <= new.start)
		i++;
	if (i && c->place[i - 1].longest >= new.longest) {
		i--;
		c->place[i].end = later(c->place[i].end, new.end);
		return;
	}
	i -= i && c->place[i - 1].start == new.start;
	for (to = i; to < c->nr && c->place[to].longest <= new.longest; to++)
		;
	put(c, i, to, new);
	note_longest(c);
}

void holes_join(struct holes *a, const struct holes *b)
{
	for (uint32_t class = 0; class < PROFILE_CLASSES; class ++)
		for (uint32_t i = 0; i < b->class[class].nr; i++)
			holes_add(a, class, b->class[class].place[i]);
}

void holes_in_vain(struct holes *h, uint32_t class, uint32_t size,
		   usec_t longest, usec_t from, usec_t before)
{
	struct holes_class *c = &h->class[class];

	for (uint32_t i = 0; i < c->nr && c->place[i].start < from; i++)
		longest = later(longest, c->place[i].longest);
	c->vain = (struct hole_vain){ size, longest, before };
}

usec_t holes_find(const struct holes *h, uint32_t class, uint32_t size,
		  usec_t length, usec_t before)
{
	const struct holes_class *c = &h->class[class];

	if (before <= c->vain.before && length > c->vain.longest &&
	    size >= c->vain.size)
		return USEC_MAX;
	for (uint32_t i = 0; i < c->nr && c->place[i].start < before; i++)
		if (c->place[i].longest >= length)
			return c->place[i].start;
	return USEC_MAX;
}

void holes_exclude(struct holes *h, uint32_t class, usec_t longest, usec_t from,
		   usec_t before)
{
	struct holes_class was = h->class[class];

	h->class[class].nr = 0;
	for (uint32_t i = 0; i < was.nr; i++) {
		struct hole_place place = was.place[i];

		if (place.start >= from && place.start < before &&
		    place.longest > longest) {
			if (place.end > before)
				holes_add(h, class,
					  (struct hole_place){ before,
							       place.end,
							       place.longest });
			place.longest = longest;
		}
		if (place.longest)
			holes_add(h, class, place);
	}
	note_longest(&h->class[class]);
}

void holes_trim(struct holes *h, usec_t now)
{
	for (uint32_t class = 0; class < PROFILE_CLASSES; class ++) {
		struct holes_class was = h->class[class];

		h->class[class].nr = 0;
		for (uint32_t i = 0; i < was.nr; i++) {
			struct hole_place place = was.place[i];

			if (place.end <= now)
				continue;
			place.start = later(place.start, now);
			if (place.longest > place.end - place.start)
				place.longest = place.end - place.start;
			holes_add(h, class, place);
		}
		note_longest(&h->class[class]);
	}
}
