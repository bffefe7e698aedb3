/*
 * start.c - start a job's ranks, and start some of them again
 *
 * A rank that has not reported that it runs, and whose keeper is surely gone (its agent
 * is connected, and has no such keeper), has printed nothing and not communicated with
 * other ranks.  It is started again on the same host, by a keeper with a new epoch.  If
 * the earlier keeper was only about to be started and comes up after all, it is never
 * sent a program: only the keeper of rank->epoch is.
 *
 * A rank whose host is given up (lost_after) goes to another host if its keeper was
 * surely never sent the program.  A controller knows that only of what it sent itself,
 * not of what an earlier one sent (doc/design/40).
 *
 * A rank that its host refuses, because the owner has come back, has no keeper there
 * and so has not begun: it goes to another host, or waits.
 *
 * A rank whose keeper failed before it was sent the program has not begun either, nor
 * has one whose keeper says so (Failed.begun): it is tried on another host, or there once
 * more, a few times.
 */
#include <string.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/account.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/host.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/rank.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/users/users.h"
#include "core/log.h"
#include "core/xalloc.h"

/* A host on which so many starts have failed is given up for the rank. */
enum { STARTS_AGAIN = 3 };

/* The job is started on n ranks, perhaps fewer than it asked for. */
static void set_ranks(struct ctl_job *job, uint32_t n)
{
	if (n == job->nr)
		return;
	job->nr = n;
	pmi_gather_destroy(job->pmi.gather);
	job->pmi.gather = pmi_gather_create(n);
}

void ctl_job_start(struct ctl_job *job, uint32_t n, const uint32_t *hosts)
{
	set_ranks(job, n);
	job->spec->started_ranks = n;
	ctl_job_set_why(job, "");
	ctl_job_set_state(job, STATE(STARTING));
	ctl_job_watch_time(job);
	for (uint32_t i = 0; i < job->nr; i++)
		ctl_rank_place(&job->ranks[i], job->ctl->hosts.at[hosts[i]],
			       ctl_pool_take(job->ctl));
	for (uint32_t i = 0; i < job->nr; i++)
		klink_start(&job->ranks[i], job->ranks[i].host,
			    job->ranks[i].epoch);
	ctl_job_tell(job);
}

void ctl_rank_started(struct ctl_rank *r)
{
	struct ctl_job *job = r->job;

	if (r->state != STATE(STARTING))
		return;
	ctl_rank_runs(r);
	ctl_rank_signals(r);
	if (r->planned)
		ctl_sched_stays(r, STAYS_UNTRIED);
	r->planned = false;
	for (uint32_t i = 0; i < job->nr; i++)
		if (job->ranks[i].state == STATE(STARTING))
			return;
	if (job->state != STATE(STARTING))
		return;
	ctl_job_set_state(job, STATE(RUNNING));
	ctl_job_tell(job);
}

bool ctl_rank_may_begin(const struct ctl_rank *r)
{
	return r->state == STATE(STARTING) && !r->job->exit &&
	       !r->job->spec->stopping && !r->job->spec->requeuing && r->host;
}

static bool may_start_again(const struct ctl_rank *r)
{
	return ctl_rank_may_begin(r) &&
	       (r->refused || r->starts < STARTS_AGAIN);
}

static void start_again(struct ctl_rank *r, struct ctl_host *host)
{
	ctl_rank_place_again(r, host);
	log_info("job=%llu rank=%u host=%s epoch=%llu start=again",
		 (unsigned long long)r->job->id, r->rank, r->host->name,
		 (unsigned long long)r->epoch);
	klink_start(r, r->host, r->epoch);
}

/* Is the host one of those that the job's user named, if any? */
static bool may_be_at(const struct ctl_rank *r, const struct ctl_host *h)
{
	const Control__Submit *s = r->job->spec;
	struct error err;
	size_t i = 0;

	while (i < s->n_hosts && strcmp(s->hosts[i], h->name))
		i++;
	return (i < s->n_hosts || !s->n_hosts) && h->agent && !h->drain &&
	       ctl_host_admits(h, r->job, &err) >= 0 &&
	       !strcmp(h->net, r->host->net) &&
	       ctl_limit_host(r->job, h, &err) >= 0;
}

/* Does the host have a free core for the rank? */
static bool has_core(const struct ctl_rank *r, const struct ctl_host *h)
{
	const struct host *v = &ctl_sched_view(r->job->ctl)->hosts[h->ix];

	return v->nr_ranks - (r->host == h && v->nr_ranks) < v->cores;
}

/* Has a keeper of the rank failed there? */
static bool was_unready_at(const struct ctl_rank *r, const struct ctl_host *h)
{
	unsigned n =
		r->unready < RANK_UNREADY_MOST ? r->unready : RANK_UNREADY_MOST;

	for (unsigned i = 0; i < n; i++)
		if (r->unready_at[i] == h->ix)
			return true;
	return false;
}

/* A host where no keeper of the rank has failed is better, then the emptiest. */
static bool is_better(const struct ctl_rank *r, const struct ctl_host *h,
		      const struct ctl_host *best)
{
	const struct host *v = ctl_sched_view(r->job->ctl)->hosts;
	bool failed = was_unready_at(r, h);

	if (!best || failed != was_unready_at(r, best))
		return !best || !failed;
	return v[h->ix].nr_ranks < v[best->ix].nr_ranks;
}

/* A host with a free core for the rank, but not that one; the best; or NULL. */
static struct ctl_host *another_host(const struct ctl_rank *r,
				     const struct ctl_host *but)
{
	const struct ctl *ctl = r->job->ctl;
	struct ctl_host *best = NULL;

	for (size_t i = 0; i < ctl->hosts.nr; i++) {
		struct ctl_host *h = ctl->hosts.at[i];

		if (h != but && has_core(r, h) && may_be_at(r, h) &&
		    is_better(r, h, best))
			best = h;
	}
	return best;
}

bool ctl_rank_elsewhere(struct ctl_rank *r)
{
	struct klink *k = klink_of(r);
	struct ctl_host *to;

	if (r->refused && ctl_rank_may_begin(r))
		return true; /* the rank waits for any host */
	/* Only if no earlier start of this rank can have sent the program. */
	if (!may_start_again(r) || r->starts || r->inherited || !k ||
	    k->start_sent)
		return false;
	to = another_host(r, NULL);
	if (!to)
		return false;
	klink_kill(k); /* the keeper is killed if it ever connects */
	start_again(r, to);
	ctl_sched_migrated(r);
	return true;
}

/* ---- refused by a host */

static bool refused_elsewhere(struct ctl_rank *r)
{
	struct ctl_host *to = another_host(r, NULL);
	bool moves = to && to != r->host;

	if (!to)
		return false;
	start_again(r, to);
	if (moves)
		ctl_sched_migrated(r);
	return true;
}

/* Has certainly no rank been sent the program, by this controller or an earlier one? */
static bool none_begun(const struct ctl_job *job)
{
	for (uint32_t i = 0; i < job->nr; i++) {
		const struct ctl_rank *r = &job->ranks[i];
		const struct klink *k = klink_of(r);

		if (r->state != STATE(STARTING) || r->inherited || r->starts ||
		    (k && k->start_sent))
			return false;
	}
	return true;
}

void ctl_rank_refused(struct ctl_rank *r, struct ctl_host *h, int code,
		      const char *why)
{
	struct ctl_job *job = r->job;
	char *text = xasprintf("rank %u has not begun: %s", r->rank, why);

	log_info("job=%llu rank=%u host=%s start=refused why=\"%s\"",
		 (unsigned long long)job->id, r->rank, h->name,
		 ctl_log_text(job->ctl, why));
	ctl_rank_is_refused(r);
	ctl_host_refuses(h, code);
	ctl_sched_host(h);
	if (refused_elsewhere(r)) {
		ctl_job_act(job, "", "rank %u goes to %s: %s", r->rank,
			    r->host->name, why);
	} else if (none_begun(job) || job->spec->requeue) {
		ctl_job_wait_again(job, text);
	} else {
		job->ctl->jobs.refused = true;
		ctl_job_set_why(job, text);
		ctl_job_store(job);
	}
	free(text);
}

void ctl_ranks_start_refused(struct ctl *ctl)
{
	struct ctl_job *job;
	bool left = false;

	if (!ctl->jobs.refused)
		return;
	TAILQ_FOREACH (job, &ctl->jobs.list, link)
		for (uint32_t i = 0; i < job->nr; i++) {
			struct ctl_rank *r = &job->ranks[i];

			if (!r->refused || !ctl_rank_may_begin(r))
				continue;
			if (!refused_elsewhere(r))
				left = true;
			else
				ctl_job_set_why(job, "");
		}
	ctl->jobs.refused = left;
}

/* ---- a keeper that failed */

bool ctl_rank_unready(struct ctl_rank *r, const char *why)
{
	struct ctl_host *was = r->host, *to = another_host(r, was);

	if (!to && was->agent)
		to = was;
	if (!to || r->unready >= RANK_UNREADY_MOST)
		return false;
	ctl_rank_is_unready(r);
	ctl_job_act(r->job, "", "rank %u starts again on %s; on %s %s", r->rank,
		    to->name, was->name, why);
	start_again(r, to);
	if (to != was)
		ctl_sched_migrated(r);
	return true;
}

void ctl_rank_keeper_died(struct ctl_rank *r)
{
	if (may_start_again(r) && r->host->agent)
		start_again(r, r->host);
	else
		ctl_rank_lost(r, "its keeper has died");
}
