/* leave.c - ranks get out of the way of owners, see leave.h */
#include "policy/kit/leave.h"

#include <stdlib.h>

#include "model/place.h"
#include "policy/kit/evacuate.h"

/*
 * How long moves take is not learnt here: it is assumed to be 64 MB at 100 MB/s, and a
 * fixed time for each.  There must be time for DOUBT times as much (evacuate.h).
 */
#define RATE	     100e6
#define FIXED	     0.3
#define MEMORY_GUESS (64 << 20)
#define DOUBT	     20

REASON(owner_wants,
       "the owner of {from:host} needs it, and the delay is least on {to:host}",
       from, to);
REASON(owner_freezes,
       "the owner of {from:host} needs it, and the terms let guests stand "
       "still there until {until:time}",
       from, until);
REASON(nowhere_to_go,
       "the owner of {from:host} needs it, and no other host takes guests",
       from);
REASON(cannot_go,
       "the owner of {from:host} needs it, and rank {rank} uses something "
       "that cannot move",
       from, rank);
REASON(stood_too_long,
       "rank {rank} has stood still on {from:host} for as long as its owner "
       "allows ({most:time}), and no other host takes it",
       rank, from, most);
REASON(drained_by,
       "{from:host} is being drained, and has to be empty by {until:time}; "
       "the delay is least on {to:host}",
       from, to, until);
REASON(drained_till_then, "{from:host} has to be empty by then", from);
REASON(drained_late,
       "{from:host} had to be empty by {until:time}, and no other host takes "
       "rank {rank}",
       from, rank, until);
REASON(host_is_free, "the owner of {from:host} does not need it any more",
       from);
REASON(till_then, "ranks may stand still on {from:host} until then", from);

/* Does the plan do something with that rank already? */
static bool is_planned(const struct plan *plan, const struct job *job,
		       uint32_t rank)
{
	for (size_t i = 0; i < plan->nr; i++) {
		const struct plan_entry *e = &plan->entry[i];

		if (e->job != job)
			continue;
		if (e->type == PLAN_REQUEUE || e->type == PLAN_RESIZE ||
		    e->type == PLAN_SUSPEND ||
		    ((e->type == PLAN_FREEZE || e->type == PLAN_THAW) &&
		     e->rank == rank))
			return true;
		for (uint32_t k = 0; e->type == PLAN_MIGRATE && k < e->n; k++)
			if (e->ranks[k] == rank)
				return true;
	}
	return false;
}

struct leaving {
	const struct view *view;
	struct plan *plan;
};

static struct because why_moves(const struct host *h, uint32_t to)
{
	return host_goes(h) ? BECAUSE(drained_by, .from = h->ix, .to = to,
				      .until = h->leave_by)
			    : BECAUSE(owner_wants, .from = h->ix, .to = to);
}

static bool move_out(const struct view *view, struct plan *plan,
		     const struct job *job, uint32_t rank)
{
	const struct host *h = &view->hosts[job->hosts[rank]];
	uint32_t *both = plan_hosts(plan, 2);

	if (job_rank_stuck(job, rank) ||
	    !place_least_delay(view, plan, 1, false, &both[1]))
		return false;
	both[0] = rank;
	plan_migrate_by(plan, job, 1, both, both + 1, h->leave_by,
			why_moves(h, both[1]));
	return true;
}

/*
 * There is no host for the rank: it stands still, and once it has done so for as long
 * as it may, its job begins anew.
 */
static void stand_or_requeue(const struct view *view, struct plan *plan,
			     const struct job *job, uint32_t rank)
{
	const struct host *h = &view->hosts[job->hosts[rank]];
	usec_t until = job->ranks->frozen[rank] + h->freeze_most;

	if (!job->requeue || !h->freeze_most)
		return;
	if (view->now >= until)
		plan_requeue(plan, job,
			     BECAUSE(stood_too_long, .rank = rank,
				     .from = h->ix, .most = h->freeze_most));
	else
		plan_wake(plan, until, BECAUSE(till_then, .from = h->ix));
}

static struct because why_stands(const struct job *job, uint32_t rank,
				 uint32_t host)
{
	return job_rank_stuck(job, rank)
		       ? BECAUSE(cannot_go, .from = host, .rank = rank)
		       : BECAUSE(nowhere_to_go, .from = host);
}

static void rank_leaves(const struct view *view, struct plan *plan,
			const struct job *job, uint32_t rank)
{
	const struct host *h = &view->hosts[job->hosts[rank]];
	bool frozen = job_rank_frozen(job, rank);

	if (h->freeze_until > view->now) {
		if (!frozen)
			plan_freeze(plan, job, rank,
				    BECAUSE(owner_freezes, .from = h->ix,
					    .until = h->freeze_until));
		plan_wake(plan, h->freeze_until,
			  BECAUSE(till_then, .from = h->ix));
	} else if (!move_out(view, plan, job, rank)) {
		if (frozen)
			stand_or_requeue(view, plan, job, rank);
		else
			plan_freeze(plan, job, rank,
				    why_stands(job, rank, h->ix));
	}
}

/*
 * The host is to be empty by a certain time, which counts for more than the job.  True
 * if the rank moves.
 */
static bool leaves_drained(const struct leaving *l, const struct job *job,
			   uint32_t rank, bool turn)
{
	const struct host *h = &l->view->hosts[job->hosts[rank]];

	if (turn && move_out(l->view, l->plan, job, rank))
		return true;
	if (!job->requeue && host_evicts(h, job) && !job_rank_frozen(job, rank))
		plan_freeze(l->plan, job, rank, why_stands(job, rank, h->ix));
	if (!job->requeue)
		return false;
	if (l->view->now < h->leave_by)
		plan_wake(l->plan, h->leave_by,
			  BECAUSE(drained_till_then, .from = h->ix));
	else
		plan_requeue(l->plan, job,
			     BECAUSE(drained_late, .from = h->ix, .rank = rank,
				     .until = h->leave_by));
	return false;
}

/* True if it moves because its host goes. */
static bool look_at_rank(const struct leaving *l, const struct job *job,
			 uint32_t rank, bool turn)
{
	const struct host *h = &l->view->hosts[job->hosts[rank]];

	if (host_goes(h) &&
	    (host_evicts(h, job) || !job_rank_frozen(job, rank)))
		return leaves_drained(l, job, rank, turn);
	if (host_evicts(h, job))
		rank_leaves(l->view, l->plan, job, rank);
	else
		plan_thaw(l->plan, job, rank,
			  BECAUSE(host_is_free, .from = h->ix));
	return false;
}

static bool look_at_job(void *ctx, const struct job *job, bool turn)
{
	const struct leaving *l = ctx;
	bool moves = false;

	for (uint32_t i = 0; i < job->n; i++) {
		const struct host *h = &l->view->hosts[job->hosts[i]];

		if (!h->up || !(host_evicts(h, job) || host_goes(h) ||
				job_rank_frozen(job, i)))
			continue;
		if (is_planned(l->plan, job, i))
			moves |= host_goes(h);
		else
			moves |= look_at_rank(l, job, i, turn);
	}
	return moves;
}

/* ---- hosts that go: whoever loses most is first ---- */

static double seconds_for(void *ctx, const struct job *job, uint32_t host)
{
	(void)ctx;
	(void)host;
	return FIXED +
	       (double)(job->memory ? job->memory : MEMORY_GUESS) / RATE;
}

static double doubt_of(void *ctx, uint32_t host)
{
	(void)ctx;
	(void)host;
	return DOUBT;
}

/* Ranks that are on their way already are planned again, and come first as before. */
static const struct evacuation in_order = { seconds_for, doubt_of, NULL,
					    look_at_job };

void leave_going(const struct view *view, struct plan *plan)
{
	struct leaving l = { view, plan };

	free(evacuate(view, &in_order, &l));
}

void leave_owned(const struct view *view, struct plan *plan)
{
	struct leaving l = { view, plan };
	size_t first = plan->nr;
	bool *looked = evacuate(view, &in_order, &l);
	bool any = looked;
	const struct host *h;
	const struct job *j;

	for_each_host (h, view)
		any |= host_wanted(h) && h->nr_ranks;
	if (any || view->nr_frozen)
		for_each_running(j, view) if (j->state == JOB_RUNNING &&
					      j->hosts &&
					      !(looked && looked[j->ix]))
			look_at_job(&l, j, true);
	free(looked);
	for (size_t i = first; i < plan->nr; i++)
		plan->entry[i].told = true;
}
