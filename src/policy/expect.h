/*
 * expect.h - when a job that waits would start
 *
 * By trying it: a fresh policy of the same kind on a copy of the view goes through
 * what is to come, as the simulator does.  Jobs end when their estimates are over
 * (one that has outrun its own takes as long again) or their time limits, whichever
 * is earlier; nothing else happens, and moves take no time.
 */
#ifndef POLICY_EXPECT_H
#define POLICY_EXPECT_H

#include "policy/policies.h"

struct expect {
	const char *spec; /* of the policy, and its seed: policy_create() */
	uint64_t seed;
	const char *state; /* policy_save()'s; NULL: none */
	usec_t (*limit)(
		const struct job *); /* how long it may run; 0: for ever */
	uint32_t most; /* jobs, beyond which nothing is tried; and passes */
};

/*
 * The start of a job of the view that waits; USEC_MAX: not known, as somebody
 * before it has neither estimate nor limit, or there is too much to be tried.
 */
usec_t policy_expect(const struct expect *x, const struct view *view,
		     const struct job *job);

#endif
