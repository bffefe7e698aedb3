/*
 * firstfit.c - first fit without folding, in four orders
 *
 * FF, FFDS, FFIS (Ismail 1995 section 2.2.1) and FFITD (section 2.4): at every
 * arrival and departure the queue is scanned in its order, and each job that
 * fits is started on all it asked for.
 *
 * A pass costs O(log Q) for each job it starts, Q jobs waiting: what does not
 * fit is not looked at (policy/kit/fitset.h).
 */
#include "policy/space/space.h"

static void firstfit_decide(struct policy *policy, const struct view *view,
			    struct plan *plan)
{
	space_first_fit((struct space *)policy, plan);
}

#define FIRSTFIT_DETAILS                                                    \
	"At every arrival and departure the queue is scanned in its order " \
	"and each job is started that fits on the processors still free. "  \
	"Large jobs may starve under load. A pass costs O(log Q) for each " \
	"job it starts."

#define FIRSTFIT_OPS                                         \
	.details = FIRSTFIT_DETAILS, .create = space_create, \
	.event = space_event, .decide = firstfit_decide,     \
	.destroy = space_destroy

const struct policy_ops policy_ff = {
	.name = "ff",
	.summary = "first fit, in the order of arrival",
	.source = "Ismail 1995 section 2.2.1 (FF)",
	.variant = SPACE_ARRIVAL,
	FIRSTFIT_OPS,
};

const struct policy_ops policy_ffds = {
	.name = "ffds",
	.summary = "first fit, the largest first",
	.source = "Ismail 1995 section 2.2.1 (FFDS)",
	.variant = SPACE_LARGEST,
	FIRSTFIT_OPS,
};

const struct policy_ops policy_ffis = {
	.name = "ffis",
	.summary = "first fit, the smallest first",
	.source = "Ismail 1995 section 2.2.1 (FFIS)",
	.variant = SPACE_SMALLEST,
	FIRSTFIT_OPS,
};

const struct policy_ops policy_ffitd = {
	.name = "ffitd",
	.summary = "first fit, the least total demand n t(n) first",
	.source = "Ismail 1995 section 2.4 (FFITD)",
	.flags = POLICY_ESTIMATES,
	.variant = SPACE_LEAST_DEMAND,
	FIRSTFIT_OPS,
};
