/*
 * placed.h - how policies that choose hosts start jobs: first come, first served, each
 * rank on the host that delays it least
 */
#ifndef POLICY_KIT_PLACED_H
#define POLICY_KIT_PLACED_H

#include <stdbool.h>

#include "core/param.h"
#include "model/plan.h"
#include "model/view.h"

struct placed {
	/* use hosts whose owner is active, as a last resort */
	bool owners;
	/* put more ranks than cores on a host, up to its slots */
	bool oversubscribe;
	bool home; /* on hosts of its own user a job is not a guest */
};

/*
 * Lines for a policy's table of parameters, in this order; and a function that reads
 * them.
 */
#define PLACED_PARAMS                                                       \
	{ "owners",                                                         \
	  PARAM_BOOL,                                                       \
	  0,                                                                \
	  0,                                                                \
	  1,                                                                \
	  NULL,                                                             \
	  "use a host whose owner is active when no other is left" },       \
		{ "oversubscribe",                                          \
		  PARAM_BOOL,                                               \
		  1,                                                        \
		  0,                                                        \
		  1,                                                        \
		  NULL,                                                     \
		  "share cores when there are more ranks than free "        \
		  "ones" },                                                 \
	{                                                                   \
		"home", PARAM_BOOL, 1, 0, 1, NULL,                          \
			"start jobs at hosts of their own user also while " \
			"these take no guests"                              \
	}
struct placed placed_of(const struct params *params);

/*
 * Start waiting jobs in order, until there is no room for all ranks of one.  Looks at
 * the hosts for each job started, and at its ranks.
 */
void placed_start(const struct placed *p, const struct view *view,
		  struct plan *plan);

/* Why job waits: policy_ops.explain. */
void placed_explain(const struct placed *p, const struct view *view,
		    const struct job *job, struct plan *plan);

/* policy_ops.most */
int64_t placed_most(const struct placed *p, const struct view *view);

#endif
