/*
 * unlimited.c - folding without limit
 *
 * Ismail 1995 section 2.2.2: FCFSUF, FF+FIFO, FFDS+FIFO, FFIS+FIFO, EPFP, and
 * section 2.4: STDFUF, SHJFUF, LOJFUF.  A job takes any number of processors
 * up to its size, so none stays free while a job waits.  FIFO-V (Schnor 1997
 * section 2.1.3) is FCFSUF for jobs that do not fold below a minsize.
 *
 * The three rules are applied at every arrival and every departure.  The thesis gives
 * an arriving job min(n, FP); each of the rules has that result then, because
 * processors are only free while no job waits.
 *
 * A pass costs O(log Q) for each job it starts, Q jobs waiting; EPFP looks at P
 * of them at most.
 */
#include <stdlib.h>

#include "core/xalloc.h"
#include "policy/space/space.h"

REASON(folded,
       "it is first in the queue and takes what is free: it asks for {size} "
       "and gets {gets}",
       size, gets);

/* Start the head on min(n, FP); false if it cannot run on so few. */
static bool start_folded(struct space *s, struct plan *plan,
			 const struct job *job)
{
	uint32_t n = space_allows(plan, job);

	return n && space_start(s, plan, job, n,
				BECAUSE(folded, .size = job->size, .gets = n));
}

/*
 * "First come, first served" and "the rest goes to the head" both give min(n,
 * FP) to one job after another.
 */
static void unlimited_decide(struct policy *policy, const struct view *view,
			     struct plan *plan)
{
	struct space *s = (struct space *)policy;
	const struct job *job;

	while (plan_free(plan) > 0 && (job = fitset_first(&s->waiting)))
		if (!start_folded(s, plan, job))
			break;
}

struct plus_fifo {
	struct space space;
	bool earliest; /* the rest goes to the earliest arrival */
};

static const struct job *plus_fifo_head(const struct plus_fifo *p,
					const struct view *view)
{
	const struct job *job;

	if (!p->earliest)
		return fitset_first(&p->space.waiting);
	for_each_waiting(
		job, view) if (fitset_has(&p->space.waiting, job)) return job;
	return NULL;
}

static void plus_fifo_decide(struct policy *policy, const struct view *view,
			     struct plan *plan)
{
	struct plus_fifo *p = (struct plus_fifo *)policy;
	const struct job *job;

	space_first_fit(&p->space, plan);
	if (plan_free(plan) > 0 && (job = plus_fifo_head(p, view)))
		start_folded(&p->space, plan, job);
}

/* Collect the waiting jobs in order, at most max of them. */
static size_t epfp_collect(const struct space *s, struct space_share *share,
			   size_t max)
{
	const struct job *job = fitset_first(&s->waiting);
	size_t nr = 0;

	for (; job && nr < max; job = fitset_next(&s->waiting, job))
		share[nr++] = (struct space_share){ .job = job,
						    .low = job->min_size,
						    .high = job->size };
	return nr;
}

static bool epfp_start(struct space *s, struct plan *plan,
		       const struct space_share *share, int64_t nr)
{
	REASON(even,
	       "free processors are shared evenly among {waiting} waiting "
	       "{waiting:job|jobs}: it asks for {size} and gets {gets}",
	       waiting, size, gets);
	uint32_t n = plan_allows(plan, share->job, share->n, share->low);

	return n && space_start(s, plan, share->job, n,
				BECAUSE(even, .waiting = nr,
					.size = share->job->size, .gets = n));
}

static void epfp_decide(struct policy *policy, const struct view *view,
			struct plan *plan)
{
	struct space *s = (struct space *)policy;
	int64_t free_procs = plan_free(plan), lows = 0;
	struct space_share *share;
	size_t nr, kept = 0;

	if (free_procs < 1 || !s->waiting.nr)
		return;
	nr = s->waiting.nr < free_procs ? s->waiting.nr : (size_t)free_procs;
	share = xcalloc(nr, sizeof(*share));
	nr = epfp_collect(s, share, nr);
	for (size_t i = 0; i < nr; i++)
		if (lows + share[i].low <= free_procs) {
			lows += share[i].low;
			share[i].n = share[i].low;
			share[kept++] = share[i];
		}
	space_share_fill(share, kept, free_procs - lows);
	for (size_t i = 0; i < kept; i++)
		epfp_start(s, plan, &share[i], (int64_t)kept);
	free(share);
}

static int plus_fifo_create(const struct policy_setup *setup,
			    struct policy **ret, struct error *err)
{
	struct plus_fifo *p = space_new(sizeof(*p), setup);

	p->earliest = params_choice(setup->params, "head") == 1;
	*ret = &p->space.policy;
	return 0;
}

static const char *const heads[] = { "queue", "arrival", NULL };

static const struct param plus_fifo_params[] = {
	{ "head", PARAM_CHOICE, 0, 0, 0, heads,
	  "whom the rest goes to: the first in the queue's order, or in that of "
	  "arrival (the thesis says head of the waiting queue)" },
	{ NULL },
};

#define UNLIMITED_DETAILS                                                      \
	"The head of the queue takes min(n, FP) processors as soon as one is " \
	"free. A pass costs O(log Q) for each job it starts."
#define PLUS_FIFO_DETAILS                                                   \
	"First fit; then the head of the queue takes the processors still " \
	"free. An arriving job takes min(n, FP) if FP > 0. A pass costs "   \
	"O(log Q) for each job it starts."
#define EPFP_DETAILS                                                            \
	"Free processors are divided as evenly as possible among all waiting "  \
	"jobs, none getting more than it asked for; what does not divide goes " \
	"to the earliest, one each. A pass looks at P waiting jobs at most."

/* What the members of each family have in common. */
#define UNLIMITED_OPS                                 \
	.create = space_create, .event = space_event, \
	.decide = unlimited_decide, .destroy = space_destroy
#define PLUS_FIFO_OPS                                             \
	.details = PLUS_FIFO_DETAILS, .params = plus_fifo_params, \
	.flags = POLICY_FOLDS, .create = plus_fifo_create,        \
	.event = space_event, .decide = plus_fifo_decide,         \
	.destroy = space_destroy

const struct policy_ops policy_fcfsuf = {
	.name = "fcfsuf",
	.summary = "unlimited folding, in the order of arrival",
	.source = "Ismail 1995 section 2.2.2 (FCFSUF)",
	.details = UNLIMITED_DETAILS,
	.flags = POLICY_FOLDS,
	.variant = SPACE_ARRIVAL,
	UNLIMITED_OPS,
};

const struct policy_ops policy_ff_fifo = {
	.name = "ff+fifo",
	.summary = "first fit, the rest folded into by the head",
	.source = "Ismail 1995 section 2.2.2 (FF+FIFO)",
	.variant = SPACE_ARRIVAL,
	PLUS_FIFO_OPS,
};

const struct policy_ops policy_ffds_fifo = {
	.name = "ffds+fifo",
	.summary =
		"first fit decreasing size, the rest folded into by the head",
	.source = "Ismail 1995 section 2.2.2 (FFDS+FIFO)",
	.variant = SPACE_LARGEST,
	PLUS_FIFO_OPS,
};

const struct policy_ops policy_ffis_fifo = {
	.name = "ffis+fifo",
	.summary =
		"first fit increasing size, the rest folded into by the head",
	.source = "Ismail 1995 section 2.2.2 (FFIS+FIFO)",
	.variant = SPACE_SMALLEST,
	PLUS_FIFO_OPS,
};

const struct policy_ops policy_epfp = {
	.name = "epfp",
	.summary = "free processors evenly to all that wait",
	.source = "Ismail 1995 section 2.2.2 (EPFP)",
	.details = EPFP_DETAILS,
	.flags = POLICY_FOLDS,
	.variant = SPACE_ARRIVAL,
	.create = space_create,
	.event = space_event,
	.decide = epfp_decide,
	.destroy = space_destroy,
};

const struct policy_ops policy_stdfuf = {
	.name = "stdfuf",
	.summary = "unlimited folding, least total demand n t(n) first",
	.source = "Ismail 1995 section 2.4 (STDFUF)",
	.details = UNLIMITED_DETAILS,
	.flags = POLICY_FOLDS | POLICY_ESTIMATES,
	.variant = SPACE_LEAST_DEMAND,
	UNLIMITED_OPS,
};

const struct policy_ops policy_shjfuf = {
	.name = "shjfuf",
	.summary = "unlimited folding, shortest t(n) first",
	.source = "Ismail 1995 section 2.4 (SHJFUF)",
	.details = UNLIMITED_DETAILS,
	.flags = POLICY_FOLDS | POLICY_ESTIMATES,
	.variant = SPACE_SHORTEST,
	UNLIMITED_OPS,
};

const struct policy_ops policy_lojfuf = {
	.name = "lojfuf",
	.summary = "unlimited folding, longest t(n) first",
	.source = "Ismail 1995 section 2.4 (LOJFUF)",
	.details = UNLIMITED_DETAILS,
	.flags = POLICY_FOLDS | POLICY_ESTIMATES,
	.variant = SPACE_LONGEST,
	UNLIMITED_OPS,
};

const struct policy_ops policy_fifo_v = {
	.name = "fifo-v",
	.summary = "first come, first served, on what is idle",
	.source = "Schnor 1997 section 2.1.3",
	.details = "The head of the queue starts as soon as minsize processors "
		   "are idle and gets min(maxsize, idle ones); rigid jobs wait "
		   "for all of theirs. It is fcfsuf for jobs that have a "
		   "minsize. A pass costs O(log Q) for each job it starts.",
	.flags = POLICY_FOLDS,
	.variant = SPACE_ARRIVAL,
	UNLIMITED_OPS,
};
