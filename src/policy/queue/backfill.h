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
#include "policy/kit/holes.h"
#include "policy/kit/policy.h"
#include "policy/kit/profile.h"

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
	/* all that came free since the last improvement is in there */
	usec_t freed_from, freed_to;
	bool looking;	    /* an improvement is under way */
	struct holes holes; /* that kinds yet to come have not looked into, */
	struct holes after; /* and those that were before them */
	/* holes that may be of use to some kind are among these */
	struct profile_wanted wanted;
	uint32_t looks; /* number of improvements */
	bool given;	/* a job ended early: an improvement is due */
	usec_t interval,
		looked; /* least time between improvements; time of the last */
	bool rebuild;	/* the profile is out of date: make it anew */
	usec_t wake;	/* a timer is set for then, */
	bool unset;	/* or was, before the state was loaded */
};

static inline bool is_reserved(const struct backfill *b, const struct job *job)
{
	return job->ix < b->nr_flags && b->reserved[job->ix];
}

/* backfill_freed.c */

/* k has slots: holes may be of use to it. */
void backfill_want(struct backfill *b, const struct alike *k);
/* Processors came free in [from, to), to be looked at in the next improvement. */
void backfill_freed(struct backfill *b, usec_t from, usec_t to);
/* A job ended earlier than expected: n processors come free in [from, to). */
void backfill_give(struct backfill *b, usec_t from, usec_t to, uint32_t n);
/* Whatever came free has been made use of. */
void backfill_forget_freed(struct backfill *b);

/* backfill_slots.c */

/* The first slot of kind k may have changed. */
void backfill_note_first(struct backfill *b, const struct alike *k);
/* Add a slot to k, and take one from it, without changing what is free. */
void backfill_add_slot(struct backfill *b, struct alike *k, usec_t at);
void backfill_take_slot(struct backfill *b, struct alike *k, size_t i);
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
