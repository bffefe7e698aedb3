/*
 * backfill.h - the plan behind backfill.c, shared by the files it is made of:
 * backfill.c (the policy: events, passes), backfill_slots.c (reservations and
 * the profile they are taken off), backfill_improve.c (better reservations
 * when processors come free), backfill_freed.c (where they came free),
 * backfill_state.c (what it remembers, as text)
 */
#ifndef POLICY_QUEUE_BACKFILL_H
#define POLICY_QUEUE_BACKFILL_H

#include "core/heap.h"
#include "policy/kit/alike.h"
#include "policy/kit/ends.h"
#include "policy/kit/fitset.h"
#include "policy/kit/policy.h"
#include "policy/kit/profile.h"

#define FREED_SIZES 10

/* A stretch of time in which processors came free. */
struct freed {
	usec_t from, to;
	int64_t most; /* upper bound of the free processors in it; INT64_MAX: not known */
	usec_t upto; /* kinds submitted after that have looked at it already */
	/* greatest run[0].longest of this stretch and those before it in the tidy part */
	usec_t so_far;
	uint32_t known; /* bit i: run[i] is valid */
	uint32_t seat;	/* index of its runs in freed_list.runs */
};

/* The longest runs of free processors that touch a stretch, and what finding them gave. */
struct freed_runs {
	/*
	 * run[i]: an upper bound of the longest run of 2^i free processors.  It leaves out
	 * runs that also touch a stretch that was added to the list later.
	 */
	struct profile_longest run[FREED_SIZES];
	/* profile.changes when a bound was last found too high and computed again */
	uint64_t reckoned;
	struct profile_spot spot; /* where the stretch begins in the profile */
};

/* A longer list is shortened by joining its last stretches. */
#define MAX_FREED 24

/*
 * What is read for every kind of job is kept together (f); the larger runs stay in their
 * place when the stretches are sorted.
 */
struct freed_list {
	struct freed f[2 * MAX_FREED];
	struct freed_runs runs[2 * MAX_FREED];
	uint64_t seats; /* bit i: runs[i] is in use */
	size_t nr;
	size_t tidy; /* the first so many are sorted, and no two of them touch */
	uint64_t joins; /* number of times the list was sorted */
};

struct backfill {
	struct policy base;
	int64_t depth;	      /* reservations; < 0: no limit */
	struct alikes kinds;  /* of jobs with reservations, and slots */
	struct fitset heads;  /* the first job of each kind, by submit */
	struct heap starts;   /* kinds by their first slot */
	uint32_t nr_reserved; /* jobs with a reservation */
	uint8_t *reserved;    /* by ix: has it one? */
	size_t nr_flags;
	struct fitset open; /* jobs without one, by submit */
	struct ends ends; /* running jobs, by what is believed of their ends */
	struct profile profile;
	struct freed_list freed; /* since the last improvement */
	struct freed_list seen;	 /* what the current improvement began with */
	usec_t mover; /* submit time of the kind whose slots move now */
	bool given;   /* a job ended early: an improvement is due */
	usec_t interval,
		looked; /* least time between improvements; time of the last */
	bool rebuild;	/* the profile is out of date: make it anew */
	usec_t wake;	/* a timer is set for then, */
	bool unset;	/* or was, before the state was loaded */
};

static inline usec_t add_time(usec_t a, usec_t b)
{
	return b > USEC_MAX - a ? USEC_MAX : a + b;
}

static inline usec_t length_of(const struct job *job)
{
	return job->estimate ? job->estimate : USEC_MAX;
}

static inline bool is_reserved(const struct backfill *b, const struct job *job)
{
	return job->ix < b->nr_flags && b->reserved[job->ix];
}

/* backfill_freed.c */

/* Append a stretch to the list, which must have room for it. */
struct freed *backfill_freed_add(struct freed_list *list, usec_t from,
				 usec_t to, int64_t most);
/* Empty the list. */
void backfill_freed_clear(struct freed_list *list);
/* Processors came free in [from, to). */
void backfill_freed_note(struct backfill *b, usec_t from, usec_t to);
/* n more are free in [from, to). */
void backfill_freed_raise(struct freed_list *list, usec_t from, usec_t to,
			  int64_t n);
/* Copy the stretches in use, not the unused rest of the arrays. */
void backfill_freed_copy(struct freed_list *to, const struct freed_list *from);
/* Sort the stretches and join those that touch. */
void backfill_freed_tidy(struct freed_list *list);
/*
 * Tidy the list; if it is still longer than MAX_FREED, join those furthest in the
 * future, with the gaps between them, into one.
 */
void backfill_freed_join(struct freed_list *list);
/* A job ended earlier than expected: n processors come free in [from, to). */
void backfill_give(struct backfill *b, usec_t from, usec_t to, uint32_t n);

/* backfill_slots.c */

/* The first slot of kind k may have changed. */
void backfill_note_first(struct backfill *b, const struct alike *k);
/* Take a slot of k at that time off the profile (sign 1), or give it back. */
void backfill_occupy(struct backfill *b, const struct alike *k, usec_t at,
		     int sign);
/* Give job, which is open, a reservation. */
void backfill_reserve(struct backfill *b, const struct view *view,
		      const struct job *job);
/* Take job out of its kind, as it starts or is gone; the caller takes care of its slot. */
void backfill_leave(struct backfill *b, const struct job *job);
/* Remove a job that is gone, and its slot. */
void backfill_drop(struct backfill *b, const struct job *job);
/*
 * Assume of jobs that run longer than their estimates that each goes on for as long
 * again as it has run (at least a second).
 */
void backfill_extend_estimates(struct backfill *b, const struct view *view);
/* Plan everything anew, in the order of the queue. */
void backfill_plan_anew(struct backfill *b, const struct view *view);
/* The profile of running jobs and bookings, without reservations. */
void backfill_refill_profile(struct backfill *b, const struct view *view);
/* Count job, which is open, among those with reservations ... */
void backfill_enter(struct backfill *b, const struct job *job);
/*
 * ... and add it to its kind, which is returned.  It will have the slot that starts at
 * `at`; the caller takes care of that.
 */
struct alike *backfill_join(struct backfill *b, const struct job *job,
			    usec_t at);

/* backfill_state.c */
void backfill_save(const struct policy *policy, const struct view *view,
		   FILE *to);
int backfill_load(struct policy *policy, const struct view *view,
		  const char *text, struct error *err);

/* backfill_improve.c */

/* Move slots to now, in the order of the queue, as far as there is room. */
void backfill_improve_now(struct backfill *b, const struct view *view);
/*
 * Go through the kinds once.  Each looks at what came free since the last improvement
 * and at what the moves of kinds before it freed.  What a move frees now, the kinds before
 * it in the order look at next time.
 */
void backfill_improve(struct backfill *b, const struct view *view);

#endif
