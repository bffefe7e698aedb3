/*
 * placed.h - first come, first served, each rank where it will feel the least
 * delay: how policies that choose hosts start jobs
 */
#ifndef POLICY_KIT_PLACED_H
#define POLICY_KIT_PLACED_H

#include <stdbool.h>

#include "core/param.h"
#include "model/plan.h"
#include "model/view.h"

struct placed {
	bool owners;	    /* hosts whose owner is at them, as a last resort */
	bool oversubscribe; /* more ranks than cores, up to a host's slots */
	bool home;	    /* at its user's own hosts a job is no guest */
};

/* Lines for a policy's table of parameters, in this order, and reading them. */
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
 * Start what waits, in order, until one finds no room for all its ranks.  Costs
 * the hosts for each job started, and its ranks.
 */
void placed_start(const struct placed *p, const struct view *view,
		  struct plan *plan);

/* Why job waits: policy_ops.explain. */
void placed_explain(const struct placed *p, const struct view *view,
		    const struct job *job, struct plan *plan);

/* policy_ops.most */
int64_t placed_most(const struct placed *p, const struct view *view);

#endif
