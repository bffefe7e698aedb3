/*
 * contract.h - what a host owes its owner, and has kept of it
 *
 * The rules by which a host is lent: recruited when its owner has been away for
 * long enough (model/terms.h), given back when the owner returns, and left alone
 * for the day when the owner was disturbed too often or waited too long (the
 * social contract, Arpaci 1995 section 5.3).  The agent and the simulator call
 * the same ones: each feeds whatever has changed, with the moment, and asks
 * whether the host is open to guests.
 *
 * - A return is the change from away to here.  It is a disturbance if a guest
 *   runs there, or one has come, run or gone since the owner was here last, whose
 *   memory and caches it took.  One that has stood still all the while took nothing
 *   anew, and counts no more.
 * - Of the disturbances that the terms allow none is left: guests are to get out, and
 *   one that does, whenever there is a place for it, is no disturbance, unless that
 *   takes longer than giving back may.  The time is the host's: it is up for all that
 *   ran when it began, however many they are; only who stood still then, and runs to
 *   move when these are gone, begins another.  Who is held stopped by its move, however
 *   long that takes, does not run.  A quarter before the end (leave_by) all are to stand
 *   still.  So whoever keeps to contract_lending() never exceeds the terms.
 * - A day is the host's local one.  While it is counted its end is an instant
 *   of the steady clock, found when it began: a clock that is set then changes
 *   neither the count nor the end.  Only the end of the day after follows the
 *   clock; that is the first midnight at least twelve hours away.
 * - A host has been given back when no guest runs there: they are gone, or stand
 *   still.  Where one runs again it goes on; both together is what it took.
 * - Until the host has been given back its giving back goes on, and closes the
 *   host for the day once it has taken too long.
 *
 * A contract is plain numbers, no pointers: it is copied, compared and written
 * as text (contract_write()) where it survives the agent and the host's boot.
 */
#ifndef MODEL_CONTRACT_H
#define MODEL_CONTRACT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/error.h"
#include "model/terms.h"

/* Why a host takes no guests; the first that holds. */
enum closed {
	CLOSED_NOT,
	CLOSED_OWNER,	  /* is there */
	CLOSED_HOURS,	  /* not at this time of the week */
	CLOSED_DISTURBED, /* as often as the terms allow today */
	CLOSED_SLOW,	  /* a give-back took too long today */
	CLOSED_LOST,	  /* what was counted today could not be read */
	CLOSED_QUIET,	  /* the owner has not been away for long enough */
	CLOSED_LOAD,	  /* what is not guests computes */
	/* These are no terms; agent and controller add them. */
	CLOSED_FULL, /* as many guests as the terms allow are there */
	CLOSED_DISK, /* keepers could write nothing there, those of its owner's
			own jobs neither */
	CLOSED_PROLOG, /* a prolog or epilog of the host has failed: nobody's */
};

/* Also for the jobs of its owner? */
static inline bool closed_to_all(enum closed why)
{
	return why == CLOSED_DISK || why == CLOSED_PROLOG;
}

/* What a driver tells of its host. */
struct scene {
	bool here;	  /* its owner is */
	usec_t touched;	  /* steady: nobody has used it since (if not here) */
	double load;	  /* non-guests', per core */
	uint32_t guests;  /* ranks that are there, */
	uint32_t running; /* ... and not frozen, */
	uint32_t held;	  /* ... of whom so many are stopped by their moves */
};

enum { CONTRACT_RETURNS = 16 }; /* remembered one by one */

struct owner_return {
	usec_t wall; /* when */
	usec_t took; /* to give back; -1: not done, or the owner left before */
	uint32_t guests; /* that were there */
	bool disturbed;
};

struct contract {
	usec_t fed; /* steady: last */
	/* Of the day. */
	usec_t ends; /* steady */
	uint32_t disturbed, returns;
	enum closed closed; /* for the rest of it: DISTURBED is not kept here */
	/* Now. */
	struct scene scene; /* as fed last */
	usec_t calm_since;  /* load is low enough; USEC_MAX: it is not */
	bool used;	/* since the owner was here last, by a guest that did
			       not stand still */
	usec_t giving;	/* back, since then; -1: not */
	usec_t leaving; /* somebody runs and does, the owner being away and no
			       disturbance left, since then; -1: nobody */
	uint32_t
		leavers; /* of those that ran then, who neither went nor stands still */
	usec_t returned; /* the owner did, the last time; if here */
	/* The latest returns, oldest first. */
	struct owner_return last[CONTRACT_RETURNS];
	uint32_t nr_last;
	/* Read with a clock that has gone back: how long it was is not known
	 * before that is at `written` again, when `left` of the day was left. */
	bool unsettled;
	usec_t written, left;
};

/* A host of which nothing is known yet: away for ever, no guests, calm. */
void contract_begin(struct contract *c, const struct moment *now);

/*
 * Something is as in *scene now; also called without a change at
 * contract_next().  A steady clock that goes back is taken to stand still.
 */
void contract_feed(struct contract *c, const struct owner_terms *terms,
		   const struct moment *now, const struct scene *scene);

/*
 * Would feeding that scene change nothing but the time?  Before contract_next(), and the
 * terms being those it was fed with last.  Who feeds thousands of hosts many times a
 * second need not, then (the simulator).
 */
bool contract_is_still(const struct contract *c,
		       const struct owner_terms *terms,
		       const struct scene *scene);

/* As fed last: may new guests come? */
enum closed contract_closed(const struct contract *c,
			    const struct owner_terms *terms,
			    const struct moment *now);

/*
 * Must guests that are there leave?  Not because of load or quiet, which are
 * for those who would come.
 */
static inline bool closed_for_guests(enum closed why)
{
	return why != CLOSED_NOT && why < CLOSED_QUIET;
}

/*
 * What a host lends, in the words of model/host.h, for a driver's EVENT_HOST.
 * Times are steady ones.
 */
struct lending {
	enum closed closed;
	bool leave; /* guests are to get out: they move, or stand still */
	/* they should have by then, or stand still: for the owner who is there, or for who
	 * may come when no disturbance is left; 0: no matter */
	usec_t leave_by;
	usec_t freeze_until; /* they stand still till then, and leave later; 0:
				at once */
	usec_t freeze_most;  /* who cannot leave stands still no longer */
};
bool lending_differs(const struct lending *a, const struct lending *b);

/* Until leave_by, at least 1: what has passed is still an end; 0: there is none. */
static inline uint64_t lending_left(const struct lending *l, usec_t steady)
{
	return !l->leave_by	      ? 0
	       : l->leave_by > steady ? (uint64_t)(l->leave_by - steady)
				      : 1;
}

/* evict: somebody there wants all guests gone, whatever the terms. */
struct lending contract_lending(const struct contract *c,
				const struct owner_terms *terms,
				const struct moment *now, bool evict);

/* Disturbances that are left today. */
uint32_t contract_left(const struct contract *c,
		       const struct owner_terms *terms);

/* When to feed again if nothing changes, as steady; USEC_MAX: never. */
usec_t contract_next(const struct contract *c, const struct owner_terms *terms,
		     const struct moment *now);

/*
 * As lines of text.  boot names the boot in which now->steady means something.
 */
void contract_write(const struct contract *c, const struct moment *now,
		    const char *boot, FILE *to);
/*
 * Must it be written anew, one having become the other?  Not for what changes
 * with the time alone.
 */
bool contract_differs(const struct contract *a, const struct contract *b);

/*
 * Read it: 0, or -EINVAL with the line, *c then being as by contract_lose().
 * Of another boot than the written one guests are gone, and the wall clock says
 * how long it was; if that has gone back, nothing counts as gone by until it is
 * where it was.
 */
int contract_read(struct contract *c, const char *text,
		  const struct moment *now, const char *boot,
		  struct error *err) must_check;

/* What it was is not known: closed for the day. */
void contract_lose(struct contract *c, const struct moment *now);

/* "open", "owner", "hours", ... for tables and records; NULL beyond the last. */
const char *closed_name(enum closed why);
/* "its owner is there", ... for sentences. */
const char *closed_text(enum closed why);

#endif
