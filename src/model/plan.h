/*
 * plan.h - what a policy wants done, and why
 *
 * A plan is a list of entries in the order they are to be carried out.  Every
 * entry has a reason with its numbers, BECAUSE(...) (model/reason.h).
 *
 * While a policy builds it, a plan also answers what will be left once it is
 * carried out: plan_free(), plan_size(), plan_room().  The view itself does
 * not change during a pass.
 *
 * A plan refuses a start that would run into a reservation, and has a DEFER
 * entry with the reason in its place.  A job's run time is taken to be its
 * estimate.  Without an estimate it counts as unlimited, so that the job only
 * gets processors that are not reserved at any time; a job that has exceeded
 * its estimate is expected to take as long again.
 *
 * The driver resets a plan before each pass and owns it; host arrays live in
 * it until the next reset.
 */
#ifndef MODEL_PLAN_H
#define MODEL_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/error.h"
#include "model/reason.h"
#include "model/view.h"

enum plan_type {
	PLAN_START,   /* job on n processors: hosts, or the driver's choice */
	PLAN_RESIZE,  /* running job to n processors: hosts, or choice */
	PLAN_MIGRATE, /* n ranks of job to as many hosts, side by side */
	PLAN_SUSPEND, /* job */
	PLAN_RESUME,  /* job; on hosts where given, else where it was */
	PLAN_FREEZE,  /* rank of job: it stands still, and the job with it */
	PLAN_THAW,    /* rank of job */
	PLAN_REQUEUE, /* job, which allows it: it gives up its hosts, and waits
			 to begin anew */
	PLAN_RESERVE, /* host takes only jobs that this policy starts there */
	PLAN_RELEASE, /* host */
	PLAN_DEFER,   /* job waits on, and this is why */
	PLAN_WAKE,    /* send EVENT_TIMER at an instant */
};

struct plan_entry {
	enum plan_type type;
	uint32_t n; /* processors; MIGRATE: ranks */
	struct job *job;
	uint32_t *hosts; /* n host indices, one a rank; NULL: driver's choice */
	uint32_t *ranks; /* MIGRATE: n of the job's, for hosts; else NULL */
	uint32_t rank, host;
	usec_t at; /* WAKE; MIGRATE: the deadline, 0 for none */
	bool told; /* not the policy's own: it is told of the events */
	struct because why;
};

struct plan {
	struct plan_entry *entry;
	size_t nr, cap;
	const struct view *view;
	int64_t free;  /* processors left once it is carried out */
	int32_t *size; /* by job ix: planned n + 1; 0: not in the plan */
	size_t nr_size;
	int32_t *ranks;	  /* by host ix: ranks more than now */
	int32_t *leaving; /* by host ix: of those that are there now, who move
			      away, and have their slots until they have */
	size_t nr_ranks;
	struct plan_block *blocks; /* of host arrays */
	struct plan_ahead *ahead;  /* one for each reservation that is */
	size_t nr_ahead, cap_ahead;
	bool looked_ahead; /* ahead is filled in */
	bool shrinks;	   /* plan_shrinks() */
	bool expects;	   /* plan_expect() */
};

#define PLAN_INIT             \
	{                     \
		.entry = NULL \
	}

/*
 * Empty the plan for a pass over view; memory is kept.  Also before the first
 * use.
 */
void plan_reset(struct plan *plan, const struct view *view);
void plan_clear(struct plan *plan); /* frees */

/*
 * Room for n host indices, one a rank, for the hosts argument below; good
 * until plan_reset().
 */
uint32_t *plan_hosts(struct plan *plan, uint32_t n);

/*
 * The verbs.
 */

/*
 * Start job on n processors of the driver's choice: for policies that count
 * equal processors.  False if it would run into a reservation: then the job
 * keeps waiting, and a DEFER entry has the reason.
 */
bool plan_start(struct plan *plan, const struct job *job, uint32_t n,
		struct because why) must_check;

/*
 * Start job on these hosts, which are from plan_hosts() and usable.  Nothing is
 * checked: a policy that names hosts shares them, and its driver keeps booked
 * ones out of the view from their announcement on; or it plans for a slice, and
 * ends it where a reservation begins (view_next_reservation()).
 */
void plan_start_on(struct plan *plan, const struct job *job, uint32_t n,
		   uint32_t *hosts, struct because why);

/*
 * The most of n processors on which job can start, or that it can have while it
 * runs, without running into a reservation: n where nothing is reserved.  0,
 * and a DEFER entry, if that is fewer than least.
 */
uint32_t plan_allows(struct plan *plan, const struct job *job, uint32_t n,
		     uint32_t least) must_check;

/*
 * For policies that take processors back from running jobs: from here on, until
 * the reset, all that a malleable job has beyond its min_size counts as free
 * when a reservation begins, and that as taken for ever, since its end moves
 * with every change.  plan_spare(): what then is left at the worst time for
 * more of such jobs; INT64_MAX where nothing is reserved.
 */
void plan_shrinks(struct plan *plan);
int64_t plan_spare(struct plan *plan);
/* Add the DEFER entry for a job that cannot have n processors. */
void plan_refuse(struct plan *plan, const struct job *job, uint32_t n);

/*
 * For the files a plan is made of: plan.c over plan_ahead.c (reservations) over
 * plan_entry.c.  An entry at the end of the plan, and: job has n processors
 * from now on.
 */
struct plan_entry *plan_append(struct plan *plan, enum plan_type type,
			       const struct job *job, struct because why);
void plan_ahead_take(struct plan *plan, const struct job *job, uint32_t n);

/* n may equal the present size where only the hosts change.  hosts may be NULL:
 * the driver's choice.  For more than it has, ask plan_allows() first. */
void plan_resize(struct plan *plan, const struct job *job, uint32_t n,
		 uint32_t *hosts, struct because why);
void plan_migrate(struct plan *plan, const struct job *job, uint32_t rank,
		  uint32_t host, struct because why);
/*
 * n ranks to as many hosts, both arrays from plan_hosts(), at the same time.
 * by: when they should have left, 0 if that is all the same; the driver then
 * lets them stand still for longer where they leave sooner that way.
 */
void plan_migrate_by(struct plan *plan, const struct job *job, uint32_t n,
		     uint32_t *ranks, uint32_t *hosts, usec_t by,
		     struct because why);
void plan_suspend(struct plan *plan, const struct job *job, struct because why);
/*
 * hosts: job->n host indices on which it continues, or NULL for its previous
 * ones.  Ranks whose host differs from job->hosts are migrated, and cost what
 * that costs.
 */
void plan_resume(struct plan *plan, const struct job *job, uint32_t *hosts,
		 struct because why);
/* A rank that does, or does not, stand still. */
void plan_freeze(struct plan *plan, const struct job *job, uint32_t rank,
		 struct because why);
void plan_thaw(struct plan *plan, const struct job *job, uint32_t rank,
	       struct because why);
/* Only where job->requeue is true. */
void plan_requeue(struct plan *plan, const struct job *job, struct because why);
void plan_reserve(struct plan *plan, uint32_t host, struct because why);
void plan_release(struct plan *plan, uint32_t host, struct because why);
void plan_defer(struct plan *plan, const struct job *job, struct because why);
/* Several are allowed; one in the past or present comes immediately. */
void plan_wake(struct plan *plan, usec_t at, struct because why);

/* Processors free once the plan so far is carried out. */
static inline int64_t plan_free(const struct plan *plan)
{
	return plan->free;
}

/* Processors the job will have then; 0: waits (or is suspended). */
uint32_t plan_size(const struct plan *plan, const struct job *job);

/* A rank is under way to host, by a move that was planned before: it will have a
 * slot there. */
void plan_expect(struct plan *plan, uint32_t host);

/* Ranks that host will have of jobs that run, once all who move have arrived. */
uint32_t plan_active(const struct plan *plan, const struct host *host);

/*
 * Slots that host has left for who is to come; 0 if it is not usable or reserved.  A
 * rank that moves away has its slot until it has arrived elsewhere, as it can stay.
 */
uint32_t plan_room(const struct plan *plan, const struct host *host);
/* The same for ranks of that job, which may be at home there. */
uint32_t plan_room_of(const struct plan *plan, const struct host *host,
		      const struct job *job);

/*
 * One line for a person, no newline: "start job 7 with 2 on h1,h2: ...".
 * Hosts are called by the names they have in the view, and by their indices
 * where they have none, or view is NULL.
 */
void plan_write(const struct view *view, const struct plan_entry *entry,
		FILE *to);

/* The same; as snprintf: cut to size, returns the whole length. */
int plan_print(const struct view *view, const struct plan_entry *entry,
	       char *buf, size_t size);

#endif
