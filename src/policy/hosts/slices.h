/*
 * slices.h - the time slices of gang policies (Schnor 1997 section 2.1.4)
 *
 * Time is cut into slices of equal length; which jobs run in a slice is chosen at its
 * start.  Within a slice, hosts that fall idle may go to other jobs until it ends
 * ("alternate selection"), if enough of it is left.  The first slice begins with the
 * first job; none runs while there is no job.  Where a reservation begins, a slice ends
 * early, and the next one leaves those hosts out.  A job with a rank on a host that its
 * owner wants back stands still from that instant on, whatever is left of the slice,
 * because the owner's terms (model/contract.h) do not know slices.  On hosts of its own
 * user a job is no guest: it stays there, and may have them while they take no guests.
 *
 *	slices_init(&s, setup->params);
 *	in decide:
 *		no jobs				slices_stop(&s, view);
 *		slices_cut(&s, view, plan);
 *		slices_over(&s, view)		choose anew; slices_next(...);
 *		slices_give_way(view, plan)	who is in an owner's way stands still
 *		slices_lend(&s, view)		alternate selection, not counting these
 */
#ifndef POLICY_HOSTS_SLICES_H
#define POLICY_HOSTS_SLICES_H

#include <stdbool.h>

#include "policy/kit/policy.h"

struct slices {
	usec_t length, end; /* end: that of the current slice */
	/* share of a slice that must be left for an alternate selection */
	double min_rest;
	bool alternate;
	bool unset; /* no timer is set for the end yet */
};

/* Parameters "slice", "rest" and "alternate", for the tables of gang policies.
 */
#define SLICES_PARAMS                                                       \
	{                                                                   \
		"slice",                                                    \
		PARAM_TIME,                                                 \
		1800,                                                       \
		0.001,                                                      \
		1e9,                                                        \
		NULL,                                                       \
		"length of a time slice"                                    \
	},                                                                  \
		{ "rest",                                                   \
		  PARAM_REAL,                                               \
		  0.1,                                                      \
		  0,                                                        \
		  1,                                                        \
		  NULL,                                                     \
		  "share of a slice that must be left for an alternate "    \
		  "selection" },                                            \
	{                                                                   \
		"alternate", PARAM_BOOL, 1, 0, 0, NULL,                     \
			"alternate selection within a slice (no: Schnor's " \
			"variants _NA)"                                     \
	}

static inline void slices_init(struct slices *s, const struct params *params)
{
	s->length = params_usec(params, "slice");
	s->min_rest = params_real(params, "rest");
	s->alternate = params_bool(params, "alternate");
}

static inline bool slices_over(const struct slices *s, const struct view *view)
{
	return view->now >= s->end;
}

static inline bool slices_lend(const struct slices *s, const struct view *view)
{
	return s->alternate && s->end - view->now >= s->min_rest * s->length;
}

/* Continue a slice that was going on when the policy was made anew. */
static inline void slices_resume(struct slices *s, usec_t end)
{
	s->end = end > 0 ? end : 0;
	s->unset = true;
}

/*
 * Set the timer if that is still to be done; end the slice where a reservation begins,
 * so that its hosts are cleared.
 */
static inline void slices_cut(struct slices *s, const struct view *view,
			      struct plan *plan)
{
	REASON(begins, "a reservation begins and ends the slice");
	REASON(ends, "the slice ends");
	usec_t begin = view_next_reservation(view);

	if (s->unset)
		plan_wake(plan, s->end, BECAUSE(ends));
	s->unset = false;
	if (begin >= s->end)
		return;
	s->end = begin;
	plan_wake(plan, begin, BECAUSE(begins));
}

/* A slice begins now; the policy is woken at its end. */
static inline void slices_next(struct slices *s, const struct view *view,
			       struct plan *plan)
{
	s->end = view->now + s->length;
	s->unset = true;
	slices_cut(s, view, plan);
}

/*
 * The first of the job's hosts that its owner wants back from it; NULL: none, or the job
 * has no hosts.
 */
static inline const struct host *slices_wanted(const struct view *view,
					       const struct job *job)
{
	for (uint32_t i = 0; job->hosts && i < job->n; i++)
		if (host_evicts(&view->hosts[job->hosts[i]], job))
			return &view->hosts[job->hosts[i]];
	return NULL;
}

/* Does the job run, and may it run until the slice ends? */
static inline bool slices_keeps(const struct view *view, const struct job *job)
{
	return job->state == JOB_RUNNING && !slices_wanted(view, job);
}

static inline void slices_give_way(const struct view *view, struct plan *plan)
{
	REASON(wanted, "the owner of {from:host} needs it", from);
	const struct host *from;
	const struct job *j;

	for_each_running(j, view) if (j->state == JOB_RUNNING &&
				      (from = slices_wanted(view, j)))
		plan_suspend(plan, j, BECAUSE(wanted, .from = from->ix));
}

/* policy_ops.most: one rank per host. */
static inline int64_t slices_most(const struct policy *policy,
				  const struct view *view)
{
	return view->nr_hosts;
}

/* End the slices; the next job that comes begins one at once. */
static inline void slices_stop(struct slices *s, const struct view *view)
{
	s->end = view->now;
}

#endif
