/*
 * presence.h - is the owner of a host there?
 *
 * Two things, both pure: struct presence, what all but the agent know of it,
 * and struct presence_signs, from which an agent, or the simulator for an
 * activity script, works it out.  Who calls says what time it is, by any clock
 * that is never set back (an agent: CLOCK_BOOTTIME), so that steps of the
 * host's clock do neither hide nor make an owner.
 *
 * A source of signs (cluster/owner) says three things of its cause:
 *
 *	a sign		somebody did something just now, or then
 *	held		somebody does, until it says that it is over
 *	lost		it cannot tell any more: the host counts as occupied
 *
 * The owner is there at once, and away after `linger` without a sign; what
 * people say goes before that for as long as they said it.  But "away" lasts
 * only to the next sign, and does not make up for a lost source.  However signs
 * flap, `here` goes from true to false at most once in PRESENCE_LEAST.
 */
#ifndef MODEL_PRESENCE_H
#define MODEL_PRESENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/units.h"

#define PRESENCE_WHO   40 /* bytes of a user's name, with its end */
#define PRESENCE_LEAST USEC_PER_SEC

/* What tells of the owner, the most telling first. */
enum presence_cause {
	PRESENCE_NOBODY,     /* of one who is away */
	PRESENCE_GOING,	     /* the host is about to sleep or to be shut down */
	PRESENCE_UNREADABLE, /* whether somebody is there cannot be told */
	PRESENCE_SAID,	     /* somebody at the host said so */
	PRESENCE_SESSION,    /* a session that its manager does not call idle */
	PRESENCE_INPUT,	     /* keyboard, mouse */
	PRESENCE_TERMINAL,   /* a terminal was touched, or logged in at */
	PRESENCE_POWER,	     /* it runs on its battery */
	PRESENCE_NOTICE,     /* the host was told that it goes soon */
	PRESENCE_CAUSES
};

/* One word ("session"); NULL if there is no such cause. */
const char *presence_cause_name(enum presence_cause cause);
/* Is it about the host, which goes, and not about people? */
static inline bool presence_goes(enum presence_cause cause)
{
	return cause == PRESENCE_GOING || cause == PRESENCE_NOTICE;
}
/* In words: "a session is in use". */
const char *presence_cause_text(enum presence_cause cause);

struct presence {
	bool here;
	bool evict;   /* all guests are to go, whatever the terms: someone there
			 wants it, or the host goes */
	usec_t since; /* here, or away */
	usec_t idle_since; /* the last sign of anybody; USEC_MAX: here */
	enum presence_cause cause;
	enum presence_cause lost; /* UNREADABLE: the first that is */
	usec_t going_by; /* GOING, NOTICE: it will be gone then; 0: not known */
	char who[PRESENCE_WHO]; /* a user; "": not known, or nobody */
};

struct presence_sign {
	bool ever; /* there was a sign: last */
	bool held; /* since began */
	bool lost;
	usec_t last, began;
	usec_t by; /* GOING, NOTICE, while held: the host is gone then; 0: not known */
	char who[PRESENCE_WHO];
};

struct presence_signs {
	usec_t linger;
	struct presence_sign sign[PRESENCE_CAUSES];
	bool said, said_here; /* at said_at, for the time until said_until */
	usec_t said_at, said_until;
	usec_t evict_until;
	char said_who[PRESENCE_WHO];
	struct presence is; /* as presence_update() found it */
};

/*
 * Nobody is there, nor was since the clock began (an agent's: since boot); what
 * was before now, sources tell by signs of then.
 */
void presence_init(struct presence_signs *s, usec_t linger, usec_t now);

/*
 * One of them, then presence_update().  A sign later than now counts as now;
 * one older than what was told is ignored.  who may be NULL.
 */
void presence_sign(struct presence_signs *s, enum presence_cause cause,
		   usec_t at, usec_t now, const char *who);
void presence_hold(struct presence_signs *s, enum presence_cause cause,
		   bool held, usec_t now, const char *who);
/* Its signs are as they were when it can tell again. */
void presence_lost(struct presence_signs *s, enum presence_cause cause,
		   bool lost);
/* A later word of anybody takes the place of an earlier one. */
void presence_say(struct presence_signs *s, bool here, bool evict, usec_t now,
		  usec_t span, const char *who);

/*
 * Work s->is out; true if here, evict, or going_by by a second or more, has
 * changed.
 */
bool presence_update(struct presence_signs *s, usec_t now);
/* When that may change by itself: call presence_update() then.  USEC_MAX: not. */
usec_t presence_next(const struct presence_signs *s, usec_t now);

#endif
