/*
 * flights.h - moves that were planned and have not ended yet
 *
 * A live move takes time, and the view has the rank where it was until EVENT_MIGRATE. A
 * policy that looks at loads meanwhile must count the rank where it will be, or it
 * sends others after it.  No event tells of a move that the driver could not begin, so
 * each move is forgotten some time after it should have ended.  A move that is over at
 * once, as simulated ones may be, is found by the view.
 *
 * A failed move is remembered for as long as the driver would not try it again:
 * meanwhile its rank is where it was, and may go to any other host.
 *
 * How long moves take, and for how long they stop a job, is learnt from those that
 * have ended.
 */
#ifndef POLICY_MIGRATE_FLIGHTS_H
#define POLICY_MIGRATE_FLIGHTS_H

#include <stdio.h>

#include "core/param.h"
#include "model/event.h"
#include "model/plan.h"

struct flight {
	int64_t job;
	uint32_t ix; /* the job's ix, while the job exists */
	uint32_t rank, from, to;
	usec_t began, until; /* until: when it is forgotten */
	/* it is over, and the rank has stayed where it was */
	bool failed;
};

/*
 * How long moves of a job's ranks took, in seconds, had they been alone on their links; the
 * newest count most.
 */
struct took {
	int64_t job; /* 0: none has moved */
	double seconds;
	double bytes; /* of a rank, as the newest moved */
};

struct flights {
	struct flight *flight;
	size_t nr, cap;
	double rate;  /* bytes a second */
	double fixed; /* seconds that a move takes beyond those for its bytes */
	double still; /* seconds for which a move stops a job of which none was seen */
	/*
	 * By host, how many bytes per second the newest moves from there had
	 * together; 0: none was seen.
	 */
	double *pace;
	uint32_t nr_paces;
	struct took *took; /* by the job's ix */
	uint32_t nr_tooks;
};

/* Parameters for a policy's table; and a function that reads them. */
#define FLIGHTS_PARAMS                                                        \
	{ "rate",                                                             \
	  PARAM_REAL,                                                         \
	  100e6,                                                              \
	  1,                                                                  \
	  1e12,                                                               \
	  NULL,                                                               \
	  "bytes a second that a move carries" },                             \
		{ "fixed",                                                    \
		  PARAM_TIME,                                                 \
		  0.3,                                                        \
		  0,                                                          \
		  1e6,                                                        \
		  NULL,                                                       \
		  "what a move takes beyond its bytes, until one was seen" }, \
	{                                                                     \
		"still", PARAM_TIME, 0.05, 0, 1e6, NULL,                      \
			"how long a job stands still for a move, until one "  \
			"was seen"                                            \
	}
void flights_init(struct flights *f, const struct params *params);
void flights_clear(struct flights *f);

/* Note the moves that plan has from entry `first` on. */
void flights_note(struct flights *f, const struct plan *plan, size_t first);
/* To be called with every event. */
void flights_event(struct flights *f, const struct view *view,
		   const struct event *e);
/*
 * Of the moves from number *i on, the next that is under way, and not one that has failed;
 * NULL: none.  *i is advanced behind it.
 */
const struct flight *flights_next(const struct flights *f, size_t *i);
#define for_each_flight(one, f) \
	for (size_t one##_next = 0; ((one) = flights_next((f), &one##_next));)

/*
 * Forget moves that are over, and have plan count ranks that are under way at their
 * destinations.
 */
void flights_begin_pass(struct flights *f, const struct view *view,
			struct plan *plan);

const struct flight *flights_find(const struct flights *f,
				  const struct job *job, uint32_t rank);
/* Is any rank of the job under way? */
bool flights_any(const struct flights *f, const struct job *job);
/*
 * Has a move of that rank to that host just failed?  Then *ret_until is when it may be
 * tried again; else that is untouched.
 */
bool flights_failed(const struct flights *f, const struct job *job,
		    uint32_t rank, uint32_t host, usec_t *ret_until);
/*
 * Has a move to that host just failed, of whatever rank?  Whoever needs not move goes
 * elsewhere then.
 */
bool flights_shun(const struct flights *f, uint32_t host);
/* When the first of those hosts is tried again, and which; USEC_MAX: there is none. */
usec_t flights_shun_until(const struct flights *f, uint32_t *ret_host);
/* Add to what each host gets, in bytes: the memory of the ranks that are under way to it. */
void flights_promise(const struct flights *f, const struct view *view,
		     uint64_t *by_host);
/* How many ranks are under way from that host. */
uint32_t flights_from(const struct flights *f, uint32_t host);

/*
 * Seconds for which a move of a rank of the job stops it: as long as the one that stood still
 * longest did when it moved last, and what is learnt of all where none has.
 */
double flights_still(const struct flights *f, const struct job *job);
/*
 * Seconds that a move of a rank of the job takes: as its own moves did, else by its
 * memory, and the longer the more it is known to write meanwhile, which is sent again.
 */
double flights_last(const struct flights *f, const struct job *job);
/*
 * The same from that host; *ret_seen: it was computed from moves that were seen there.
 */
double flights_last_from(const struct flights *f, const struct job *job,
			 uint32_t host, bool *ret_seen);

/* For policy_ops.save and load: lines; *text is advanced past them. */
void flights_save(const struct flights *f, FILE *to);
int flights_load(struct flights *f, const struct view *view,
		 const char **text) must_check;

#endif
