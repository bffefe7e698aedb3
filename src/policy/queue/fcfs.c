/*
 * fcfs.c - first come, first served
 *
 * A pass looks at the jobs it starts and one more: its cost does not depend on
 * the length of the queue.
 */
#include "core/xalloc.h"
#include "policy/kit/policy.h"

REASON(first,
       "it is first in the queue and needs {size} of {free} free "
       "{free:processor|processors}",
       size, free);
REASON(head_waits,
       "it is first in the queue, and needs {size} "
       "{size:processor|processors} of which {free} {free:is|are} free",
       size, free);
REASON(behind, "job {job} is before it in the queue and has to start first",
       job);

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
		    !plan_start(plan, j, j->size,
				BECAUSE(first, .size = j->size,
					.free = plan_free(plan))))
			break;
	}
}

static void fcfs_explain(const struct policy *policy, const struct view *view,
			 const struct job *job, struct plan *plan)
{
	const struct job *head = TAILQ_FIRST(&view->waiting);

	if (head == job)
		plan_defer(plan, job,
			   BECAUSE(head_waits, .size = job->size,
				   .free = view->nr_free));
	else
		plan_defer(plan, job, BECAUSE(behind, .job = head->id));
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
