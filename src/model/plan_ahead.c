/*
 * plan_ahead.c - what the reservations that lie ahead leave to a plan
 *
 * Between two events the free processors grow as jobs end, and shrink only
 * where a reservation begins.  So a job fits from now until its end if it fits
 * now and at the beginning of each reservation before that: one number for each
 * of them is all that has to be kept.
 */
#include "core/xalloc.h"
#include "model/plan.h"

struct plan_ahead {
	usec_t at;     /* a reservation begins */
	int64_t procs; /* free then, by what is known and planned */
};

REASON(why_reserved,
       "on {procs} {procs:processor|processors} it would still run at "
       "{begin:time}, when a reservation begins that leaves {left} to it",
       procs, begin, left);

/* May the job be shrunk to its min_size? */
static bool shrinks(const struct plan *plan, const struct job *job)
{
	return plan->shrinks && job->kind == JOB_MALLEABLE;
}

/* When it will have given its n processors back, as is believed. */
static usec_t believed_end(const struct plan *plan, const struct job *job,
			   uint32_t n)
{
	usec_t now = plan->view->now, length;

	if (shrinks(plan, job))
		return USEC_MAX;
	if (job->state == JOB_WAITING) {
		length = job_estimate(job, n);
		return !length || length > USEC_MAX - now ? USEC_MAX
							  : now + length;
	}
	if (job->est_end > now)
		return job->est_end;
	return now + (now > job->start ? now - job->start : 1);
}

/*
 * How many processors the job withholds from a reservation that begins while it
 * has n.
 */
static int64_t held(const struct plan *plan, const struct job *job, uint32_t n)
{
	return n && shrinks(plan, job) ? job->min_size : n;
}

static int64_t free_at(const struct plan *plan, usec_t at)
{
	const struct view *view = plan->view;
	int64_t n = view->nr_free;
	const struct job *j;

	for_each_running(j, view)
	{
		if (j->state != JOB_RUNNING)
			continue;
		if (believed_end(plan, j, j->n) <= at)
			n += view_gives_back(view, j);
		else
			n += j->n - held(plan, j, j->n);
	}
	for (uint32_t i = 0; i < view->nr_reservations; i++) {
		const struct reservation *r = &view->reservations[i];

		if (r->held)
			n += r->to <= at ? r->procs : 0;
		else if (r->from <= at && r->to > at)
			n -= r->procs;
	}
	return n;
}

static void look_ahead(struct plan *plan)
{
	const struct view *view = plan->view;

	if (plan->looked_ahead)
		return;
	plan->looked_ahead = true;
	for (uint32_t i = 0; i < view->nr_reservations; i++) {
		const struct reservation *r = &view->reservations[i];

		if (r->held)
			continue;
		array_room(plan->ahead, plan->nr_ahead, &plan->cap_ahead);
		plan->ahead[plan->nr_ahead++] =
			(struct plan_ahead){ r->from, free_at(plan, r->from) };
	}
}

void plan_shrinks(struct plan *plan)
{
	plan->shrinks = true;
}

int64_t plan_spare(struct plan *plan)
{
	int64_t least = INT64_MAX;

	look_ahead(plan);
	for (size_t i = 0; i < plan->nr_ahead; i++)
		if (plan->ahead[i].procs < least)
			least = plan->ahead[i].procs;
	return least;
}

/* Where job on n processors would meet the tightest beginning before its end,
 * and what is left to it then; NULL if it meets none. */
static const struct plan_ahead *tightest(const struct plan *plan,
					 const struct job *job, uint32_t n,
					 int64_t *ret_left)
{
	usec_t end = believed_end(plan, job, n);
	const struct plan_ahead *found = NULL;

	for (size_t i = 0; i < plan->nr_ahead; i++) {
		const struct plan_ahead *a = &plan->ahead[i];

		if (a->at < end && (!found || a->procs < found->procs))
			found = a;
	}
	if (found)
		*ret_left =
			found->procs + held(plan, job, plan_size(plan, job));
	return found;
}

void plan_refuse(struct plan *plan, const struct job *job, uint32_t n)
{
	int64_t left = 0;
	const struct plan_ahead *a = tightest(plan, job, n, &left);

	plan_defer(plan, job,
		   BECAUSE(why_reserved, .procs = n,
			   .begin = a ? a->at : plan->view->now,
			   .left = left > 0 ? left : 0));
}

uint32_t plan_allows(struct plan *plan, const struct job *job, uint32_t n,
		     uint32_t least)
{
	uint32_t wanted = n;
	int64_t left;

	if (n < least || !plan->view->nr_reservations)
		return n < least ? 0 : n;
	look_ahead(plan);
	/* On fewer processors it may run longer, and meet more of them. */
	while (n && n >= least && tightest(plan, job, n, &left) &&
	       held(plan, job, n) > left)
		n = left > 0 && !shrinks(plan, job) ? (uint32_t)left : 0;
	if (n && n >= least)
		return n;
	plan_refuse(plan, job, wanted);
	return 0;
}

void plan_ahead_take(struct plan *plan, const struct job *job, uint32_t n)
{
	int64_t more =
		held(plan, job, n) - held(plan, job, plan_size(plan, job));
	usec_t end = believed_end(plan, job, n);

	look_ahead(plan);
	for (size_t i = 0; i < plan->nr_ahead; i++)
		if (plan->ahead[i].at < end)
			plan->ahead[i].procs -= more;
}
