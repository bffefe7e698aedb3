/*
 * plan.c - carrying out what the policy plans
 *
 * Starts are done at once, on hosts of the policy's choice or, for policies that only
 * count processors, on free cores.  Moves take time: the policy is told of their
 * outcome by EVENT_MIGRATE. Of a start that cannot be done it is told by EVENT_REQUEUE;
 * that is tried again when something has happened.
 */
#include "cluster/controller/plan/plan.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/rank_move/rank_move.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/account.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/rank.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/waiters.h"
#include "core/log.h"
#include "model/place.h"

static void log_entry(const struct ctl *ctl, const struct plan_entry *e)
{
	char line[256];

	plan_print(ctl_sched_view(ctl), e, line, sizeof(line));
	log_info("plan=\"%s\"", line);
}

/* ---- starts ---- */

static bool usable(const struct view *view, const struct job *job,
		   const uint32_t *hosts, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!host_takes(&view->hosts[hosts[i]], job))
			return false;
	return true;
}

/* The hosts that the job is to start on; NULL if there are not enough. */
static const uint32_t *hosts_for(struct ctl *ctl, struct plan *plan,
				 const struct plan_entry *e)
{
	const struct view *view = ctl_sched_view(ctl);
	uint32_t *hosts = e->hosts;

	if (!hosts) {
		hosts = plan_hosts(plan, e->n);
		if (!place_on_cores(view, NULL, e->n, hosts))
			return NULL;
	}
	return usable(view, e->job, hosts, e->n) ? hosts : NULL;
}

static void do_start(struct ctl *ctl, struct plan *plan,
		     const struct plan_entry *e)
{
	struct ctl_job *job = e->job->driver;
	const uint32_t *hosts = hosts_for(ctl, plan, e);
	struct event event = {
		.type = EVENT_START, .job = e->job, .n = e->n, .hosts = hosts
	};

	log_entry(ctl, e);
	if (hosts) {
		ctl_sched_apply(ctl, &event, false);
		ctl_job_start(job, e->n, hosts);
		return;
	}
	log_warnx("job=%llu start=refused why=\"no hosts for it\"",
		  (unsigned long long)job->id);
	event = (struct event){ .type = EVENT_REQUEUE, .job = e->job };
	ctl_sched_apply(ctl, &event, true);
}

/* ---- moves ---- */

/* Note in the job's history on whose behalf the rank moves, and why. */
static void note_drained(const struct ctl_rank *r)
{
	const struct ctl_drained *d = &r->host->drained;

	if (r->host->drain)
		ctl_job_act(r->job, d->who, "rank %u leaves %s: %s", r->rank,
			    r->host->name,
			    *d->reason ? d->reason : "it is drained");
}

/*
 * A move that has just failed is tried again later.  Where its host is wanted back the
 * rank stands still till then; policies that remember moves plan that themselves.
 */
static void try_later(struct ctl_rank *r, uint32_t host)
{
	if (move_pause_tells(&r->pause, host))
		ctl_sched_stays(r, STAYS_FAILED);
	ctl_rank_give_way(r);
	ctl_sched_wake(r->job->ctl, r->pause.until);
}

/*
 * A move of it is under way, or it does not run yet: the policy is asked again after that.
 * One that has landed where it is not wanted any more waits for its old host's word alone.
 */
static void not_now(struct ctl_rank *r)
{
	r->planned = true;
	if (r->move && r->move->landed)
		ctl_rank_give_way(r);
}

/* Begin a planned move; where the rank does not move now the policy is told. */
static void do_move(struct ctl *ctl, const struct plan_entry *e, uint32_t rank,
		    uint32_t host)
{
	struct ctl_job *job = e->job->driver;
	struct ctl_rank *r = &job->ranks[rank];
	const struct ctl_move_bounds bounds = { .by = e->type == PLAN_MIGRATE
							      ? e->at
							      : 0 };
	struct error err;

	if (ctl_move_under_way(r) || r->state != STATE(RUNNING)) {
		not_now(r);
		return;
	}
	if (move_pauses(&r->pause, host, ctl_now())) {
		try_later(r, host);
		return;
	}
	log_entry(ctl, e);
	if (ctl_move_begin(r, ctl->hosts.at[host], bounds, NULL, &err) < 0) {
		log_warnx("job=%llu rank=%u move=refused why=\"%s\"",
			  (unsigned long long)job->id, r->rank, err.text);
		ctl_rank_could_not_go(r, ctl->hosts.at[host]);
		ctl_host_check_drained(r->host, err.text);
		ctl_sched_stays(r, STAYS_FAILED);
		return;
	}
	note_drained(r);
}

/* A PLAN_RESIZE with the same number of ranks: move those that get other hosts. */
static void do_resize(struct ctl *ctl, const struct plan_entry *e)
{
	for (uint32_t i = 0; e->hosts && e->n == e->job->n && i < e->n; i++)
		if (e->hosts[i] != e->job->hosts[i])
			do_move(ctl, e, i, e->hosts[i]);
}

/* ---- standing still, and beginning anew ---- */

/* One that does not run yet cannot: once it does the policy is asked again. */
static void do_freeze(struct ctl *ctl, const struct plan_entry *e)
{
	struct ctl_job *job = e->job->driver;
	struct ctl_rank *r = &job->ranks[e->rank];

	r->planned |= r->state == STATE(STARTING);
	if (ctl_rank_freeze(r, e->type == PLAN_FREEZE, e->told))
		log_entry(ctl, e);
}

/* The job's ranks end first; EVENT_REQUEUE comes after that. */
static void do_requeue(struct ctl *ctl, const struct plan_entry *e)
{
	struct ctl_job *job = e->job->driver;
	struct error err;
	char why[256];

	if (job->spec->requeuing)
		return;
	log_entry(ctl, e);
	because_print(ctl_sched_view(ctl), &e->why, why, sizeof(why));
	if (ctl_job_requeue(job, why, &err) < 0)
		log_warnx("job=%llu requeue=refused why=\"%s\"",
			  (unsigned long long)job->id, err.text);
}

/* Tell peers that wait until a host is empty if no plan empties it. */
static void check_stuck(struct ctl *ctl, const struct plan *plan)
{
	for (size_t i = 0; i < ctl->hosts.nr; i++) {
		struct ctl_host *h = ctl->hosts.at[i];
		struct ctl_move *m;
		bool moving = false;

		if (TAILQ_EMPTY(&h->drainers))
			continue;
		TAILQ_FOREACH (m, &ctl->moves, link)
			moving |= m->from == h || m->to == h;
		for (size_t j = 0; j < plan->nr; j++) {
			const struct plan_entry *e = &plan->entry[j];

			for (uint32_t k = 0;
			     e->type == PLAN_MIGRATE && k < e->n; k++)
				moving |= e->job->hosts[e->ranks[k]] == h->ix;
		}
		if (!moving)
			ctl_host_check_drained(
				h, "no other host has room for its ranks");
	}
}

/* ---- all of it ---- */

static void do_reserve(struct ctl *ctl, const struct plan_entry *e)
{
	struct event event = { .type = e->type == PLAN_RESERVE ? EVENT_RESERVE
							       : EVENT_RELEASE,
			       .host = e->host };

	ctl_sched_apply(ctl, &event, false);
}

static void carry_out(struct ctl *ctl, struct plan *plan,
		      const struct plan_entry *e)
{
	switch (e->type) {
	case PLAN_START:
		do_start(ctl, plan, e);
		break;
	case PLAN_MIGRATE:
		for (uint32_t i = 0; i < e->n; i++)
			do_move(ctl, e, e->ranks[i], e->hosts[i]);
		break;
	case PLAN_RESIZE:
		do_resize(ctl, e);
		break;
	case PLAN_FREEZE:
	case PLAN_THAW:
		do_freeze(ctl, e);
		break;
	case PLAN_REQUEUE:
		do_requeue(ctl, e);
		break;
	case PLAN_RESERVE:
	case PLAN_RELEASE:
		do_reserve(ctl, e);
		break;
	case PLAN_WAKE:
		ctl_sched_wake(ctl, e->at);
		break;
	case PLAN_DEFER:
	/* policies that plan these are refused by policy_check_live() */
	case PLAN_SUSPEND:
	case PLAN_RESUME:
		break;
	}
}

void ctl_plan_pass(struct ctl *ctl)
{
	usec_t now = ctl_now();
	struct plan *plan;

	ctl_jobs_follow(ctl);
	ctl_arrays_go_on(ctl);
	ctl_jobs_start_named(ctl);
	ctl_ranks_start_refused(ctl);
	plan = ctl_sched_decide(ctl, now);
	for (size_t i = 0; i < plan->nr; i++)
		carry_out(ctl, plan, &plan->entry[i]);
	check_stuck(ctl, plan);
	ctl_jobs_prune_some(ctl);
}
