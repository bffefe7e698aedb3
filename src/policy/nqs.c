/*
 * nqs.c - NQS as the San Diego Supercomputer Center ran it (Schnor 1997
 * §1.6.1): queues by time limit, aging, and a priority that blocks
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "policy/ranked.h"

struct nqs {
	struct policy base;
	struct ranked ranked;
	usec_t limit[2];    /* of short and medium jobs */
	double priority[3]; /* of the queues: short, medium, long */
	double age;	    /* gained in an hour */
};

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

static double priority_of(const struct nqs *p, const struct job *job)
{
	int queue = 2;

	if (job->estimate && job->estimate <= p->limit[1])
		queue = job->estimate > p->limit[0];
	return p->priority[queue];
}

static double score(const void *ctx, const struct view *view,
		    const struct job *job)
{
	const struct nqs *p = ctx;

	return priority_of(p, job) +
	       p->age * (double)(view->now - job->submit) / USEC_PER_SEC / 3600;
}

/* All age alike: a job is as if it had come so much earlier as its queue's
 * priority takes to be gained.  Without aging the queues go one by one. */
static int64_t order_key(const struct nqs *p, const struct job *job)
{
	double priority = priority_of(p, job);

	if (p->age <= 0)
		return -llround(priority * 1e6);
	return job->submit -
	       llround(fmin(priority / p->age * 3600, 1e12) * USEC_PER_SEC);
}

static int create(const struct policy_setup *setup, struct policy **ret,
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
	ranked_init_fixed(&p->ranked, RANKED_SKIP);
	p->ranked.blocks_from = params_real(v, "block");
	*ret = &p->base;
	return 0;
}

static void nqs_event(struct policy *policy, const struct view *view,
		      const struct event *event)
{
	struct nqs *p = (struct nqs *)policy;

	(void)view;
	ranked_event_fixed(&p->ranked, event,
			   event->job ? order_key(p, event->job) : 0);
}

static void decide(struct policy *policy, const struct view *view,
		   struct plan *plan)
{
	struct nqs *p = (struct nqs *)policy;

	ranked_decide_fixed(&p->ranked, view, plan, score, p);
}

static void explain(const struct policy *policy, const struct view *view,
		    const struct job *job, struct plan *plan)
{
	ranked_explain(view, job, plan, score, policy);
}

static void destroy(struct policy *policy)
{
	struct nqs *p = (struct nqs *)policy;

	ranked_clear(&p->ranked);
	free(p);
}

const struct policy_ops policy_nqs = {
	.name = "nqs",
	.summary = "NQS/SDSC: queues by time limit, aging, a priority that "
		   "blocks",
	.source = "Schnor 1997 section 1.6.1",
	.details =
		"priority = queue's + age * hours waited. Jobs are tried by "
		"decreasing priority and who fits starts, until one that "
		"does not fit has come to the blocking priority: then "
		"nobody behind it starts. A pass costs O(log n) for each job that starts.",
	.params = params,
	.create = create,
	.event = nqs_event,
	.decide = decide,
	.explain = explain,
	.destroy = destroy,
};
