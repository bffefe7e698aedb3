/*
 * patient.c - a scheduling policy of one's own, outside Stint's sources
 *
 *	cc -shared -fPIC -o patient.so patient.c $(pkg-config --cflags stint-policy)
 *	stint policies --test ./patient.so
 *	stint sim -p ./patient.so:patience=2h -w ismail
 *
 * Jobs start in the order of submission.  Where one does not fit, those behind it may go
 * first, but only until it has waited for as long as patience says: then nobody overtakes it,
 * and the running jobs drain away before it.  So no job starves, and no estimates are needed.
 *
 * A pass looks at the waiting jobs up to the first that is out of patience.
 */
#include <policy/kit/own.h>

#include <core/xalloc.h>

struct patient {
	struct policy base; /* the first, always */
	usec_t patience;
};

REASON(next, "it needs {size} of {free} free {free:processor|processors}", size,
       free);
REASON(too_large,
       "it needs {size} {size:processor|processors} of which {free} {free:is|are} free",
       size, free);
REASON(behind, "job {job} before it has waited for too long to be overtaken",
       job);

static const struct param params[] = {
	{ .name = "patience",
	  .type = PARAM_TIME,
	  .def = 3600,
	  .max = 1e9,
	  .summary =
		  "a job that has waited for so long is overtaken by nobody" },
	{ 0 }
};

static int patient_create(const struct policy_setup *setup, struct policy **ret,
			  struct error *err)
{
	struct patient *p = xcalloc(1, sizeof(*p));

	(void)err;
	p->patience = params_usec(setup->params, "patience");
	*ret = &p->base;
	return 0;
}

static int out_of_patience(const struct policy *policy, const struct view *view,
			   const struct job *job)
{
	const struct patient *p = (const struct patient *)policy;

	return view->now - job->submit >= p->patience;
}

static void patient_decide(struct policy *policy, const struct view *view,
			   struct plan *plan)
{
	const struct job *j;

	for_each_waiting(j, view)
	{
		if (j->size <= plan_free(plan) &&
		    plan_start(plan, j, j->size,
			       BECAUSE(next, .size = j->size,
				       .free = plan_free(plan))))
			continue;
		if (out_of_patience(policy, view, j))
			return;
	}
}

static void patient_explain(const struct policy *policy,
			    const struct view *view, const struct job *job,
			    struct plan *plan)
{
	const struct job *head = TAILQ_FIRST(&view->waiting);

	if (head != job && out_of_patience(policy, view, head))
		plan_defer(plan, job, BECAUSE(behind, .job = head->id));
	else
		plan_defer(plan, job,
			   BECAUSE(too_large, .size = job->size,
				   .free = view->nr_free));
}

static const struct policy_ops patient = {
	.name = "patient",
	.summary =
		"first come, first served; overtaken for a limited time only",
	.source = "an example of Stint's",
	.details =
		"Jobs start in the order of submission.  Those behind one that does not "
		"fit may start before it until it has waited for patience.",
	.params = params,
	.create = patient_create,
	.decide = patient_decide,
	.explain = patient_explain,
};

OWN_POLICY(patient);
