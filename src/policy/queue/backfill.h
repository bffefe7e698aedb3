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

/* Where processors came free. */
struct freed {
	usec_t from, to;
	int64_t most; /* no more than that are free in it; or INT64_MAX */
	usec_t upto;  /* who was submitted later has looked at it */
	usec_t so_far; /* among tidy ones: no run[0].longest up to this one is greater */
	uint32_t known; /* bit i: run[i] is */
	uint32_t seat;	/* which of the list's runs are its */
};

/* The longest runs of processors that touch one of them, and what is found by the way. */
struct freed_runs {
	/*
	 * Of at least 2^i free processors, or longer, but for runs that touch what came
	 * free later as well.
	 */
	struct profile_longest run[FREED_SIZES];
	uint64_t reckoned; /* when one was found too long: profile.changes */
	struct profile_spot spot; /* where it begins */
};

/* More than that are joined into fewer. */
#define MAX_FREED 24

/*
 * What each look at a kind reads of them lies together; what they know of runs keeps its
 * seat while they are put into order.
 */
struct freed_list {
	struct freed f[2 * MAX_FREED];
	struct freed_runs runs[2 * MAX_FREED];
	uint64_t seats; /* bit i: runs[i] are taken */
	size_t nr;
	size_t tidy; /* of these, from the first on, are in order and do not touch */
	uint64_t joins; /* so often they were put into another order */
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
	struct freed_list freed; /* since the last look */
	struct freed_list seen;	 /* what this look began with */
	usec_t mover;		 /* whose move is that, by submit */
	bool given;		 /* a job ended early: look */
	usec_t interval, looked; /* between full looks; when the last was */
	bool rebuild;		 /* the profile does not hold any more */
	usec_t wake;		 /* a timer is set for then, */
	bool unset;		 /* or was, before the state was loaded */
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

/* One more at the end of the list, which has room. */
struct freed *backfill_freed_add(struct freed_list *list, usec_t from,
				 usec_t to, int64_t most);
/* None any more. */
void backfill_freed_clear(struct freed_list *list);
/* Processors came free in [from, to). */
void backfill_freed_note(struct backfill *b, usec_t from, usec_t to);
/* n more are free in [from, to). */
void backfill_freed_raise(struct freed_list *list, usec_t from, usec_t to,
			  int64_t n);
/* Without what is behind the last one. */
void backfill_freed_copy(struct freed_list *to, const struct freed_list *from);
/* Put them in order, and stretches that touch together. */
void backfill_freed_tidy(struct freed_list *list);
/*
 * Tidy them; if they are still too many, those that
 * lie furthest ahead are looked at as one, with what is between them.
 */
void backfill_freed_join(struct freed_list *list);
/* By an end that was not expected, n processors come free in [from, to). */
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
/* Its job starts, or is gone, and its slot is the caller's affair. */
void backfill_leave(struct backfill *b, const struct job *job);
/* A job with a reservation is gone, and the slot with it. */
void backfill_drop(struct backfill *b, const struct job *job);
/*
 * Jobs that outran their estimates: believe that each goes on for as long
 * again as it has run (at least a second).
 */
void backfill_extend_estimates(struct backfill *b, const struct view *view);
/* Plan everything anew, in the order of the queue. */
void backfill_plan_anew(struct backfill *b, const struct view *view);
/* The profile of running jobs and bookings, without reservations. */
void backfill_refill_profile(struct backfill *b, const struct view *view);
/* job, which is open, is one of those with reservations; */
void backfill_enter(struct backfill *b, const struct job *job);
/* and of a kind, which is returned.  It is to have the slot at, which is the caller's
 * affair. */
struct alike *backfill_join(struct backfill *b, const struct job *job,
			    usec_t at);

/* backfill_state.c */
void backfill_save(const struct policy *policy, const struct view *view,
		   FILE *to);
int backfill_load(struct policy *policy, const struct view *view,
		  const char *text, struct error *err);

/* backfill_improve.c */

/* Whoever can start now by moving to now, in the order of the queue. */
void backfill_improve_now(struct backfill *b, const struct view *view);
/*
 * Once through the kinds, each looking at what came free since the last time
 * and by the moves so far.  What comes free by moves now is looked at by
 * those before next time.
 */
void backfill_improve(struct backfill *b, const struct view *view);

#endif
