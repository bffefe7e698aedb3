/*
 * job.h - a job, as a policy sees it
 *
 * Life: a driver takes a job from view_job_create(), fills in what was asked
 * for, and applies EVENT_ARRIVE.  From then on only events change it:
 *
 *              START            SUSPEND
 *   WAITING ----------> RUNNING --------> SUSPENDED
 *      ^                 | | ^              |
 *      '---- REQUEUE ----' | '--- RESUME ---'
 *                          '--- END ---> (gone)        END also from WAITING
 *                                                      (cancelled)
 * After EVENT_END was told to the policy the driver gives the job back with
 * view_job_destroy(), and its index ix is used again.
 *
 * Policies never see a job's true run time, only the user's estimate; the
 * papers' workloads set the one to the other.
 */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/units.h"
#include "model/speedup.h"

enum job_state { JOB_WAITING, JOB_RUNNING, JOB_SUSPENDED };

enum job_kind {
	JOB_RIGID,     /* runs on size processors or not at all */
	JOB_MOLDABLE,  /* any number in [min_size, size], fixed at its start */
	JOB_MALLEABLE, /* and that number may change while it runs */
};

/* Of two of its ranks, a < b: what they send each other a second, both ways. */
struct job_talk {
	uint32_t a, b;
	double bytes, segments;
};

/* What was seen of a rank as it moved last; all zeros: nothing yet. */
struct rank_seen {
	usec_t stood;	   /* still, */
	usec_t predicted;  /* ... which its engine had expected; 0: not known */
	uint64_t written;  /* bytes of its memory that it wrote, */
	usec_t written_in; /* ... in that time; 0: not known */
};

static inline bool rank_is_seen(const struct rank_seen *s)
{
	return s->stood || s->predicted || s->written_in;
}

/* It has moved again: what that does not show is known from before. */
static inline void rank_seen_again(struct rank_seen *s,
				   const struct rank_seen *now)
{
	if (now->stood)
		s->stood = now->stood;
	if (now->predicted)
		s->predicted = now->predicted;
	if (!now->written_in)
		return;
	s->written = now->written;
	s->written_in = now->written_in;
}

/* Bytes of its memory that it writes a second; -1: not known. */
static inline double rank_writes(const struct rank_seen *s)
{
	return s->written_in ? (double)s->written * USEC_PER_SEC /
				       (double)s->written_in
			     : -1;
}

/* Of its single ranks; most jobs have nothing to tell of them. */
struct job_ranks {
	usec_t *frozen; /* n: since when a rank stands still, -1: it does not;
			    NULL: none does */
	bool *stuck;	/* n: a move was refused for what the rank holds, and it
			has not been frozen and thawed since; NULL: of none */
	uint32_t nr_frozen;	/* of the ranks; the whole job waits for them */
	struct rank_seen *seen; /* n; NULL: none has moved */
	uint32_t nr_talks;
	usec_t still_since;    /* there are frozen ones since then */
	struct job_talk *talk; /* nr_talks, by (a, b); NULL: nothing is known */
};

extern const struct job_ranks job_no_ranks;

struct job {
	/* What was asked for: set before EVENT_ARRIVE, then constant. */
	int64_t id;    /* ours or the trace's; every tie is broken by it */
	uint32_t ix;   /* dense: below view->nr_slots; for a policy's arrays */
	uint32_t size; /* processors (ranks) asked for: the papers' maxsize */
	uint32_t min_size; /* fewest it runs on; rigid: size */
	uint8_t kind;	   /* enum job_kind */
	uint8_t state;	   /* enum job_state */
	bool requeue;	   /* may be taken off its hosts and begin anew */
	usec_t submit;
	usec_t estimate; /* of its run time on size processors of speed 1; 0:
			    none was given */
	uint64_t memory; /* bytes a process; 0: not known */
	uint32_t home;	 /* host it was submitted at, + 1; 0: at none */
	int32_t user, group, app, queue, partition; /* -1: not known */
	struct speedup speedup;
	void *driver; /* the driver's own; no policy looks at it */

	/* What became of it: changed by events. */
	uint32_t n;	 /* processors it has now; 0 while waiting */
	uint32_t *hosts; /* n host indices, one a rank; NULL where the driver
			    only counts processors.  Owned by the model. */
	usec_t start;	 /* of its (last) start */
	usec_t since;	 /* of the last change of n, hosts or state */
	usec_t est_end;	 /* when it would end by its estimate; USEC_MAX when
			    none was given; of a suspended job: what is left */
	double used;	 /* processor seconds had before since */
	double lost;	 /* of used: what it had before it began anew */
	uint64_t demand; /* bytes a process of it was last seen to need; 0: not
			    known, as of one that has not run */
	const struct job_ranks *ranks; /* never NULL; owned by the model */
	TAILQ_ENTRY(job) link;	       /* in view->waiting or view->running */
};

TAILQ_HEAD(job_list, job);

static inline bool job_rank_frozen(const struct job *job, uint32_t rank)
{
	return job->ranks->frozen && job->ranks->frozen[rank] >= 0;
}

static inline bool job_rank_stuck(const struct job *job, uint32_t rank)
{
	return job->ranks->stuck && job->ranks->stuck[rank];
}

/* All zeros where nothing is known. */
static inline struct rank_seen job_rank_seen(const struct job *job,
					     uint32_t rank)
{
	return job->ranks->seen ? job->ranks->seen[rank]
				: (struct rank_seen){ .stood = 0 };
}

/* Does a come before b by (submit, id), the order that breaks every tie? */
static inline bool job_before(const struct job *a, const struct job *b)
{
	return a->submit != b->submit ? a->submit < b->submit : a->id < b->id;
}

/* For how long it runs on size processors by its estimate; USEC_MAX: none was given. */
static inline usec_t job_length(const struct job *job)
{
	return job->estimate ? job->estimate : USEC_MAX;
}

/* The estimate of its run time on m processors; 0 when there is none. */
usec_t job_estimate(const struct job *job, uint32_t m);

#endif
