/* leave.c - see leave.h */
#include "policy/migrate/leave.h"

#include <stdlib.h>

#include "policy/kit/evacuate.h"

/* How many times longer than predicted the moves from a host may take (evacuate.h). */
#define DOUBT_SEEN   2
#define DOUBT_UNSEEN 20

REASON(owner_back,
       "the owner of {from:host} needs it, so {ranks} {ranks:rank "
       "leaves|ranks leave}",
       ranks, from);
REASON(drained, "host {from:host} is being drained", from);
REASON(no_place,
       "the owner of {host:host} needs it, and no other host has room", host);
REASON(cannot_go,
       "the owner of {host:host} needs it, and rank {rank} uses something "
       "that cannot move",
       host, rank);
REASON(stands_still,
       "the owner of {host:host} needs it, and the terms let ranks stand "
       "still there until {until:time}",
       host, until);
REASON(owner_gone, "host {host:host} may be used again", host);
REASON(stood_long,
       "rank {rank} has stood still on {host:host} for as long as its owner "
       "allows",
       rank, host);
REASON(vacated, "the owner of {host:host} needs it; the job begins anew", host);
REASON(drained_late,
       "host {host:host} had to be empty by now, and no other one has room "
       "for rank {rank}",
       host, rank);
REASON(failed_there,
       "a move of rank {rank} to {host:host} has just failed, and there is no room "
       "anywhere else",
       rank, host);
REASON(look_again, "job {job} is looked at again then", job);

REASON(work_saved,
       "host {from:host} has to be empty by {by:time}, and {work} processor "
       "seconds of work would be lost there",
       from, by, work);

struct leaving {
	unsigned how;
	const bool *recalled; /* by host, or NULL */
	const struct flights *flights;
	const struct view *view;
	struct plan *plan;
	struct targets *targets;
};

static const struct host *host_of(const struct leaving *l,
				  const struct job *job, uint32_t rank)
{
	return &l->view->hosts[job->hosts[rank]];
}

/* Is the host wanted back from this job?  Not from a job of its owner. */
static bool wanted_back(const struct leaving *l, const struct host *h,
			const struct job *job)
{
	return (h->owner_active || (l->recalled && l->recalled[h->ix])) &&
	       !job_is_home(job, h);
}

/*
 * Must the job's ranks leave the host?  From one that does not answer nothing can be
 * moved.
 */
static bool must_leave(const struct leaving *l, const struct host *h,
		       const struct job *job)
{
	return h->up && (wanted_back(l, h, job) || h->drain);
}

static void freeze(const struct leaving *l, const struct job *job,
		   uint32_t rank, struct because why)
{
	if (!job_rank_frozen(job, rank))
		plan_freeze(l->plan, job, rank, why);
}

/* True if the rank is to stand still for now, because the owner may be gone soon. */
static bool stands(const struct leaving *l, const struct job *job,
		   uint32_t rank)
{
	const struct host *h = host_of(l, job, rank);

	if (!(l->how & LEAVE_FREEZES) || !wanted_back(l, h, job) ||
	    host_goes(h) || h->freeze_until <= l->view->now)
		return false;
	freeze(l, job, rank,
	       BECAUSE(stands_still, .host = h->ix, .until = h->freeze_until));
	plan_wake(l->plan, h->freeze_until,
		  BECAUSE(look_again, .job = job->id));
	return true;
}

/*
 * The time by which a drained host must be empty counts for more than the job: if it
 * has come, requeue the job.  True if it was requeued.
 */
static bool late_for_drain(const struct leaving *l, const struct job *job,
			   uint32_t rank)
{
	const struct host *h = host_of(l, job, rank);

	if (!h->drain || !h->leave_by || !job->requeue)
		return false;
	if (l->view->now >= h->leave_by) {
		plan_requeue(
			l->plan, job,
			BECAUSE(drained_late, .host = h->ix, .rank = rank));
		return true;
	}
	plan_wake(l->plan, h->leave_by, BECAUSE(look_again, .job = job->id));
	return false;
}

/* There is no host for the rank.  True if its job was requeued. */
static bool no_place_for(const struct leaving *l, const struct job *job,
			 uint32_t rank)
{
	const struct host *h = host_of(l, job, rank);
	usec_t until;

	if (!wanted_back(l, h, job) || (host_goes(h) && job->requeue))
		return late_for_drain(l, job, rank);
	if (!(l->how & LEAVE_FREEZES))
		return false;
	freeze(l, job, rank,
	       job_rank_stuck(job, rank)
		       ? BECAUSE(cannot_go, .host = h->ix, .rank = rank)
		       : BECAUSE(no_place, .host = h->ix));
	if (!job->requeue || !h->freeze_most)
		return false;
	until = (job_rank_frozen(job, rank) ? job->ranks->frozen[rank]
					    : l->view->now) +
		h->freeze_most;
	if (until <= l->view->now) {
		plan_requeue(l->plan, job,
			     BECAUSE(stood_long, .rank = rank, .host = h->ix));
		return true;
	}
	plan_wake(l->plan, until, BECAUSE(look_again, .job = job->id));
	return false;
}

static struct because why_leaves(const struct leaving *l, const struct job *job,
				 const struct host *from, uint32_t n)
{
	if (host_goes(from))
		return BECAUSE(work_saved, .from = from->ix,
			       .by = from->leave_by,
			       .work = (int64_t)evacuate_work(l->view, job));
	return wanted_back(l, from, job)
		       ? BECAUSE(owner_back, .ranks = n, .from = from->ix)
		       : BECAUSE(drained, .from = from->ix);
}

static void plan_leave(const struct leaving *l, const struct job *job,
		       uint32_t n, uint32_t *ranks, uint32_t *hosts)
{
	const struct host *first = host_of(l, job, ranks[0]);
	usec_t by = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct host *h = host_of(l, job, ranks[i]);

		if (h->leave_by && (!by || h->leave_by < by))
			by = h->leave_by;
	}
	plan_migrate_by(l->plan, job, n, ranks, hosts, by,
			why_leaves(l, job, first, n));
}

/*
 * Is it known that the rank cannot move?  Without a deadline it is tried again, because
 * the obstacle may have passed.
 */
static bool stuck_there(const struct leaving *l, const struct job *job,
			uint32_t rank)
{
	const struct host *h = host_of(l, job, rank);

	return job_rank_stuck(job, rank) &&
	       (wanted_back(l, h, job) || h->leave_by);
}

/*
 * The target for the rank, or NULL.  A host to which a move has just failed is tried
 * again later if there is no other one; till then it is no place.
 */
static struct target *place_for(const struct leaving *l, const struct job *job,
				uint32_t rank)
{
	uint32_t here = job->hosts[rank], failed = here;
	usec_t later, first = USEC_MAX;
	struct target *to;

	if (!(l->how & LEAVE_MOVES) || stuck_there(l, job, rank))
		return NULL;
	targets_make(l->targets, l->view, l->plan, l->flights);
	to = targets_best(l->targets, job, here, false);
	while (to &&
	       flights_failed(l->flights, job, rank, to->host->ix, &later)) {
		if (later < first)
			failed = to->host->ix;
		first = later < first ? later : first;
		to = targets_next(l->targets, to, job, here, false);
	}
	if (to || first == USEC_MAX)
		return to;
	plan_wake(l->plan, first,
		  BECAUSE(failed_there, .rank = rank, .host = failed));
	return NULL;
}

/* turn: its ranks may also leave hosts that go.  True if any rank moves. */
static bool leave_by_moves(void *ctx, const struct job *job, bool turn)
{
	const struct leaving *l = ctx;
	uint32_t *ranks = plan_hosts(l->plan, job->n);
	uint32_t *hosts = plan_hosts(l->plan, job->n);
	uint32_t n = 0;

	for (uint32_t i = 0; i < job->n; i++) {
		const struct host *h = host_of(l, job, i);
		struct target *to = NULL;

		if (!must_leave(l, h, job) ||
		    flights_find(l->flights, job, i) || stands(l, job, i))
			continue;
		if (turn || !host_goes(h))
			to = place_for(l, job, i);
		if (!to) {
			if (no_place_for(l, job, i))
				return false;
			continue;
		}
		ranks[n] = i;
		hosts[n++] = to->host->ix;
		targets_take(l->targets, to, job);
	}
	if (n)
		plan_leave(l, job, n, ranks, hosts);
	return n;
}

static void thaw_ranks(const struct leaving *l, const struct job *job)
{
	for (uint32_t i = 0; job->ranks->nr_frozen && i < job->n; i++) {
		const struct host *h = host_of(l, job, i);

		if (job_rank_frozen(job, i) && !wanted_back(l, h, job) &&
		    !flights_find(l->flights, job, i))
			plan_thaw(l->plan, job, i,
				  BECAUSE(owner_gone, .host = h->ix));
	}
}

/* Requeue the whole job if any of its hosts is to be given back. */
static void leave_anew(const struct leaving *l, const struct job *job)
{
	for (uint32_t i = 0; job->requeue && i < job->n; i++)
		if (wanted_back(l, host_of(l, job, i), job)) {
			plan_requeue(l->plan, job,
				     BECAUSE(vacated, .host = job->hosts[i]));
			return;
		}
}

bool leave_concerns(const struct view *view, const struct job *job)
{
	for (uint32_t i = 0; i < job->n; i++) {
		const struct host *h = &view->hosts[job->hosts[i]];

		if (!h->up || host_recalls(h, job) || h->drain)
			return true;
	}
	return false;
}

static bool any_to_leave(const struct leaving *l)
{
	const struct host *h;

	for_each_host (h, l->view)
		if (h->nr_ranks && h->up &&
		    (h->owner_active || h->drain ||
		     (l->recalled && l->recalled[h->ix])))
			return true;
	return false;
}

/* ---- hosts that go: whoever loses most is first ---- */

static double seconds_for(void *ctx, const struct job *job, uint32_t host)
{
	const struct leaving *l = ctx;
	bool seen;

	return flights_last_from(l->flights, job, host, &seen);
}

static double doubt_of(void *ctx, uint32_t host)
{
	const struct leaving *l = ctx;
	bool seen = host < l->flights->nr_paces && l->flights->pace[host] > 0;

	return seen ? DOUBT_SEEN : DOUBT_UNSEEN;
}

static bool is_under_way(void *ctx, const struct job *job, uint32_t rank)
{
	const struct leaving *l = ctx;

	return flights_find(l->flights, job, rank);
}

static const struct evacuation in_order = { seconds_for, doubt_of, is_under_way,
					    leave_by_moves };

void leave_hosts(unsigned how, const bool *recalled, const struct flights *f,
		 const struct view *view, struct plan *plan,
		 struct targets *targets)
{
	struct leaving l = { how, recalled, f, view, plan, targets };
	bool any = any_to_leave(&l), *looked = NULL;
	const struct job *j;

	if (any && !(how & LEAVE_ANEW))
		looked = evacuate(view, &in_order, &l);
	for_each_running(j, view)
	{
		if (j->state != JOB_RUNNING || !j->hosts)
			continue;
		if (j->ranks->nr_frozen)
			thaw_ranks(&l, j);
		if (any && (how & LEAVE_ANEW))
			leave_anew(&l, j);
		else if (any && !(looked && looked[j->ix]))
			leave_by_moves(&l, j, true);
	}
	free(looked);
}

void leave_first(unsigned how, struct flights *f, const struct view *view,
		 struct plan *plan, struct targets *targets)
{
	size_t first = plan->nr;

	targets_clear(targets);
	flights_begin_pass(f, view, plan);
	leave_hosts(how, NULL, f, view, plan, targets);
	flights_note(f, plan, first);
}
