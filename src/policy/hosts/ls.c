/*
 * ls.c - largest size first (Schnor 1997 §2.1.1)
 *
 * LS: a job's priority starts at its size; at each activation of the scheduler every
 * job that cannot start gains 1. Jobs at maxprio are served first come, first served,
 * and the first of them that does not fit blocks all others.
 *
 * All waiting jobs gain together, so priority = min(maxprio, size + A - a), where A
 * counts activations and a is A at the job's arrival.  Below maxprio the order is that
 * of size - a, which never changes.  So there are two sets: `aged` by arrival, and
 * `young` by size - a.  With n waiting jobs, a pass costs O(log n) for each job that
 * starts or reaches maxprio, and once more.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "policy/kit/fitset.h"
#include "policy/kit/policy.h"

struct policy_ls {
	struct policy base;
	int64_t activations; /* A */
	int64_t maxprio;
	struct fitset aged;  /* by arrival */
	struct fitset young; /* by a - size, the highest priority first */
};

REASON(why_fits,
       "it fits {free} free {free:processor|processors}, and the largest job "
       "goes first",
       free);
REASON(why_wait,
       "it needs {size} {size:processor|processors}; its priority is "
       "{priority} of at most {most}",
       size, priority, most);

static const struct param params[] = {
	{ .name = "maxprio",
	  .type = PARAM_INT,
	  .def = 0,
	  .min = 0,
	  .max = 1e9,
	  .summary = "priority at which a job is served first come, first "
		     "served; 0: twice the number of processors" },
	{ .name = NULL }
};

static int ls_create(const struct policy_setup *setup, struct policy **ret,
		     struct error *err)
{
	struct policy_ls *p = xcalloc(1, sizeof(*p));

	(void)err;
	p->maxprio = params_int(setup->params, "maxprio");
	if (!p->maxprio)
		p->maxprio = 2 * view_cores(setup->view);
	*ret = &p->base;
	return 0;
}

static void enter_job(struct policy_ls *p, const struct job *job, int64_t prio)
{
	fitset_insert(&p->young, job, p->activations - prio);
}

static void leave(struct policy_ls *p, const struct job *job)
{
	fitset_remove(&p->young, job);
	fitset_remove(&p->aged, job);
}

/* The job's priority, as it would be without maxprio. */
static int64_t prio_of(const struct policy_ls *p, const struct job *job)
{
	return fitset_has(&p->young, job)
		       ? p->activations - fitset_key(&p->young, job)
		       : p->maxprio;
}

static void ls_event(struct policy *policy, const struct view *view,
		     const struct event *event)
{
	struct policy_ls *p = (struct policy_ls *)policy;

	(void)view;
	switch (event->type) {
	case EVENT_ARRIVE:
	case EVENT_REQUEUE:
		enter_job(p, event->job, event->job->size);
		break;
	case EVENT_START: /* also told when a running cluster is adopted */
	case EVENT_END:
		leave(p, event->job);
		break;
	default:
		break;
	}
}

/*
 * Jobs that have reached maxprio, which are at the head of young, change to the other
 * set.
 */
static void promote(struct policy_ls *p)
{
	const struct job *job;

	while ((job = fitset_first(&p->young)) &&
	       prio_of(p, job) >= p->maxprio) {
		fitset_remove(&p->young, job);
		fitset_insert(&p->aged, job, 0);
	}
}

static bool start_job(struct policy_ls *p, const struct job *job,
		      struct plan *plan)
{
	int64_t left = plan_free(plan);

	if (job->size > left ||
	    !plan_start(plan, job, job->size, BECAUSE(why_fits, .free = left)))
		return false;
	leave(p, job);
	return true;
}

static void ls_decide(struct policy *policy, const struct view *view,
		      struct plan *plan)
{
	struct policy_ls *p = (struct policy_ls *)policy;
	const struct job *job, *young, *passed = NULL;

	promote(p);
	while ((job = fitset_first(&p->aged)) && start_job(p, job, plan))
		;
	while (!job && (young = fitset_fit(&p->young, passed, plan_free(plan))))
		if (!start_job(p, young, plan))
			passed = young;
	p->activations++;
}

static void ls_explain(const struct policy *policy, const struct view *view,
		       const struct job *job, struct plan *plan)
{
	const struct policy_ls *p = (const struct policy_ls *)policy;

	plan_defer(plan, job,
		   BECAUSE(why_wait, .size = job->size,
			   .priority = prio_of(p, job), .most = p->maxprio));
}

/* One line per job: its id and its priority. */
static void ls_save(const struct policy *policy, const struct view *view,
		    FILE *to)
{
	const struct policy_ls *p = (const struct policy_ls *)policy;
	const struct job *job;

	for_each_waiting(job, view) fprintf(to, "%" PRId64 " %" PRId64 "\n",
					    job->id, prio_of(p, job));
}

static int ls_load(struct policy *policy, const struct view *view,
		   const char *text, struct error *err)
{
	struct policy_ls *p = (struct policy_ls *)policy;
	const struct job *job = NULL;
	int64_t id, prio;
	int n;

	for (; *text; text += n) {
		if (sscanf(text, "%" SCNd64 " %" SCNd64 "\n%n", &id, &prio,
			   &n) != 2)
			return policy_damaged(policy, text, err);
		prio = prio < 0 ? 0 : prio > p->maxprio ? p->maxprio : prio;
		job = view_find_next(view, job, id);
		if (!job || job->state != JOB_WAITING)
			continue; /* the job has gone meanwhile */
		leave(p, job);
		enter_job(p, job, prio);
	}
	return 0;
}

static void ls_destroy(struct policy *policy)
{
	struct policy_ls *p = (struct policy_ls *)policy;

	fitset_clear(&p->aged);
	fitset_clear(&p->young);
	free(p);
}

const struct policy_ops policy_ls = {
	.name = "ls",
	.summary = "largest size first, with aging",
	.source = "Schnor 1997 section 2.1.1",
	.details =
		"The queue is scanned by priority, and every job that fits is "
		"started. Priority starts at the size; a job that cannot start "
		"gains 1 at each activation (arrivals and ends at one instant "
		"are one activation); jobs at maxprio go first come, first "
		"served before all others, and the first that does not fit "
		"blocks the rest. Ties go to the earlier arrival. The paper "
		"gives no maxprio: the default is twice the number of "
		"processors (doc/reproduction.md shows what less does). A "
		"pass costs O(log n) for each job that starts or comes to "
		"maxprio.",
	.params = params,
	.create = ls_create,
	.event = ls_event,
	.decide = ls_decide,
	.explain = ls_explain,
	.save = ls_save,
	.load = ls_load,
	.destroy = ls_destroy,
};
