/*
 * holes.h - bounds of the holes in a profile that some jobs have not looked into yet
 *
 * A hole is a run of at least so many free processors.  For each class of numbers of
 * processors some places are remembered, and how long the holes in each are at most:
 *
 *	start	 10   40   90
 *	end	 50   48  110
 *	longest	  3    8   20
 *
 * That tells whether any may have room for a job before some time.  A hole that begins
 * after another one and is no longer is put to that one's place; and where there are too
 * many, two become one.  Taking processors only makes holes smaller.
 */
#ifndef POLICY_KIT_HOLES_H
#define POLICY_KIT_HOLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/units.h"
#include "policy/kit/profile.h"

#define HOLES_OF_CLASS 6

struct hole_place {
	usec_t start, end, longest; /* USEC_MAX: without end */
};

/* Nobody of that size or a greater one finds a longer hole that begins before that time. */
struct hole_vain {
	uint32_t size;
	usec_t longest, before; /* before 0: not known */
};

struct holes_class {
	usec_t longest;
	uint32_t nr;
	struct hole_vain vain;
	struct hole_place place[HOLES_OF_CLASS]; /* start and longest ascend */
};

/* A zero-filled one is empty. */
struct holes {
	struct holes_class class[PROFILE_CLASSES];
};

void holes_add(struct holes *h, uint32_t class, struct hole_place new);

/* Add all of b to a. */
void holes_join(struct holes *a, const struct holes *b);

/*
 * Where the first one begins that may have room for a job of that size, which is of the class,
 * and length before `before`; USEC_MAX: there is none.
 */
usec_t holes_find(const struct holes *h, uint32_t class, uint32_t size,
		  usec_t length, usec_t before);

/* The same as a question; this one most often ends at once. */
static inline bool holes_may_hold(const struct holes *h, uint32_t class,
				  uint32_t size, usec_t length, usec_t before)
{
	return h->class[class].longest >= length &&
	       holes_find(h, class, size, length, before) != USEC_MAX;
}

/*
 * It turned out that no hole which begins in [from, before) is longer; the first one is of the
 * class, the second one of those of at least that size, until the next one comes.
 */
void holes_exclude(struct holes *h, uint32_t class, usec_t longest, usec_t from,
		   usec_t before);
void holes_in_vain(struct holes *h, uint32_t class, uint32_t size,
		   usec_t longest, usec_t from, usec_t before);

/* What was before now has gone. */
void holes_trim(struct holes *h, usec_t now);

#endif
