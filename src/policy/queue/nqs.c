/*
 * nqs.c - NQS as the San Diego Supercomputer Center ran it (Schnor 1997
 * §1.6.1): queues by time limit, aging, and a priority that blocks
 *
 * Each queue is first come, first served: a job that does not fit holds up its queue,
 * and if it has reached the blocking priority, the other queues as well.  A pass costs
 * O(log n) for each job that starts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "policy/kit/ranked.h"

#define QUEUES 3 /* short, medium, long */

struct nqs {
	struct policy base;
	struct fitset queue[QUEUES]; /* by submission */
	usec_t limit[QUEUES - 1];
	double priority[QUEUES];
	double age;   /* priority gained in an hour */
	double block; /* the priority from which on a job blocks other queues */
};

REASON(by_priority,
       "of the first jobs of all queues that fit, it has the highest priority "
       "({priority:thousandths}), and needs {size} of {free} free "
       "{free:processor|processors}",
       priority, size, free);

static const struct param params[] = {
	{ "short", PARAM_TIME, 3600, 0, 1e9, NULL,
	  "longest estimate of a short job" },
	{ "medium", PARAM_TIME, 14400, 0, 1e9, NULL,
	  "longest estimate of a medium job; others are long" },
	{ "short-priority", PARAM_REAL, 12, 0, 1e9, NULL,
	  "of the queue of short jobs" },
	{ "medium-priority", PARAM_REAL, 11, 0, 1e9, NULL,
	  "of the queue of medium jobs (not in the text)" },
	{ "long-priority", PARAM_REAL, 10, 0, 1e9, NULL,
	  "of the queue of long jobs" },
	{ "age", PARAM_REAL, 0.1, 0, 1e6, NULL,
	  "age_factor: priority gained in an hour of waiting" },
	{ "block", PARAM_REAL, 15, 0, 1e9, NULL,
	  "block_priority: from there on nobody else starts before it" },
	{ .name = NULL },
};

static int queue_of(const struct nqs *p, const struct job *job)
{
	if (!job->estimate || job->estimate > p->limit[1])
		return 2;
	return job->estimate > p->limit[0];
}

static double score(const void *ctx, const struct view *view,
		    const struct job *job)
{
	const struct nqs *p = ctx;

	return p->priority[queue_of(p, job)] +
	       p->age * (double)(view->now - job->submit) / USEC_PER_SEC / 3600;
}

static int nqs_create(const struct policy_setup *setup, struct policy **ret,
		      struct error *err)
{
	const struct params *v = setup->params;
	struct nqs *p = xcalloc(1, sizeof(*p));

	p->limit[0] = params_usec(v, "short");
	p->limit[1] = params_usec(v, "medium");
	p->priority[0] = params_real(v, "short-priority");
	p->priority[1] = params_real(v, "medium-priority");
	p->priority[2] = params_real(v, "long-priority");
	p->age = params_real(v, "age");
	if (p->limit[0] > p->limit[1]) {
		free(p);
		return error_set(err, -EINVAL,
				 "nqs: short is longer than medium");
	}
	p->block = params_real(v, "block");
	*ret = &p->base;
	return 0;
}

static void nqs_event(struct policy *policy, const struct view *view,
		      const struct event *event)
{
	struct nqs *p = (struct nqs *)policy;
	const struct job *job = event->job;

	(void)view;
	if (event->type == EVENT_ARRIVE || event->type == EVENT_REQUEUE)
		fitset_insert(&p->queue[queue_of(p, job)], job, job->submit);
	else if (event->type == EVENT_START || event->type == EVENT_END)
		fitset_remove(&p->queue[queue_of(p, job)], job);
}

/*
 * Of the first jobs of those queues that are not held up, the one with the highest
 * priority; of equal ones the earlier.
 */
static const struct job *highest(const struct nqs *p, const struct view *view,
				 const bool *held_up)
{
	const struct job *best = NULL;

	for (int i = 0; i < QUEUES; i++) {
		const struct job *job =
			held_up[i] ? NULL : fitset_first(&p->queue[i]);
		double d = job && best
				   ? score(p, view, job) - score(p, view, best)
				   : 0;

		if (job &&
		    (!best || d > 0 || (d == 0 && job_before(job, best))))
			best = job;
	}
	return best;
}

static void nqs_decide(struct policy *policy, const struct view *view,
		       struct plan *plan)
{
	struct nqs *p = (struct nqs *)policy;
	bool held_up[QUEUES] = { false };
	const struct job *job;

	while (plan_free(plan) > 0 && (job = highest(p, view, held_up))) {
		double priority = score(p, view, job);

		if (job->size <= plan_free(plan) &&
		    plan_start(plan, job, job->size,
			       BECAUSE(by_priority,
				       .priority = (int64_t)(priority * 1000),
				       .size = job->size,
				       .free = plan_free(plan))))
			fitset_remove(&p->queue[queue_of(p, job)], job);
		else if (priority >= p->block)
			break;
		else
			held_up[queue_of(p, job)] = true;
	}
}

static void nqs_explain(const struct policy *policy, const struct view *view,
			const struct job *job, struct plan *plan)
{
	ranked_explain(view, job, plan, score, policy);
}

static void nqs_destroy(struct policy *policy)
{
	struct nqs *p = (struct nqs *)policy;

	for (int i = 0; i < QUEUES; i++)
		fitset_clear(&p->queue[i]);
	free(p);
}

const struct policy_ops policy_nqs = {
	.name = "nqs",
	.summary = "NQS/SDSC: queues by time limit, aging, a priority that "
		   "blocks",
	.source = "Schnor 1997 section 1.6.1",
	.details =
		"A job's priority is that of its queue + age * hours waited. "
		"The first jobs of all queues are tried by decreasing "
		"priority, and those that fit start. A job that does not fit "
		"holds up its queue and, once it has reached the blocking "
		"priority, the other queues as well. A pass costs O(log n) "
		"for each job that starts.",
	.params = params,
	.create = nqs_create,
	.event = nqs_event,
	.decide = nqs_decide,
	.explain = nqs_explain,
	.destroy = nqs_destroy,
};
