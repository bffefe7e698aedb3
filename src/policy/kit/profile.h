/*
 * profile.h - how many processors are free, from now on to the end of time
 *
 * A step function of time, as planning with reservations needs it:
 *
 *	free
 *	 8 |            _________
 *	 4 |_____      |         |________ ...
 *	 0 |     |_____|
 *	   now  t1    t2        t3
 *
 * The steps lie in blocks of up to 64 that know their least and greatest
 * value, so that a search passes over a block in which nothing fits, or
 * everything does, at a glance, and a change of a long stretch touches each
 * block once: with k steps both cost O(k / 64 + 64).
 */
#ifndef POLICY_KIT_PROFILE_H
#define POLICY_KIT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/units.h"

struct profile_steps;

/* What a search needs to know of a block before it looks into it. */
struct profile_block {
	usec_t start;	  /* of its first step */
	int64_t min, max; /* of its values */
	int64_t add;	  /* to what its steps say */
	uint32_t n;	  /* steps, at least 1 */
	struct profile_steps *steps;
};

/* A step: which block, and where in it. */
struct profile_place {
	size_t block;
	uint32_t step;
};

struct profile {
	struct profile_block *block; /* in order of time; at least one */
	size_t nr, cap;
	/* Where the last change was that took some, and that gave some, or nearly so. */
	struct profile_place near[2];
	uint64_t changes; /* so far */
};

/* Where a time is in the profile, for as long as that does not change; zero-filled:
 * nowhere yet. */
struct profile_spot {
	uint64_t changes;
	usec_t time;
	struct profile_place place;
};

/* Make it that of `time`, if it is not. */
void profile_find(const struct profile *p, usec_t time,
		  struct profile_spot *spot);

/* free processors from time from on; what was before is no one's concern. */
void profile_init(struct profile *p, usec_t from, int64_t free);
void profile_clear(struct profile *p); /* frees; zero-filled is cleared too */

/* Add delta in [from, to).  Nothing happens where to <= from. */
void profile_add(struct profile *p, usec_t from, usec_t to, int64_t delta);

/* Forget what is before now. */
void profile_trim(struct profile *p, usec_t now);

/* The earliest t >= from such that n are free in all of [t, t + length);
 * USEC_MAX if there is none. */
usec_t profile_earliest(const struct profile *p, usec_t from, usec_t length,
			int64_t n);

/*
 * The first run of at least n free processors that has a part in [from, to):
 * all of it, [*ret_start, *ret_end), though it may begin before from or end
 * after to.  Its end is looked for only up to length after where in [from, to)
 * it was found, and USEC_MAX if it goes on there.  False if there is none.  spot is
 * that of from, or of another time; then that of the end, if it was found.
 */
bool profile_run(const struct profile *p, usec_t from, usec_t to, int64_t n,
		 usec_t length, struct profile_spot *spot, usec_t *ret_start,
		 usec_t *ret_end);

/* From from on n are free until when?  from itself if they are not. */
usec_t profile_until(const struct profile *p, usec_t from, int64_t n);

/* How long some runs of free processors are; 0 where there are none. */
struct profile_longest {
	usec_t longest; /* of all; USEC_MAX if it has no end */
	usec_t start;  /* where that run begins, the first one of that length */
	usec_t before; /* the longest of those that begin before it */
};

/*
 * The longest run of at least n free processors that has a part in [from, to), with what
 * of it lies outside.  spot is that of from, or of another time.
 */
struct profile_longest profile_longest(const struct profile *p, usec_t from,
				       usec_t to, int64_t n,
				       struct profile_spot *spot);

/*
 * Up to `to`, which is after the profile's beginning, n are free since when?  `to` itself
 * if they are not right before it.  near, zero-filled at first, is where the last question
 * was about; the next one is answered sooner if it is about a time near that.
 */
usec_t profile_since(const struct profile *p, usec_t to, int64_t n,
		     struct profile_place *near);

/* The least and greatest value in [from, to), which is not empty. */
int64_t profile_min(const struct profile *p, usec_t from, usec_t to);
int64_t profile_max(const struct profile *p, usec_t from, usec_t to);

#endif
