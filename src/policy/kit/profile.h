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
 *
 * Who has to know when there is more room right before some time, as a reservation that
 * begins then and could begin earlier, is pinned to that time.
 */
#ifndef POLICY_KIT_PROFILE_H
#define POLICY_KIT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/units.h"

struct profile_step;

/* What is pinned to a step. */
struct profile_pinned {
	uint32_t first; /* pin: index + 1; 0: nothing */
	uint32_t least; /* no pin is of a smaller size; UINT32_MAX: nothing */
};

/* What a search needs to know of a block before it looks into it. */
struct profile_block {
	usec_t start;	  /* of its first step */
	int64_t min, max; /* of its values */
	int64_t add;	  /* to be added to the values of its steps */
	uint32_t n;	  /* steps, at least 1 */
	struct profile_step *step;
	struct profile_pinned *pin; /* by step */
};

/* A step: which block, and where in it. */
struct profile_place {
	size_t block;
	uint32_t step;
};

/* Something of that size is pinned to a step. */
struct profile_pin {
	usec_t at;
	uint32_t what, size;
	uint32_t next;	/* of the same step, or of the unused ones: index + 1 */
	uint32_t link;	/* the next marked one: index + 1 */
	uint32_t block; /* where the step before it was when it was marked */
	uint8_t step;
	bool marked;
	bool gone; /* taken off while it was marked */
};

struct profile {
	struct profile_block *block; /* in the order of time; at least one */
	size_t nr, cap;
	/*
	 * Near which step the next change is likely to be that takes processors, the
	 * next that gives some, and the next time from which a pin is taken.
	 */
	struct profile_place near[3];
	uint64_t changes; /* how many there were so far */
	struct profile_pin *pin;
	uint32_t nr_pins, unused; /* the first unused one: index + 1 */
	size_t cap_pins;
};

/* `free` processors from time `from` on; the time before is not described. */
void profile_init(struct profile *p, usec_t from, int64_t free);
/* frees all; a zero-filled one is clear as well */
void profile_clear(struct profile *p);

/* Add delta in [from, to).  Nothing happens where to <= from. */
void profile_add(struct profile *p, usec_t from, usec_t to, int64_t delta);

/* Forget what is before now. */
void profile_trim(struct profile *p, usec_t now);

/*
 * The earliest t >= from such that n are free in all of [t, t + length); USEC_MAX if there is
 * none.  *longest is the length of the longest run of n free in [from, t).
 */
usec_t profile_earliest(const struct profile *p, usec_t from, usec_t length,
			int64_t n, usec_t *longest);

/* Until when are n free from `from` on? `from` itself if they are not free then. */
usec_t profile_until(const struct profile *p, usec_t from, int64_t n);

/* Classes of numbers of processors: 1, 2-3, 4-7, ...; the last has no end. */
#define PROFILE_CLASSES 16

/* The class of n, which is at least 1. */
static inline uint32_t profile_class(int64_t n)
{
	uint32_t class = 63 - (uint32_t)__builtin_clzll((uint64_t)n);

	return class < PROFILE_CLASSES ? class : PROFILE_CLASSES - 1;
}

#define PROFILE_WANTS 6

/*
 * Which runs of at least 2^i free processors are looked for, by i: those that are as long as
 * one of these and begin before it has to.  Both descend.
 */
struct profile_want {
	usec_t before, least; /* least USEC_MAX: endless ones */
};

struct profile_wanted {
	int64_t most
		[PROFILE_CLASSES]; /* for jobs of up to this size; 0: none */
	uint32_t nr[PROFILE_CLASSES];
	struct profile_want want[PROFILE_CLASSES][PROFILE_WANTS];
};

/* A run is wanted for a job of that size and length if it begins before that time. */
void profile_want(struct profile_wanted *w, uint32_t size, usec_t length,
		  usec_t before);

/* What came free: n processors in [from, to). */
struct profile_freed {
	usec_t from, to;
	int64_t n;
	/* profile_mark_pins() fills these in: so many are free there now, */
	int64_t least, most;
	struct profile_place first, last; /* and where from and to are */
};

/*
 * After profile_mark_pins(), call fn for each wanted run that overlaps [from, to), of each
 * class, in full length, but not for those for jobs for which there was room in all of it before.
 */
void profile_runs(const struct profile *p, const struct profile_freed *f,
		  const struct profile_wanted *wanted,
		  void (*fn)(void *arg, uint32_t class, usec_t start,
			     usec_t end),
		  void *arg);

/*
 * Since when are n free up to `to`, which is after the profile's beginning?  `to`
 * itself if they are not free right before it.  A `to` that is near that place, which
 * is a guess and need not exist any more, is found faster, and so are the changes and the pins at
 * both times that are asked for next.
 */
usec_t profile_since(struct profile *p, usec_t to, int64_t n,
		     struct profile_place near);

/* The least and greatest value in [from, to), which is not empty. */
int64_t profile_min(const struct profile *p, usec_t from, usec_t to);
int64_t profile_max(const struct profile *p, usec_t from, usec_t to);

/*
 * Pin something to a time, once, or take it off if it is there.  A time before the profile's beginning is its
 * beginning.
 */
void profile_pin(struct profile *p, usec_t at, uint32_t what, uint32_t size);
void profile_unpin(struct profile *p, usec_t at, uint32_t what);

/*
 * So many more processors are free now: mark each pin in (from, to] right before which as many
 * as its size are free for that reason.  marks is the first marked pin of each what, + 1; 0 is
 * none.
 */
void profile_mark_pins(struct profile *p, struct profile_freed *freed,
		       uint32_t *marks);

/*
 * Take marks away up to the first with as many free right before it as its size; false if there
 * is none.  *ret_near is for profile_since().
 */
bool profile_next_mark(struct profile *p, uint32_t *first, usec_t *ret_at,
		       struct profile_place *ret_near);

#endif
