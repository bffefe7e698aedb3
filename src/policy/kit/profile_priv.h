/*
 * profile_priv.h - what the files of profile.h share: profile.c, which changes profiles,
 * profile_search.c and profile_pins.c
 */
#ifndef POLICY_KIT_PROFILE_PRIV_H
#define POLICY_KIT_PROFILE_PRIV_H

#include "policy/kit/profile.h"

#define PROFILE_ROOM 64

struct profile_step {
	usec_t at; /* it holds from here to the next one */
	int64_t free;
};

#define PROFILE_UNPINNED ((struct profile_pinned){ 0, UINT32_MAX })

static inline int64_t profile_value(const struct profile_block *b, uint32_t i)
{
	return b->step[i].free + b->add;
}

/* The block that holds t: the last that begins at or before it. */
static inline size_t profile_block_of(const struct profile *p, usec_t t)
{
	const struct profile_block *lo = p->block;

	for (size_t n = p->nr; n > 1; n -= n / 2)
		lo += lo[n / 2].start <= t ? n / 2 : 0;
	return (size_t)(lo - p->block);
}

/* The step of b that holds t, likewise. */
static inline uint32_t profile_step_of(const struct profile_block *b, usec_t t)
{
	const struct profile_step *lo = b->step;

	for (size_t n = b->n; n > 1; n -= n / 2)
		lo += lo[n / 2].at <= t ? n / 2 : 0;
	return (uint32_t)(lo - b->step);
}

static inline struct profile_place profile_place_of(const struct profile *p,
						    usec_t t)
{
	size_t k = profile_block_of(p, t);

	return (struct profile_place){ k, profile_step_of(&p->block[k], t) };
}

/* profile_step_of(), if it is likely to be near step i. */
static inline uint32_t profile_step_near(const struct profile_block *b,
					 uint32_t i, usec_t t)
{
	const struct profile_step *s = b->step;

	for (int tries = 0; i < b->n && tries < 4; tries++) {
		if (s[i].at <= t && (i + 1 == b->n || t < s[i + 1].at))
			return i;
		i += s[i].at <= t ? 1 : -1;
	}
	return profile_step_of(b, t);
}

/* profile_place_of(), if it is likely to be near that place, which need not exist any more. */
static inline struct profile_place profile_place_near(const struct profile *p,
						      struct profile_place near,
						      usec_t t)
{
	const struct profile_block *b = &p->block[near.block];

	if (near.block >= p->nr || b->start > t ||
	    (near.block + 1 < p->nr && b[1].start <= t))
		return profile_place_of(p, t);
	near.step = profile_step_near(b, near.step, t);
	return near;
}

/* The step behind that one, which need not exist. */
static inline struct profile_place profile_step_behind(const struct profile *p,
						       struct profile_place at)
{
	if (at.step + 1 < p->block[at.block].n)
		return (struct profile_place){ at.block, at.step + 1 };
	return (struct profile_place){ at.block + 1, 0 };
}

/*
 * profile_search.c: the first t in [from, to) at which n are not free; USEC_MAX if there is
 * none.  from lies in step *at, and t does afterwards.
 */
usec_t profile_first_short(const struct profile *p, struct profile_place *at,
			   usec_t from, usec_t to, int64_t n);
/* The first step of the run of n free that holds step `at`. */
struct profile_place profile_run_start(const struct profile *p,
				       struct profile_place at, int64_t n);

/* profile.c: have a step begin at t, which may be near that place, and return it. */
struct profile_place profile_cut(struct profile *p, usec_t t,
				 struct profile_place *near);
/*
 * Remove a step with the same value as the one before it, so that there are never more
 * than needed.  One that something is pinned to stays.
 */
void profile_drop_if_flat(struct profile *p, struct profile_place at);

#endif
