/*
 * view.h - what a policy sees: the jobs, the hosts, the time
 *
 * Invariants:
 * - a job is in exactly one list: waiting (ordered by submit, id) or running
 *   (in the order of its starts; suspended jobs are there too);
 * - nr_free = nr_procs - (sum of n over the running list, where suspended
 *   jobs that keep their hosts do not count).  It may be negative while a
 *   host drains: then nothing fits;
 * - a driver that only counts processors has nr_hosts == 0 and sets nr_procs;
 *   with hosts, nr_procs is the sum of host_cores().  Both numbers hold in
 *   either case, so a policy that does not care which processor it gets runs
 *   under both.
 *
 * Policies get a const view; only model_apply() (model/event.h) changes one.
 */
#ifndef MODEL_VIEW_H
#define MODEL_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "model/host.h"
#include "model/job.h"

/*
 * Processors set aside for somebody between two instants.  Announced, it lies
 * in the future: a job that starts must leave room for it (plan_start() ensures
 * that). Held, its processors are not in nr_procs until its end; on a machine
 * with hosts, host->booked has the number on each.
 */
struct reservation {
	int64_t id;
	usec_t from, to;
	uint32_t procs;
	bool held;
};

struct view {
	usec_t now;
	int64_t nr_procs; /* usable ones */
	int64_t nr_free;  /* of them, not allocated */
	int64_t demand;	  /* P_d: sum of size over waiting and running */
	uint32_t nr_waiting;
	uint32_t nr_running;	 /* suspended ones included */
	uint32_t nr_frozen;	 /* of them, with ranks that stand still */
	struct job_list waiting; /* by (submit, id) */
	struct job_list running; /* in the order they started */

	struct host *hosts; /* nr_hosts of them, by ix; NULL if none */
	uint32_t nr_hosts;

	const struct reservation *reservations; /* known ones that are not over,
						   by (from, id) */
	uint32_t nr_reservations;

	/* The jobs' store. */
	uint32_t nr_slots; /* every job's ix is below this */
	struct view_pool *pool;
};

#define for_each_waiting(j, view) TAILQ_FOREACH (j, &(view)->waiting, link)
/* The latest submission first. */
#define for_each_waiting_reverse(j, view) \
	TAILQ_FOREACH_REVERSE(j, &(view)->waiting, job_list, link)
#define for_each_running(j, view) TAILQ_FOREACH (j, &(view)->running, link)
/* Adding even 0 to a NULL pointer, as counted machines have, is undefined. */
#define for_each_host(h, view)                                           \
	for ((h) = (view)->hosts;                                        \
	     (view)->nr_hosts && (h) < (view)->hosts + (view)->nr_hosts; \
	     (h)++)

/*
 * Is it a host of the job's own user?  Its ranks are no guests there: they stay
 * when the owner comes, count for no contract, and may start while guests may not.
 */
static inline bool job_is_home(const struct job *job, const struct host *h)
{
	for (uint32_t i = 0; i < h->nr_owners; i++)
		if (h->owner[i] == job->user)
			return true;
	return false;
}

/* May a rank of job be placed there at all?  host_usable() says it of guests. */
static inline bool host_takes(const struct host *h, const struct job *job)
{
	return host_usable(h) || (h->closed && !closed_to_all(h->closed) &&
				  host_serves(h) && job_is_home(job, h));
}

/*
 * Will the job, by its estimate, be over before the host closes?  Of one without an
 * estimate nobody knows, and it can be moved when the time comes.
 */
static inline bool host_outlasts(const struct host *h, const struct job *job,
				 usec_t now)
{
	usec_t end = job->state != JOB_WAITING ? job->est_end
		     : job->estimate	       ? now + job->estimate
					       : USEC_MAX;

	return !h->open_until || end == USEC_MAX || end <= h->open_until;
}

/* Must that job's ranks get out?  host_wanted() says it of guests. */
static inline bool host_evicts(const struct host *h, const struct job *job)
{
	return host_wanted(h) && !job_is_home(job, h);
}

/* Is its owner to have it back from that job? */
static inline bool host_recalls(const struct host *h, const struct job *job)
{
	return h->owner_active && !job_is_home(job, h);
}

/* An empty view of a machine of procs processors that are only counted. */
void view_init(struct view *view, uint32_t procs);

/*
 * An empty view of hosts[0..n), which are copied; their ix is set, the names
 * are not copied.
 */
void view_init_hosts(struct view *view, const struct host *hosts, uint32_t n);

/* Frees what init and the jobs took, and every job. */
void view_clear(struct view *view);

/*
 * A fresh job with ix set and everything else zero, but -1 for user, group,
 * app, queue and partition.  Its address is good until view_job_destroy().
 */
struct job *view_job_create(struct view *view);

/* Give back a job that is in no list (after EVENT_END, or never arrived). */
void view_job_destroy(struct view *view, struct job *job);

/* The job in slot ix, for policies that keep slots; it must be in use. */
struct job *view_job(const struct view *view, uint32_t ix);

/* For events alone: its job->ranks, its own from then on. */
struct job_ranks *view_ranks(struct job *job);

/*
 * The job with this id that waits or runs, or NULL.  By a hash, which is made at the
 * first call; ids do not change while a job is in a list.
 */
struct job *view_find_job(const struct view *view, int64_t id);

/*
 * The same for ids that were written down in the order of a list: quick where
 * it is the job behind the last one found (NULL: the first of a list).
 */
struct job *view_find_next(const struct view *view, const struct job *last,
			   int64_t id);

/* What the machine has, usable just now or not: all cores of its hosts. */
int64_t view_cores(const struct view *view);

/* When the next reservation that is not held yet begins; USEC_MAX if there is
 * none. */
usec_t view_next_reservation(const struct view *view);

/*
 * Processors of a running job that others may have after it: not those on hosts that are being
 * drained.
 */
uint32_t view_gives_back(const struct view *view, const struct job *job);

/*
 * A job's rate of progress, relative to idle hosts of speed 1: that of its
 * slowest rank, 1 / host_delay() (strong synchronization, Schnor 1997 section
 * 1.3.2), and less where ranks talk to other hosts (model/talk.h).  0 unless it runs;
 * 1 where processors are only counted.
 */
double view_rate(const struct view *view, const struct job *job);

/*
 * The same of a pool of tasks, whose ranks take work as they go and never wait
 * for each other (Schnor 1997 section 1.3.2): the mean of the ranks' rates.
 */
double view_pool_rate(const struct view *view, const struct job *job);

#endif
