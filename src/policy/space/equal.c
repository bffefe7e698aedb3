/*
 * equal.c - dynamic space sharing: every job runs, on its part
 *
 * DEQP, DPROP (Ismail 1995 section 4.3), DPROP-SM and DPROP-SH (section 4.5).
 * At every arrival and departure all processors are shared out anew, so none
 * is free while a job has less than it asked for, and nobody waits until there
 * are more jobs than processors.
 *
 * Where the thesis is silent:
 * - more jobs than processors (it does not consider such loads): the earliest
 *   run, the others wait in order of arrival;
 * - max(1, ...) for many small jobs may add up to more than P: what is too
 *   much is taken back one by one from the largest share;
 * - "the remaining processors, one to each" is repeated until none is left or
 *   every job has what it asked for, as S_e = 1 needs;
 * - DPROP-SH, unless told what a long job is, calls those long whose t(n) is
 *   above the mean of the jobs it has seen (the thesis: above T_e).
 * A job that cannot be resized keeps what it was started on.
 *
 * A pass costs O(M), M jobs running, whatever the number of those waiting.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/bisect.h"
#include "core/xalloc.h"
#include "policy/space/space.h"

struct equal {
	struct space space; /* its queue holds the jobs beyond P */
	/* shares of running jobs, in the order of share_before() */
	struct space_share *share;
	size_t nr, cap;
	bool by_size;
	double x;     /* DPROP-SM, -SH: the priority parameter */
	double limit; /* DPROP-SH: usec above which a job is long; 0: the mean
		       */
	double estimates, nr_seen; /* over all arrivals */
};

static bool share_before(const struct equal *e, const struct job *a,
			 const struct job *b)
{
	if (e->by_size && a->size != b->size)
		return a->size < b->size;
	return job_before(a, b);
}

/* The place of the job among the running ones, or where it would be. */
static size_t share_find(const struct equal *e, const struct job *job)
{
	size_t at;

	bisect(at, e->nr, share_before(e, e->share[at].job, job));
	return at;
}

static void share_add(struct equal *e, const struct job *job)
{
	size_t at = share_find(e, job);

	array_room(e->share, e->nr, &e->cap);
	memmove(e->share + at + 1, e->share + at,
		(e->nr - at) * sizeof(*e->share));
	e->share[at] = (struct space_share){ .job = job };
	e->nr++;
}

static void share_drop(struct equal *e, const struct job *job)
{
	size_t at = share_find(e, job);

	if (at == e->nr || e->share[at].job != job)
		return;
	e->nr--;
	memmove(e->share + at, e->share + at + 1,
		(e->nr - at) * sizeof(*e->share));
}

static void equal_event(struct policy *policy, const struct view *view,
			const struct event *event)
{
	struct equal *e = (struct equal *)policy;

	space_event(policy, view, event);
	switch (event->type) {
	case EVENT_ARRIVE:
		e->estimates += (double)event->job->estimate;
		e->nr_seen++;
		break;
	case EVENT_START:
		share_add(e, event->job);
		break;
	case EVENT_REQUEUE:
	case EVENT_END:
		share_drop(e, event->job);
		break;
	default:
		break;
	}
}

/* Set the bounds of every share; returns the sum of the lower ones. */
static int64_t equal_bounds(struct equal *e)
{
	int64_t lows = 0;

	for (size_t i = 0; i < e->nr; i++) {
		struct space_share *s = &e->share[i];
		const struct job *job = s->job;

		s->low = job->min_size;
		s->high = job->size;
		if (job->state != JOB_WAITING && job->kind != JOB_MALLEABLE)
			s->low = s->high = job->n;
		lows += s->low;
	}
	return lows;
}

/*
 * Admit waiting jobs while each can have its least share, now and when reservations
 * begin; the others shrink to make room.
 */
static int64_t equal_admit(struct equal *e, struct plan *plan, int64_t procs)
{
	int64_t lows = equal_bounds(e), spare;
	const struct job *job;

	plan_shrinks(plan);
	spare = plan_spare(plan);
	while ((job = fitset_first(&e->space.waiting)) &&
	       lows + job->min_size <= procs) {
		if (job->min_size > spare) {
			plan_refuse(plan, job, job->min_size);
			break;
		}
		fitset_remove(&e->space.waiting, job);
		share_add(e, job);
		lows += job->min_size;
		spare -= job->min_size;
	}
	return equal_bounds(e);
}

static void share_set(struct space_share *s, double n)
{
	/*
	 * Slightly more, so that a quotient that is a whole number is not
	 * rounded down.
	 */
	n += 1e-9;
	if (n < s->low)
		s->n = s->low;
	else
		s->n = n < s->high ? (uint32_t)n : s->high;
}

REASON(shared,
       "{jobs} {jobs:job shares|jobs share} all processors: it asks for "
       "{size} and gets {gets}",
       jobs, size, gets);

static void equal_start(struct equal *e, struct plan *plan,
			const struct space_share *s)
{
	bool started = plan_start(plan, s->job, s->n,
				  BECAUSE(shared, .jobs = (int64_t)e->nr,
					  .size = s->job->size, .gets = s->n));

	(void)started;
	assert(started); /* it was admitted */
}

/* Make the shares add up to what there is, and plan those that differ from now. */
static void equal_plan(struct equal *e, struct plan *plan, int64_t procs)
{
	int64_t left = space_share_trim(e->share, e->nr, procs);

	space_share_fill(e->share, e->nr, left);
	for (size_t i = 0; i < e->nr; i++) {
		struct space_share *s = &e->share[i];

		if (s->n < s->job->n)
			plan_resize(plan, s->job, s->n, NULL,
				    BECAUSE(shared, .jobs = (int64_t)e->nr,
					    .size = s->job->size,
					    .gets = s->n));
	}
	for (size_t i = 0; i < e->nr; i++) {
		struct space_share *s = &e->share[i];

		if (s->job->state == JOB_WAITING)
			equal_start(e, plan, s);
		else if (s->n > s->job->n)
			plan_resize(plan, s->job, s->n, NULL,
				    BECAUSE(shared, .jobs = (int64_t)e->nr,
					    .size = s->job->size,
					    .gets = s->n));
	}
}

static void deqp_decide(struct policy *policy, const struct view *view,
			struct plan *plan)
{
	struct equal *e = (struct equal *)policy;

	equal_admit(e, plan, view->nr_procs);
	for (size_t i = 0; i < e->nr; i++)
		share_set(&e->share[i],
			  (double)(view->nr_procs / (int64_t)e->nr));
	equal_plan(e, plan, view->nr_procs);
}

/* nd of DPROP-SM; x = 0 makes it n, and the policy DPROP. */
static double dprop_demand(const struct equal *e, const struct job *job,
			   double procs)
{
	return job->size / (1 + e->x * job->size / procs);
}

static void dprop_decide(struct policy *policy, const struct view *view,
			 struct plan *plan)
{
	struct equal *e = (struct equal *)policy;
	double procs = (double)view->nr_procs, sum = 0, ff;

	equal_admit(e, plan, view->nr_procs);
	for (size_t i = 0; i < e->nr; i++)
		sum += dprop_demand(e, e->share[i].job, procs);
	ff = sum > procs ? sum / procs : 1;
	for (size_t i = 0; i < e->nr; i++)
		share_set(&e->share[i],
			  dprop_demand(e, e->share[i].job, procs) / ff);
	equal_plan(e, plan, view->nr_procs);
}

/* nd of DPROP-SH: what a job wants beyond its first processor. */
static double dprop_sh_demand(const struct equal *e,
			      const struct space_share *s)
{
	double mean = e->nr_seen ? e->estimates / e->nr_seen : 0;
	double limit = e->limit ? e->limit : mean;
	double nd = s->high - s->low;

	return (double)s->job->estimate > limit ? nd / e->x : nd;
}

static void dprop_sh_decide(struct policy *policy, const struct view *view,
			    struct plan *plan)
{
	struct equal *e = (struct equal *)policy;
	int64_t left = view->nr_procs - equal_admit(e, plan, view->nr_procs);
	double sum = 0, ff;

	for (size_t i = 0; i < e->nr; i++)
		sum += dprop_sh_demand(e, &e->share[i]);
	ff = left > 0 && sum > (double)left ? sum / (double)left : 1;
	for (size_t i = 0; i < e->nr; i++) {
		struct space_share *s = &e->share[i];
		double more = dprop_sh_demand(e, s) / ff + 1e-9;

		share_set(s, left > 0 ? s->low + (uint32_t)more : s->low);
	}
	equal_plan(e, plan, view->nr_procs);
}

/* Saved: what dprop-sh has seen of t(n). */
static void equal_save(const struct policy *policy, const struct view *view,
		       FILE *to)
{
	const struct equal *e = (const struct equal *)policy;

	fprintf(to, "%.17g %.17g\n", e->estimates, e->nr_seen);
}

static int equal_load(struct policy *policy, const struct view *view,
		      const char *text, struct error *err)
{
	struct equal *e = (struct equal *)policy;

	if (sscanf(text, "%lf %lf", &e->estimates, &e->nr_seen) != 2)
		return policy_damaged(policy, text, err);
	return 0;
}

static void equal_destroy(struct policy *policy)
{
	if (policy)
		free(((struct equal *)policy)->share);
	space_destroy(policy);
}

static int deqp_create(const struct policy_setup *setup, struct policy **ret,
		       struct error *err)
{
	struct equal *e = space_new(sizeof(*e), setup);

	e->by_size = true;
	*ret = &e->space.policy;
	return 0;
}

static int dprop_create(const struct policy_setup *setup, struct policy **ret,
			struct error *err)
{
	struct equal *e = space_new(sizeof(*e), setup);

	*ret = &e->space.policy;
	return 0;
}

static int dprop_sm_create(const struct policy_setup *setup,
			   struct policy **ret, struct error *err)
{
	struct equal *e = space_new(sizeof(*e), setup);

	e->x = params_real(setup->params, "x");
	*ret = &e->space.policy;
	return 0;
}

static int dprop_sh_create(const struct policy_setup *setup,
			   struct policy **ret, struct error *err)
{
	struct equal *e = space_new(sizeof(*e), setup);

	e->x = params_real(setup->params, "x");
	e->limit = (double)params_usec(setup->params, "long");
	*ret = &e->space.policy;
	return 0;
}

static const struct param dprop_sm_params[] = {
	{ "x", PARAM_REAL, 2, 1e-6, 1e6, NULL,
	  "priority of small jobs: 2 in the thesis" },
	{ NULL },
};

static const struct param dprop_sh_params[] = {
	{ "x", PARAM_REAL, 4, 1e-6, 1e6, NULL,
	  "priority of short jobs: 4 in the thesis, which tries more" },
	{ "long", PARAM_TIME, 0, 0, 1e9, NULL,
	  "a job is long if its t(n) is above; 0: above the mean seen so far" },
	{ NULL },
};

#define EQUAL_FLAGS (POLICY_FOLDS | POLICY_RESIZES)

const struct policy_ops policy_deqp = {
	.name = "deqp",
	.summary = "an equal part of the machine for every job",
	.source = "Ismail 1995 section 4.3 (DEQP)",
	.details =
		"Each of M jobs gets min(n, floor(P/M)); what is left goes one by one "
		"to those below their n, the smallest first, over and over. A pass "
		"costs O(M).",
	.flags = EQUAL_FLAGS,
	.variant = SPACE_ARRIVAL,
	.create = deqp_create,
	.event = equal_event,
	.decide = deqp_decide,
	.destroy = equal_destroy,
};

const struct policy_ops policy_dprop = {
	.name = "dprop",
	.summary = "a part of the machine in proportion to what was asked for",
	.source = "Ismail 1995 section 4.3 (DPROP)",
	.details =
		"Each job gets max(1, floor(n/ff)), ff = max(1, T/P), T being what all "
		"ask for; what is left goes to the earliest, one each. A pass costs "
		"O(M).",
	.flags = EQUAL_FLAGS,
	.variant = SPACE_ARRIVAL,
	.create = dprop_create,
	.event = equal_event,
	.decide = dprop_decide,
	.destroy = equal_destroy,
};

const struct policy_ops policy_dprop_sm = {
	.name = "dprop-sm",
	.summary = "as dprop, with a bias for small jobs",
	.source = "Ismail 1995 section 4.5 (DPROP-SM/x)",
	.details =
		"As dprop, with nd = n/(1 + x n/P) in place of n. A pass costs O(M).",
	.params = dprop_sm_params,
	.flags = EQUAL_FLAGS,
	.variant = SPACE_ARRIVAL,
	.create = dprop_sm_create,
	.event = equal_event,
	.decide = dprop_decide,
	.destroy = equal_destroy,
};

const struct policy_ops policy_dprop_sh = {
	.name = "dprop-sh",
	.summary = "as dprop, with a bias for short jobs",
	.source = "Ismail 1995 section 4.5 (DPROP-SH/x)",
	.details =
		"One processor each; then nd = n-1, of long jobs (n-1)/x, and "
		"floor(nd/ff) more each, ff = max(1, sum of nd / processors left); "
		"what is left then goes to the earliest, one each. A pass costs O(M).",
	.params = dprop_sh_params,
	.flags = EQUAL_FLAGS | POLICY_ESTIMATES,
	.variant = SPACE_ARRIVAL,
	.create = dprop_sh_create,
	.event = equal_event,
	.decide = dprop_sh_decide,
	.save = equal_save,
	.load = equal_load,
	.destroy = equal_destroy,
};
