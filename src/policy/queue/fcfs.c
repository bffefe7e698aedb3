/*
 * fcfs.c - first come, first served
 *
 * A pass looks at the jobs it starts and one more: its cost does not depend on
 * the length of the queue.
 */
#include "core/xalloc.h"
#include "policy/kit/policy.h"

static const struct reason first = {
	"it is first in the queue and needs %n of %n free processors"
};
static const struct reason head_waits = {
	"it is first in the queue, and needs %n processors of which %n are free"
};
static const struct reason behind = {
	"job %j is before it in the queue and has to start first"
};

static int fcfs_create(const struct policy_setup *setup, struct policy **ret,
		       struct error *err)
{
	*ret = xcalloc(1, sizeof(**ret));
	return 0;
}

static void fcfs_decide(struct policy *policy, const struct view *view,
			struct plan *plan)
{
	const struct job *j;

	for_each_waiting(j, view)
	{
		if (j->size > plan_free(plan) ||
		    !plan_start(plan, j, j->size, &first, j->size,
				plan_free(plan), 0))
			break;
	}
}

static void fcfs_explain(const struct policy *policy, const struct view *view,
			 const struct job *job, struct plan *plan)
{
	const struct job *head = TAILQ_FIRST(&view->waiting);

	if (head == job)
		plan_defer(plan, job, &head_waits, job->size, view->nr_free, 0);
	else
		plan_defer(plan, job, &behind, head->id, 0, 0);
}

const struct policy_ops policy_fcfs = {
	.name = "fcfs",
	.summary = "first come, first served; who does not fit blocks the rest",
	.source = "Ismail 1995 section 2; the usual one",
	.details = "Jobs start in the order of submission (ties by id).  The "
		   "first one that does not fit makes all others wait.  A pass "
		   "costs the jobs it starts, whatever the queue's length.",
	.create = fcfs_create,
	.decide = fcfs_decide,
	.explain = fcfs_explain,
};
