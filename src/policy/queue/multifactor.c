/*
 * multifactor.c - a weighted sum of age, fair share and size, as Slurm's
 * priority/multifactor has it
 *
 *   priority = w_age min(1, wait / max_age) + w_fair 2^(-U/S) + w_size n/P
 *
 * U is the user's share of the processor time used by all users, where use counts half
 * after each half-life; S is 1 / number of users.  Use is charged as it happens, also
 * for running jobs.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "core/xalloc.h"
#include "policy/kit/ranked.h"

/* Decayed processor seconds, exact for a constant number of processors. */
struct usage {
	double used;
	int64_t procs; /* processors in use since then */
	usec_t since;
};

struct user {
	int32_t id;
	struct usage usage;
	UT_hash_handle hh;
};

struct multifactor {
	struct policy base;
	struct ranked ranked;
	double age, fair, size; /* weights */
	usec_t max_age;
	double half_life; /* seconds */
	struct user *users;
	struct usage all;
};

static const struct param params[] = {
	{ "age", PARAM_REAL, 1000, 0, 1e9, NULL, "weight of the age" },
	{ "fair", PARAM_REAL, 10000, 0, 1e9, NULL, "weight of the fair share" },
	{ "size", PARAM_REAL, 1000, 0, 1e9, NULL, "weight of the size" },
	{ "max-age", PARAM_TIME, 604800, 1, 1e9, NULL,
	  "wait at which the age counts in full" },
	{ "half-life", PARAM_TIME, 604800, 1, 1e9, NULL,
	  "time after which use counts half" },
	{ "fit", PARAM_CHOICE, RANKED_EASY, 0, 0, ranked_fits,
	  "behind the first that does not fit: all wait; all that fit start; "
	  "those that do not delay it start" },
	{ .name = NULL },
};

static double used_at(const struct multifactor *p, const struct usage *u,
		      usec_t now)
{
	double k = M_LN2 / p->half_life;
	usec_t past = now > u->since ? now - u->since : 0;
	double keep = exp(-k * (double)past / USEC_PER_SEC);

	return u->used * keep + (double)u->procs / k * (1 - keep);
}

static void charge(const struct multifactor *p, struct usage *u, usec_t now,
		   int64_t procs)
{
	u->used = used_at(p, u, now);
	u->since = now;
	u->procs += procs;
}

static struct user *user_of(struct multifactor *p, int32_t id, usec_t now)
{
	struct user *u;

	HASH_FIND(hh, p->users, &id, sizeof(id), u);
	if (u)
		return u;
	u = xcalloc(1, sizeof(*u));
	u->id = id;
	u->usage.since = now;
	HASH_ADD(hh, p->users, id, sizeof(id), u);
	return u;
}

static double score(const void *ctx, const struct view *view,
		    const struct job *job)
{
	const struct multifactor *p = ctx;
	double wait = (double)(view->now - job->submit);
	double total = used_at(p, &p->all, view->now), share = 0;
	struct user *u;

	HASH_FIND(hh, p->users, &job->user, sizeof(job->user), u);
	if (u && total > 0)
		share = used_at(p, &u->usage, view->now) / total;
	return p->age * fmin(1, wait / (double)p->max_age) +
	       p->fair * exp2(-share * HASH_COUNT(p->users)) +
	       p->size * job->size / (double)view->nr_procs;
}

static int multifactor_create(const struct policy_setup *setup,
			      struct policy **ret, struct error *err)
{
	const struct params *v = setup->params;
	struct multifactor *p = xcalloc(1, sizeof(*p));

	(void)err;
	p->age = params_real(v, "age");
	p->fair = params_real(v, "fair");
	p->size = params_real(v, "size");
	p->max_age = params_usec(v, "max-age");
	p->half_life = usec_to_seconds(params_usec(v, "half-life"));
	p->all.since = setup->view->now;
	ranked_init(&p->ranked, (enum ranked_fit)params_choice(v, "fit"));
	*ret = &p->base;
	return 0;
}

static void change_usage(struct multifactor *p, const struct job *job,
			 usec_t now, int64_t procs)
{
	charge(p, &user_of(p, job->user, now)->usage, now, procs);
	charge(p, &p->all, now, procs);
}

static void multifactor_event(struct policy *policy, const struct view *view,
			      const struct event *event)
{
	struct multifactor *p = (struct multifactor *)policy;

	switch (event->type) {
	case EVENT_ARRIVE:
		user_of(p, event->job->user, view->now);
		break;
	case EVENT_START:
		change_usage(p, event->job, view->now, event->n);
		break;
	case EVENT_END:
	case EVENT_REQUEUE:
		if (event->job->n)
			change_usage(p, event->job, view->now,
				     -(int64_t)event->job->n);
		break;
	default:
		break;
	}
	ranked_event(&p->ranked, event);
}

static void multifactor_decide(struct policy *policy, const struct view *view,
			       struct plan *plan)
{
	struct multifactor *p = (struct multifactor *)policy;

	ranked_decide(&p->ranked, view, plan, score, p);
	for (size_t i = 0; i < plan->nr; i++)
		if (plan->entry[i].type == PLAN_START)
			change_usage(p, plan->entry[i].job, view->now,
				     plan->entry[i].n);
}

static void multifactor_explain(const struct policy *policy,
				const struct view *view, const struct job *job,
				struct plan *plan)
{
	ranked_explain(view, job, plan, score, policy);
}

/*
 * Saved: all use, then one line per user: processor seconds, and until when they are
 * decayed.
 */
static void multifactor_save(const struct policy *policy,
			     const struct view *view, FILE *to)
{
	const struct multifactor *p = (const struct multifactor *)policy;

	fprintf(to, "%.17g %" PRId64 "\n", p->all.used, p->all.since);
	for (const struct user *u = p->users; u; u = u->hh.next)
		fprintf(to, "%" PRId32 " %.17g %" PRId64 "\n", u->id,
			u->usage.used, u->usage.since);
}

/* Use since then is charged when it is next looked at. */
static bool restore(struct usage *u, double used, usec_t since)
{
	if (!(used >= 0 && used < 1e300) || since < 0)
		return false;
	u->used = used;
	u->since = since;
	return true;
}

static int multifactor_load(struct policy *policy, const struct view *view,
			    const char *text, struct error *err)
{
	struct multifactor *p = (struct multifactor *)policy;
	int32_t id;
	usec_t since;
	double used;
	int n;

	if (sscanf(text, "%lf %" SCNd64 "\n%n", &used, &since, &n) != 2 ||
	    !restore(&p->all, used, since))
		return policy_damaged(policy, text, err);
	for (text += n; *text; text += n)
		if (sscanf(text, "%" SCNd32 " %lf %" SCNd64 "\n%n", &id, &used,
			   &since, &n) != 3 ||
		    !restore(&user_of(p, id, view->now)->usage, used, since))
			return policy_damaged(policy, text, err);
	return 0;
}

static void multifactor_destroy(struct policy *policy)
{
	struct multifactor *p = (struct multifactor *)policy;
	struct user *u, *tmp;

	HASH_ITER (hh, p->users, u, tmp) {
		HASH_DEL(p->users, u);
		free(u);
	}
	ranked_clear(&p->ranked);
	free(p);
}

const struct policy_ops policy_multifactor = {
	.name = "multifactor",
	.summary = "age, fair share and size, weighted; backfilled",
	.source = "Slurm 22.05, priority/multifactor (classic fair share)",
	.details =
		"priority = age * min(1, wait / max-age) + fair * 2^(-U/S) + "
		"size * n / P, where U is the user's share of all use, which "
		"counts half after each half-life, and S is 1 / number of "
		"users. A pass costs O(n), since every priority changes with "
		"time.",
	.params = params,
	.flags = POLICY_ESTIMATES,
	.create = multifactor_create,
	.event = multifactor_event,
	.decide = multifactor_decide,
	.explain = multifactor_explain,
	.save = multifactor_save,
	.load = multifactor_load,
	.destroy = multifactor_destroy,
};
