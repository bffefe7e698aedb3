/*
 * folding.c - limited folding, one job at a time
 *
 * FFCFS, FFF and FSJF (Ismail 1995 section 3.2): a job waits until it can have
 * ceil(n / FF_max) processors and then takes min(n, FP).  FF_max grows with
 * the load (struct space_limit), so few jobs are folded, and little, while
 * freed processors would be left unused.
 *
 * ceil(n / FF_max) <= FP is the same as n <= FF_max FP, for which the queue is
 * searched: a pass costs O(log Q) for each job it starts, Q jobs waiting.
 */
#include "policy/space/space.h"

struct folding {
	struct space space;
	struct space_limit limit;
};

REASON(folded,
       "it asks for {size}, may be folded by {most:thousandths} at most, and "
       "{free} {free:processor is|processors are} free",
       free, size, most);

/* Plan the start of the job if it may run on the processors that are free. */
static bool folding_start(struct folding *f, struct plan *plan,
			  const struct job *job, double ffmax)
{
	int64_t left = plan_free(plan);
	uint32_t n = space_allows(plan, job);

	return n && job->size <= space_limit_size(ffmax, n) &&
	       space_start(&f->space, plan, job, n,
			   BECAUSE(folded, .free = left, .size = job->size,
				   .most = (int64_t)(ffmax * 1000)));
}

static void ffcfs_decide(struct policy *policy, const struct view *view,
			 struct plan *plan)
{
	struct folding *f = (struct folding *)policy;
	const struct job *job = fitset_first(&f->space.waiting);
	double ffmax;

	if (!job || plan_free(plan) < 1)
		return;
	ffmax = space_limit_now(&f->limit, view);
	while (job && job->size <= space_limit_size(ffmax, plan_free(plan)) &&
	       folding_start(f, plan, job, ffmax))
		job = fitset_first(&f->space.waiting);
}

static void fff_decide(struct policy *policy, const struct view *view,
		       struct plan *plan)
{
	struct folding *f = (struct folding *)policy;
	const struct job *job, *passed = NULL;
	double ffmax;

	if (!f->space.waiting.nr || plan_free(plan) < 1)
		return;
	ffmax = space_limit_now(&f->limit, view);
	while ((job = fitset_fit(&f->space.waiting, passed,
				 space_limit_size(ffmax, plan_free(plan)))))
		if (!folding_start(f, plan, job, ffmax))
			/* It can have less than its min_size. */
			passed = job;
}

static int folding_create(const struct policy_setup *setup, struct policy **ret,
			  struct error *err)
{
	struct space_limit limit;
	struct folding *f;
	int rc = space_limit_read(setup->params, &limit, err);

	if (rc < 0)
		return rc;
	f = space_new(sizeof(*f), setup);
	f->limit = limit;
	*ret = &f->space.policy;
	return 0;
}

static const struct param folding_params[] = { SPACE_LIMIT_PARAMS, { NULL } };

#define FOLDING_DETAILS                                                          \
	"A job waits until ceil(n/FF_max) processors are free and takes "        \
	"min(n, FP) then. FF_max is f1 = ceil(P_d/P), f2 = f1 - (1-r) N_r/P_u, " \
	"or a number; f2 below 1 counts as 1. FFCFS looks at the head of the "   \
	"queue alone, FFF and FSJF at the first that fits. A pass costs "        \
	"O(log Q) for each job it starts."

const struct policy_ops policy_ffcfs = {
	.name = "ffcfs",
	.summary = "limited folding, first come first served",
	.source = "Ismail 1995 section 3.2 (FFCFS)",
	.details = FOLDING_DETAILS,
	.params = folding_params,
	.flags = POLICY_FOLDS,
	.variant = SPACE_ARRIVAL,
	.create = folding_create,
	.event = space_event,
	.decide = ffcfs_decide,
	.destroy = space_destroy,
};

const struct policy_ops policy_fff = {
	.name = "fff",
	.summary = "limited folding, first fit",
	.source = "Ismail 1995 section 3.2 (FFF)",
	.details = FOLDING_DETAILS,
	.params = folding_params,
	.flags = POLICY_FOLDS,
	.variant = SPACE_ARRIVAL,
	.create = folding_create,
	.event = space_event,
	.decide = fff_decide,
	.destroy = space_destroy,
};

const struct policy_ops policy_fsjf = {
	.name = "fsjf",
	.summary = "limited folding, first fit, the smallest first",
	.source = "Ismail 1995 section 3.2 (FSJF)",
	.details = FOLDING_DETAILS,
	.params = folding_params,
	.flags = POLICY_FOLDS,
	.variant = SPACE_SMALLEST,
	.create = folding_create,
	.event = space_event,
	.decide = fff_decide,
	.destroy = space_destroy,
};
