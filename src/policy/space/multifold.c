/*
 * multifold.c - limited folding of several jobs at once
 *
 * MFFF, MFSJF (Ismail 1995 section 3.2), MFSTDF, MFSHJF and MFLOJF (section
 * 3.4).  A scan selects a job if (x + n) / FP <= FF_max, x being what the jobs
 * selected before it ask for; then all that are selected are folded alike, by
 * x / FP.
 *
 * "Approximately (due to arithmetic errors) n / FF_act processors" is read as
 * rounding down to no less than 1, and then by default handing what is left
 * to the selected jobs in the queue's order, one each (round=fill).
 * round=down leaves it free, round=nearest rounds to the nearest number and
 * takes back from the largest what is too much.
 *
 * No more jobs are selected than there are free processors for them.
 *
 * A pass costs O(log Q) for each job it starts, Q jobs waiting.
 */
#include <stdlib.h>

#include "core/xalloc.h"
#include "policy/space/space.h"

enum rounding { ROUND_FILL, ROUND_DOWN, ROUND_NEAREST };

struct multifold {
	struct space space;
	struct space_limit limit;
	enum rounding rounding;
	struct space_share *share; /* scratch: the selected jobs, at most FP */
	size_t nr_share;
};

/* Select jobs; *ret_asked is how many processors they ask for together. */
static size_t multifold_select(struct multifold *m, int64_t procs, double ffmax,
			       int64_t *ret_asked)
{
	int64_t limit = space_limit_size(ffmax, procs), asked = 0, lows = 0;
	const struct job *job = NULL;
	size_t nr = 0;

	while (nr < (size_t)procs &&
	       (job = fitset_fit(&m->space.waiting, job, limit - asked))) {
		if (lows + job->min_size > procs)
			continue;
		lows += job->min_size;
		asked += job->size;
		m->share[nr++] = (struct space_share){ .job = job,
						       .low = job->min_size,
						       .high = job->size };
	}
	*ret_asked = asked;
	return nr;
}

/* Fold the selected jobs by asked / procs. */
static void multifold_fold(struct multifold *m, size_t nr, int64_t procs,
			   int64_t asked)
{
	int64_t left, half = m->rounding == ROUND_NEAREST ? asked / 2 : 0;

	for (size_t i = 0; i < nr; i++) {
		struct space_share *s = &m->share[i];
		int64_t n = (s->high * procs + half) / asked;

		s->n = n < s->low    ? s->low
		       : n > s->high ? s->high
				     : (uint32_t)n;
	}
	left = space_share_trim(m->share, nr, procs);
	if (m->rounding == ROUND_FILL)
		space_share_fill(m->share, nr, left);
}

/* If a reservation leaves fewer processors, its share is less, or it waits on. */
static bool multifold_start(struct multifold *m, struct plan *plan,
			    const struct space_share *s, int64_t folding)
{
	REASON(selected,
	       "it asks for {size}; together with the jobs selected before it "
	       "that is {folding:thousandths} times the free processors, "
	       "which is allowed",
	       size, folding);
	uint32_t n = plan_allows(plan, s->job, s->n, s->low);

	return n && space_start(&m->space, plan, s->job, n,
				BECAUSE(selected, .size = s->high,
					.folding = folding));
}

static void multifold_decide(struct policy *policy, const struct view *view,
			     struct plan *plan)
{
	struct multifold *m = (struct multifold *)policy;
	int64_t procs = plan_free(plan), asked;
	size_t nr;

	if (procs < 1 || !m->space.waiting.nr)
		return;
	if ((size_t)procs > m->nr_share) {
		m->nr_share = (size_t)procs;
		m->share =
			xreallocarray(m->share, m->nr_share, sizeof(*m->share));
	}
	nr = multifold_select(m, procs, space_limit_now(&m->limit, view),
			      &asked);
	if (nr)
		multifold_fold(m, nr, procs, asked > procs ? asked : procs);
	for (size_t i = 0; i < nr; i++)
		multifold_start(m, plan, &m->share[i], asked * 1000 / procs);
}

static void multifold_destroy(struct policy *policy)
{
	if (policy)
		free(((struct multifold *)policy)->share);
	space_destroy(policy);
}

static int multifold_create(const struct policy_setup *setup,
			    struct policy **ret, struct error *err)
{
	struct space_limit limit;
	struct multifold *m;
	int rc = space_limit_read(setup->params, &limit, err);

	if (rc < 0)
		return rc;
	m = space_new(sizeof(*m), setup);
	m->limit = limit;
	m->rounding = params_choice(setup->params, "round");
	*ret = &m->space.policy;
	return 0;
}

static const char *const roundings[] = { "fill", "down", "nearest", NULL };

static const struct param multifold_params[] = {
	SPACE_LIMIT_PARAMS,
	{ "round", PARAM_CHOICE, 0, 0, 0, roundings,
	  "what to do with the fractions that folding leaves" },
	{ NULL },
};

#define MULTIFOLD_DETAILS                                                       \
	"A scan of the queue selects a job if (x+n)/FP <= FF_max, x being the " \
	"demand of those selected before; all that are selected are folded "    \
	"by x/FP. FF_max is f1 = ceil(P_d/P), f2 = f1 - (1-r) N_r/P_u, or a "   \
	"number; f2 below 1 counts as 1. A pass costs O(log Q) for each job "   \
	"it starts."

#define MULTIFOLD_OPS                                             \
	.details = MULTIFOLD_DETAILS, .params = multifold_params, \
	.create = multifold_create, .event = space_event,         \
	.decide = multifold_decide, .destroy = multifold_destroy

const struct policy_ops policy_mfff = {
	.name = "mfff",
	.summary =
		"limited folding of several at once, in the order of arrival",
	.source = "Ismail 1995 section 3.2 (MFFF)",
	.flags = POLICY_FOLDS,
	.variant = SPACE_ARRIVAL,
	MULTIFOLD_OPS,
};

const struct policy_ops policy_mfsjf = {
	.name = "mfsjf",
	.summary = "limited folding of several at once, the smallest first",
	.source = "Ismail 1995 section 3.2 (MFSJF)",
	.flags = POLICY_FOLDS,
	.variant = SPACE_SMALLEST,
	MULTIFOLD_OPS,
};

const struct policy_ops policy_mfstdf = {
	.name = "mfstdf",
	.summary =
		"limited folding of several at once, least total demand n t(n) first",
	.source = "Ismail 1995 section 3.4 (MFSTDF)",
	.flags = POLICY_FOLDS | POLICY_ESTIMATES,
	.variant = SPACE_LEAST_DEMAND,
	MULTIFOLD_OPS,
};

const struct policy_ops policy_mfshjf = {
	.name = "mfshjf",
	.summary = "limited folding of several at once, shortest t(n) first",
	.source = "Ismail 1995 section 3.4 (MFSHJF)",
	.flags = POLICY_FOLDS | POLICY_ESTIMATES,
	.variant = SPACE_SHORTEST,
	MULTIFOLD_OPS,
};

const struct policy_ops policy_mflojf = {
	.name = "mflojf",
	.summary = "limited folding of several at once, longest t(n) first",
	.source = "Ismail 1995 section 3.4 (MFLOJF)",
	.flags = POLICY_FOLDS | POLICY_ESTIMATES,
	.variant = SPACE_LONGEST,
	MULTIFOLD_OPS,
};
