/* leave.c - ranks get out of the way of owners, see leave.h */
#include "policy/kit/leave.h"

#include "model/place.h"

REASON(owner_wants,
       "{from:host} is its owner's now, and the delay is least on {to:host}",
       from, to);
REASON(owner_freezes,
       "{from:host} is its owner's now, whose terms have guests stand still "
       "till {until:time}",
       from, until);
REASON(nowhere_to_go,
       "{from:host} is its owner's now, and no other host takes guests", from);
REASON(stood_too_long,
       "rank {rank} has stood still on {from:host} for as long as its owner "
       "allows ({most:time}), and no host takes it",
       rank, from, most);
REASON(host_is_free, "{from:host} is not its owner's any more", from);
REASON(till_then, "till then ranks may stand still on {from:host}", from);

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

/* Not where nobody keeps its owner's terms. */
static bool wants_out(const struct host *h)
{
	return h->owner_active && h->closed;
}

static bool move_out(const struct view *view, struct plan *plan,
		     const struct job *job, uint32_t rank)
{
	const struct host *h = &view->hosts[job->hosts[rank]];
	uint32_t *both = plan_hosts(plan, 2);

	if (!place_least_delay(view, plan, 1, false, &both[1]))
		return false;
	both[0] = rank;
	plan_migrate_by(plan, job, 1, both, both + 1, h->leave_by,
			BECAUSE(owner_wants, .from = h->ix, .to = both[1]));
	return true;
}

/* It stands still, there is no place for it, and that may not go on for ever. */
static void stand_or_requeue(const struct view *view, struct plan *plan,
			     const struct job *job, uint32_t rank)
{
	const struct host *h = &view->hosts[job->hosts[rank]];
	usec_t until = job->frozen[rank] + h->freeze_most;

	if (!job->requeue || !h->freeze_most)
		return;
	if (view->now >= until)
		plan_requeue(plan, job,
			     BECAUSE(stood_too_long, .rank = rank,
				     .from = h->ix, .most = h->freeze_most));
	else
		plan_wake(plan, until, BECAUSE(till_then, .from = h->ix));
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
				    BECAUSE(nowhere_to_go, .from = h->ix));
	}
}

static void look_at_job(const struct view *view, struct plan *plan,
			const struct job *job)
{
	for (uint32_t i = 0; i < job->n; i++) {
		const struct host *h = &view->hosts[job->hosts[i]];

		if (!h->up || (!wants_out(h) && !job_rank_frozen(job, i)) ||
		    is_planned(plan, job, i))
			continue;
		if (wants_out(h))
			rank_leaves(view, plan, job, i);
		else
			plan_thaw(plan, job, i,
				  BECAUSE(host_is_free, .from = h->ix));
	}
}

void leave_owned(const struct view *view, struct plan *plan)
{
	size_t first = plan->nr;
	const struct host *h;
	const struct job *j;
	bool any = false;

	for_each_host (h, view)
		any |= wants_out(h) && h->nr_ranks;
	if (!any && !view->nr_frozen)
		return;
	for_each_running(j, view) if (j->state == JOB_RUNNING && j->hosts)
		look_at_job(view, plan, j);
	for (size_t i = first; i < plan->nr; i++)
		plan->entry[i].told = true;
}
