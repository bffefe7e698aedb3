/*
 * event.c - what an event does to the state
 */
#include "model/event.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "model/job_index.h"

static const char *const names[] = {
	"arrive",  "start",   "resize",	 "migrate", "suspend", "resume",
	"freeze",  "thaw",    "requeue", "end",	    "host",    "procs",
	"reserve", "release", "booked",	 "timer",   "demand",  "talk",
};

const char *event_name(enum event_type type)
{
	return (size_t)type < sizeof(names) / sizeof(*names) ? names[type]
							     : NULL;
}

const char *event_outcome_name(enum event_outcome outcome)
{
	static const char *const outcomes[] = { "done", "failed", "cancelled",
						"killed", "rejected" };

	return (size_t)outcome < sizeof(outcomes) / sizeof(*outcomes)
		       ? outcomes[outcome]
		       : NULL;
}

static int64_t left_of(uint32_t cores, uint32_t active)
{
	return cores > active ? cores - active : 0;
}

static int64_t host_free(const struct host *h)
{
	return left_of(host_cores(h), h->nr_active);
}

/* Count sign * job's ranks on its hosts, as placed and, if so, as active. */
static void count_ranks(struct view *view, const struct job *job, int ranks,
			int active)
{
	for (uint32_t i = 0; i < job->n; i++) {
		struct host *h = &view->hosts[job->hosts[i]];
		uint32_t cores = host_cores(h);

		view->nr_free -= left_of(cores, h->nr_active);
		h->nr_ranks += (uint32_t)ranks;
		h->nr_active += (uint32_t)active;
		view->nr_free += left_of(cores, h->nr_active);
	}
}

/* Take the processors the job has off the machine (sign -1), or give them. */
static void occupy(struct view *view, const struct job *job, int ranks,
		   int active)
{
	if (view->nr_hosts)
		count_ranks(view, job, ranks, active);
	else
		view->nr_free -= (int64_t)active * job->n;
}

static void set_hosts(struct view *view, struct job *job, uint32_t n,
		      const uint32_t *hosts)
{
	uint32_t *copy = NULL;

	assert(hosts || !view->nr_hosts);
	if (hosts) {
		for (uint32_t i = 0; i < n; i++)
			assert(!view->nr_hosts || hosts[i] < view->nr_hosts);
		copy = xmalloc(n * sizeof(*copy));
		memcpy(copy, hosts, n * sizeof(*copy));
	}
	free(job->hosts);
	job->hosts = copy;
	job->n = n;
}

/* Close the account of the time since the last change. */
static void close_account(const struct view *view, struct job *job)
{
	if (job->state == JOB_RUNNING)
		job->used += (double)job->n * (double)(view->now - job->since) /
			     (double)USEC_PER_SEC;
	job->since = view->now;
}

static void insert_waiting(struct view *view, struct job *job)
{
	struct job *before = TAILQ_LAST(&view->waiting, job_list);

	while (before && job_before(job, before))
		before = TAILQ_PREV(before, job_list, link);
	if (before)
		TAILQ_INSERT_AFTER(&view->waiting, before, job, link);
	else
		TAILQ_INSERT_HEAD(&view->waiting, job, link);
	job->state = JOB_WAITING;
	job->n = 0;
	view->nr_waiting++;
}

static void apply_arrive(struct view *view, struct job *job)
{
	insert_waiting(view, job);
	view_index_add(view, job);
	job->since = view->now;
	view->demand += job->size;
}

static void apply_start(struct view *view, struct job *job, uint32_t n,
			const uint32_t *hosts)
{
	assert(job->state == JOB_WAITING && n > 0);
	TAILQ_REMOVE(&view->waiting, job, link);
	TAILQ_INSERT_TAIL(&view->running, job, link);
	view->nr_waiting--;
	view->nr_running++;
	job->state = JOB_RUNNING;
	job->start = job->since = view->now;
	job->est_end = job->estimate ? usec_add(view->now, job_estimate(job, n))
				     : USEC_MAX;
	if (view->nr_hosts || hosts)
		set_hosts(view, job, n, hosts);
	job->n = n;
	occupy(view, job, 1, 1);
}

/* What it would have done in the time that it stood still is still to do. */
static void make_up(struct job *job, usec_t now)
{
	if (!job->ranks->nr_frozen)
		return;
	if (job->est_end != USEC_MAX)
		job->est_end =
			usec_add(job->est_end, now - job->ranks->still_since);
	view_ranks(job)->still_since = now;
}

static void thaw_all(struct view *view, struct job *job)
{
	struct job_ranks *ranks = view_ranks(job);

	view->nr_frozen -= ranks->nr_frozen > 0;
	free(ranks->frozen);
	ranks->frozen = NULL;
	ranks->nr_frozen = 0;
}

static void set_stuck(struct job *job, uint32_t rank, bool on)
{
	struct job_ranks *ranks;

	if (!on && !job->ranks->stuck)
		return;
	ranks = view_ranks(job);
	if (!ranks->stuck)
		ranks->stuck = xcalloc(job->n, sizeof(*ranks->stuck));
	ranks->stuck[rank] = on;
}

static void forget_stuck(struct job *job)
{
	struct job_ranks *ranks = view_ranks(job);

	free(ranks->stuck);
	ranks->stuck = NULL;
}

static void note_seen(struct job *job, uint32_t rank,
		      const struct rank_seen *seen)
{
	struct job_ranks *ranks;

	if (!rank_is_seen(seen))
		return;
	ranks = view_ranks(job);
	if (!ranks->seen)
		ranks->seen = xcalloc(job->n, sizeof(*ranks->seen));
	rank_seen_again(&ranks->seen[rank], seen);
}

/* Ranks that begin anew, or are others, are not known. */
static void forget_seen(struct job *job)
{
	struct job_ranks *ranks;

	if (!job->ranks->seen)
		return;
	ranks = view_ranks(job);
	free(ranks->seen);
	ranks->seen = NULL;
}

static void apply_freeze(struct view *view, const struct event *e)
{
	struct job *job = e->job;
	struct job_ranks *ranks = view_ranks(job);

	assert(job->state != JOB_WAITING && e->rank < job->n &&
	       !job_rank_frozen(job, e->rank));
	if (!ranks->frozen) {
		ranks->frozen = xmalloc(job->n * sizeof(*ranks->frozen));
		for (uint32_t i = 0; i < job->n; i++)
			ranks->frozen[i] = -1;
	}
	ranks->frozen[e->rank] = view->now;
	if (ranks->nr_frozen++)
		return;
	ranks->still_since = view->now;
	view->nr_frozen++;
}

static void thaw(struct view *view, struct job *job, uint32_t rank)
{
	struct job_ranks *ranks = view_ranks(job);

	ranks->frozen[rank] = -1;
	set_stuck(job, rank, false);
	if (ranks->nr_frozen > 1) {
		ranks->nr_frozen--;
		return;
	}
	if (job->state == JOB_RUNNING)
		make_up(job, view->now);
	thaw_all(view, job);
}

static void apply_thaw(struct view *view, const struct event *e)
{
	assert(e->rank < e->job->n && job_rank_frozen(e->job, e->rank));
	thaw(view, e->job, e->rank);
}

/* Out of the running list, its processors free. */
static void stop(struct view *view, struct job *job)
{
	close_account(view, job);
	occupy(view, job, -1, job->state == JOB_RUNNING ? -1 : 0);
	TAILQ_REMOVE(&view->running, job, link);
	view->nr_running--;
	if (job->ranks->frozen)
		thaw_all(view, job);
	if (job->ranks->stuck)
		forget_stuck(job);
	forget_seen(job);
}

static void apply_end(struct view *view, struct job *job)
{
	view_index_remove(view, job);
	if (job->state == JOB_WAITING) {
		TAILQ_REMOVE(&view->waiting, job, link);
		view->nr_waiting--;
	} else {
		stop(view, job);
	}
	view->demand -= job->size;
}

static void apply_requeue(struct view *view, struct job *job)
{
	if (job->state == JOB_WAITING)
		return;
	stop(view, job);
	job->lost = job->used;
	free(job->hosts);
	job->hosts = NULL;
	insert_waiting(view, job);
}

static void apply_resize(struct view *view, const struct event *e)
{
	struct job *job = e->job;

	assert(job->state == JOB_RUNNING && e->n > 0);
	close_account(view, job);
	occupy(view, job, -1, -1);
	make_up(job, view->now);
	if (e->n != job->n) {
		thaw_all(view, job);
		forget_stuck(job);
		forget_seen(job);
	}
	if (job->est_end != USEC_MAX)
		job->est_end = usec_add(view->now + e->cost,
					speedup_scale(&job->speedup,
						      job->est_end - view->now,
						      job->n, e->n));
	if (view->nr_hosts || e->hosts)
		set_hosts(view, job, e->n, e->hosts);
	job->n = e->n;
	occupy(view, job, 1, 1);
}

static void apply_migrate(struct view *view, const struct event *e)
{
	struct job *job = e->job;
	int active = job->state == JOB_RUNNING;
	bool came;

	assert(job->state != JOB_WAITING && job->hosts && e->rank < job->n &&
	       e->host < view->nr_hosts);
	came = job->hosts[e->rank] != e->host;
	close_account(view, job);
	occupy(view, job, -1, -active);
	job->hosts[e->rank] = e->host;
	if (came && job_rank_frozen(job, e->rank))
		thaw(view, job, e->rank);
	if (came || !e->untried) /* which tells nothing of what it holds */
		set_stuck(job, e->rank, e->refused);
	note_seen(job, e->rank, &e->seen);
	occupy(view, job, 1, active);
	if (job->est_end != USEC_MAX)
		job->est_end = usec_add(job->est_end, e->cost);
}

static void apply_suspend(struct view *view, struct job *job)
{
	assert(job->state == JOB_RUNNING);
	close_account(view, job);
	occupy(view, job, 0, -1);
	make_up(job, view->now);
	job->state = JOB_SUSPENDED;
	if (job->est_end != USEC_MAX)
		job->est_end -= view->now;
}

static void apply_resume(struct view *view, const struct event *e)
{
	struct job *job = e->job;

	assert(job->state == JOB_SUSPENDED);
	close_account(view, job);
	if (e->hosts) {
		occupy(view, job, -1, 0);
		set_hosts(view, job, job->n, e->hosts);
		occupy(view, job, 1, 0);
	}
	job->state = JOB_RUNNING;
	if (job->ranks->nr_frozen)
		view_ranks(job)->still_since = view->now;
	occupy(view, job, 0, 1);
	if (job->est_end != USEC_MAX)
		job->est_end = usec_add(job->est_end, view->now + e->cost);
}

/* Of a job that begins anew it holds until more is known. */
static void apply_talk(struct job *job, uint32_t n, const struct job_talk *talk)
{
	struct job_ranks *ranks = view_ranks(job);

	free(ranks->talk);
	ranks->talk = n ? xmalloc(n * sizeof(*talk)) : NULL;
	if (n)
		memcpy(ranks->talk, talk, n * sizeof(*talk));
	ranks->nr_talks = n;
}

static void apply_host(struct view *view, const struct event *e)
{
	struct host *h = &view->hosts[e->host];
	const char *name = h->name;

	assert(e->host < view->nr_hosts);
	view->nr_free -= host_free(h);
	view->nr_procs -= host_cores(h);
	memcpy(h, e->fresh, offsetof(struct host, nr_ranks));
	h->ix = e->host;
	h->name = name;
	view->nr_procs += host_cores(h);
	view->nr_free += host_free(h);
}

void model_apply(struct view *view, const struct event *e)
{
	assert(e->at >= view->now);
	view->now = e->at;
	switch (e->type) {
	case EVENT_ARRIVE:
		apply_arrive(view, e->job);
		break;
	case EVENT_START:
		apply_start(view, e->job, e->n, e->hosts);
		break;
	case EVENT_RESIZE:
		apply_resize(view, e);
		break;
	case EVENT_MIGRATE:
		apply_migrate(view, e);
		break;
	case EVENT_SUSPEND:
		apply_suspend(view, e->job);
		break;
	case EVENT_RESUME:
		apply_resume(view, e);
		break;
	case EVENT_FREEZE:
		apply_freeze(view, e);
		break;
	case EVENT_THAW:
		apply_thaw(view, e);
		break;
	case EVENT_REQUEUE:
		apply_requeue(view, e->job);
		break;
	case EVENT_END:
		apply_end(view, e->job);
		break;
	case EVENT_HOST:
		apply_host(view, e);
		break;
	case EVENT_PROCS:
		view->nr_free += e->n - view->nr_procs;
		view->nr_procs = e->n;
		break;
	case EVENT_RESERVE:
		view->hosts[e->host].reserved++;
		break;
	case EVENT_RELEASE:
		assert(view->hosts[e->host].reserved);
		view->hosts[e->host].reserved--;
		break;
	case EVENT_DEMAND:
		e->job->demand = e->bytes;
		break;
	case EVENT_TALK:
		apply_talk(e->job, e->n, e->talk);
		break;
	case EVENT_BOOKED:
	case EVENT_TIMER:
		break;
	}
}
