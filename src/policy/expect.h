/*
 * expect.h - when a job that waits would start
 *
 * It is tried out: a new policy of the same kind runs on a copy of the view, as in the
 * simulator.  Jobs end with their estimates (one that has outrun its estimate takes as
 * long again) or at their time limits, whichever is earlier; nothing else happens, and
 * moves take no time.
 */
#ifndef POLICY_EXPECT_H
#define POLICY_EXPECT_H

#include "policy/policies.h"

struct expect {
	const char *spec; /* the policy and its seed, as for policy_create() */
	uint64_t seed;
	const char *state; /* what policy_save() returned; NULL: nothing */
	usec_t (*limit)(
		const struct job *); /* how long a job may run; 0: for ever */
	/* with more jobs nothing is tried; also the most passes */
	uint32_t most;
};

/*
 * When a waiting job of the view would start.  USEC_MAX: not known, because a job
 * before it has neither an estimate nor a limit, or because there is too much to try.
 */
usec_t policy_expect(const struct expect *x, const struct view *view,
		     const struct job *job);

#endif
