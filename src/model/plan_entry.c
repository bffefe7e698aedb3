/*
 * plan_entry.c - one more entry of a plan, and what those so far give a job
 */
#include "core/xalloc.h"
#include "model/plan.h"

struct plan_entry *plan_append(struct plan *plan, enum plan_type type,
			       const struct job *job, struct because why)
{
	struct plan_entry *e;

	array_room(plan->entry, plan->nr, &plan->cap);
	e = &plan->entry[plan->nr++];
	/* The view is const to a policy, and its driver's to change. */
	*e = (struct plan_entry){ .type = type,
				  .job = (struct job *)job,
				  .why = why };
	return e;
}

void plan_defer(struct plan *plan, const struct job *job, struct because why)
{
	plan_append(plan, PLAN_DEFER, job, why);
}

uint32_t plan_size(const struct plan *plan, const struct job *job)
{
	int32_t planned = plan->size[job->ix];

	if (planned)
		return (uint32_t)planned - 1;
	return job->state == JOB_RUNNING ? job->n : 0;
}
