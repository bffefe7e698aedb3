/*
 * order.c - queues by run time and by how long jobs have waited for it:
 * SJF, LXF, WFP
 */
#include <math.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "policy/kit/ranked.h"

struct ordered {
	struct policy base;
	struct ranked ranked;
	ranked_score *score;
};

/*
 * The estimated run time in seconds; a job without an estimate counts as the longest.
 */
static double runtime(const struct job *job)
{
	return job->estimate ? fmax(usec_to_seconds(job->estimate), 1e-6)
			     : 1e12;
}

static double sjf_score(const void *ctx, const struct view *view,
			const struct job *job)
{
	(void)ctx;
	(void)view;
	return -runtime(job);
}

static double lxf_score(const void *ctx, const struct view *view,
			const struct job *job)
{
	double run = runtime(job);

	(void)ctx;
	return (usec_to_seconds(view->now - job->submit) + run) / run;
}

static double wfp_score(const void *ctx, const struct view *view,
			const struct job *job)
{
	(void)ctx;
	return pow(usec_to_seconds(view->now - job->submit) / runtime(job), 3) *
	       job->size;
}

enum { SJF, LXF, WFP }; /* variants */

static ranked_score *const scores[] = {
	[SJF] = sjf_score,
	[LXF] = lxf_score,
	[WFP] = wfp_score,
};

static int order_create(const struct policy_setup *setup, struct policy **ret,
			struct error *err)
{
	struct ordered *p = xcalloc(1, sizeof(*p));

	(void)err;
	ranked_init_fixed(&p->ranked,
			  (enum ranked_fit)params_choice(setup->params, "fit"));
	p->score = scores[setup->ops->variant];
	*ret = &p->base;
	return 0;
}

static void ordered_event(struct policy *policy, const struct view *view,
			  const struct event *event)
{
	(void)view;
	ranked_event(&((struct ordered *)policy)->ranked, event);
}

static void order_decide(struct policy *policy, const struct view *view,
			 struct plan *plan)
{
	struct ordered *p = (struct ordered *)policy;

	ranked_decide(&p->ranked, view, plan, p->score, NULL);
}

static void sjf_event(struct policy *policy, const struct view *view,
		      const struct event *event)
{
	const struct job *job = event->job;

	(void)view;
	ranked_event_fixed(&((struct ordered *)policy)->ranked, event,
			   job ? job_length(job) : USEC_MAX);
}

static void sjf_decide(struct policy *policy, const struct view *view,
		       struct plan *plan)
{
	struct ordered *p = (struct ordered *)policy;

	ranked_decide_fixed(&p->ranked, view, plan, p->score, NULL);
}

static void order_explain(const struct policy *policy, const struct view *view,
			  const struct job *job, struct plan *plan)
{
	const struct ordered *p = (const struct ordered *)policy;

	ranked_explain(view, job, plan, p->score, NULL);
}

static void order_destroy(struct policy *policy)
{
	struct ordered *p = (struct ordered *)policy;

	ranked_clear(&p->ranked);
	free(p);
}

#define FIT(def)                                                                             \
	{                                                                                    \
		"fit", PARAM_CHOICE, def, 0, 0, ranked_fits,                                 \
			"behind the first that does not fit: all wait; all that fit start; " \
			"those that do not delay it start"                                   \
	}

static const struct param sjf_params[] = { FIT(RANKED_BLOCK),
					   { .name = NULL } };
static const struct param easy_params[] = { FIT(RANKED_EASY),
					    { .name = NULL } };

const struct policy_ops policy_sjf = {
	.name = "sjf",
	.summary = "the shortest estimate first",
	.source = "Conway, Maxwell and Miller 1967",
	.details =
		"Waiting jobs are tried by increasing estimate; a job "
		"without one comes last. A pass costs O(log n) for each job that "
		"starts.",
	.params = sjf_params,
	.flags = POLICY_ESTIMATES,
	.variant = SJF,
	.create = order_create,
	.event = sjf_event,
	.decide = sjf_decide,
	.explain = order_explain,
	.destroy = order_destroy,
};

const struct policy_ops policy_lxf = {
	.name = "lxf",
	.summary = "the largest expansion factor first, backfilled",
	.source = "Chiang, Arpaci-Dusseau and Vernon 2002 (LXF)",
	.details = "Waiting jobs are tried by decreasing (wait + estimate) / "
		   "estimate. A pass costs O(n), since every factor "
		   "changes with time.",
	.params = easy_params,
	.flags = POLICY_ESTIMATES,
	.variant = LXF,
	.create = order_create,
	.event = ordered_event,
	.decide = order_decide,
	.explain = order_explain,
	.destroy = order_destroy,
};

const struct policy_ops policy_wfp = {
	.name = "wfp",
	.summary = "long waits for short runs on many processors first",
	.source = "Tang, Lan, Desai and Buettner 2009 (WFP3)",
	.details = "Waiting jobs are tried by decreasing (wait / estimate)^3 * "
		   "size. A pass costs O(n), since every score changes "
		   "with time.",
	.params = easy_params,
	.flags = POLICY_ESTIMATES,
	.variant = WFP,
	.create = order_create,
	.event = ordered_event,
	.decide = order_decide,
	.explain = order_explain,
	.destroy = order_destroy,
};
