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
 * The steps lie in blocks of up to 64 that know their least and greatest value.  So a
 * search skips a block in which nothing fits, or everything does, and a change of a
 * long stretch touches each block once: with k steps both cost O(k / 64 + 64).
 */
#ifndef POLICY_KIT_PROFILE_H
#define POLICY_KIT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/units.h"

struct profile_step;

/* What a search needs to know of a block before it looks into it. */
struct profile_block {
	usec_t start;	  /* of its first step */
	int64_t min, max; /* of its values */
	int64_t add;	  /* to be added to the values of its steps */
	uint32_t n;	  /* steps, at least 1 */
	struct profile_step *step;
};

/* A step: which block, and where in it. */
struct profile_place {
	size_t block;
	uint32_t step;
};

struct profile {
	struct profile_block *block; /* in the order of time; at least one */
	size_t nr, cap;
	/*
	 * Near which step the last change was that took processors, and the
	 * last that gave some.
	 */
	struct profile_place near[2];
	uint64_t changes; /* how many there were so far */
};

/*
 * A time and its place in the profile, valid until the profile changes; zero-filled:
 * none yet.
 */
struct profile_spot {
	uint64_t changes;
	usec_t time;
	struct profile_place place;
};

/* Make spot the place of `time`, if it is not yet. */
void profile_find(const struct profile *p, usec_t time,
		  struct profile_spot *spot);

/* `free` processors from time `from` on; the time before is not described. */
void profile_init(struct profile *p, usec_t from, int64_t free);
/* frees all; a zero-filled one is clear as well */
void profile_clear(struct profile *p);

/* Add delta in [from, to).  Nothing happens where to <= from. */
void profile_add(struct profile *p, usec_t from, usec_t to, int64_t delta);

/* Forget what is before now. */
void profile_trim(struct profile *p, usec_t now);

/* The earliest t >= from such that n are free in all of [t, t + length);
 * USEC_MAX if there is none. */
usec_t profile_earliest(const struct profile *p, usec_t from, usec_t length,
			int64_t n);

/*
 * The first run of at least n free processors that overlaps [from, to), in full length:
 * [*ret_start, *ret_end) may begin before `from` and end after `to`. Its end is
 * searched for only up to `length` after the place in [from, to) where it was found; if
 * it goes on there, *ret_end is USEC_MAX. False if there is none.  spot: the place of
 * `from` or of any other time; afterwards that of the end, if the run was found.
 */
bool profile_run(const struct profile *p, usec_t from, usec_t to, int64_t n,
		 usec_t length, struct profile_spot *spot, usec_t *ret_start,
		 usec_t *ret_end);

/* Until when are n free from `from` on? `from` itself if they are not free then. */
usec_t profile_until(const struct profile *p, usec_t from, int64_t n);

/* How long the longest runs of free processors are; 0 if there are none. */
struct profile_longest {
	usec_t longest; /* the longest of all; USEC_MAX if it has no end */
	usec_t start;  /* where that run begins, the first one of that length */
	usec_t before; /* the longest of those that begin before that one */
};

/*
 * The longest run of at least n free processors that overlaps [from, to), in full
 * length.  spot: the place of `from` or of any other time.
 */
struct profile_longest profile_longest(const struct profile *p, usec_t from,
				       usec_t to, int64_t n,
				       struct profile_spot *spot);

/*
 * Since when are n free up to `to`, which is after the profile's beginning?  `to`
 * itself if they are not free right before it.  near, zero-filled at first, remembers
 * the place of the last question; a question about a time near that is answered faster.
 */
usec_t profile_since(const struct profile *p, usec_t to, int64_t n,
		     struct profile_place *near);

/* The least and greatest value in [from, to), which is not empty. */
int64_t profile_min(const struct profile *p, usec_t from, usec_t to);
int64_t profile_max(const struct profile *p, usec_t from, usec_t to);

#endif
