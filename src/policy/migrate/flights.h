/*
 * flights.h - moves that were planned and have not ended yet
 *
 * A live move takes its time, and the view has the rank where it was until
 * EVENT_MIGRATE.  A policy that looks at loads meanwhile must count it where it
 * will be, or it sends others after it.  One that the driver could not begin is
 * told by nothing, so each is forgotten some time after it should have ended; one
 * that is over at once, as simulated ones may be, is seen in the view.
 *
 * One that failed is remembered for as long as the driver would not try it again:
 * meanwhile its rank may go to any other host.
 *
 * How long moves take and how long they let a job stand still is learnt from
 * those that have ended.
 */
#ifndef POLICY_MIGRATE_FLIGHTS_H
#define POLICY_MIGRATE_FLIGHTS_H

#include <stdio.h>

#include "core/param.h"
#include "model/event.h"
#include "model/plan.h"

struct flight {
	int64_t job;
	uint32_t ix; /* the job's, while it lives */
	uint32_t rank, from, to;
	usec_t began, until; /* until: forgotten */
	bool failed;	     /* it is over, and the rank is where it was */
};

struct flights {
	struct flight *flight;
	size_t nr, cap;
	double rate;  /* bytes a second */
	double fixed; /* seconds of a move beyond its bytes */
	double still; /* seconds a job stands still for one */
	/*
	 * By host, bytes a second that the newest moves from there had together;
	 * 0: none was seen.
	 */
	double *pace;
	uint32_t nr_paces;
};

/* Parameters for a policy's table, and reading them. */
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

/* Note what plan has planned from entry `first` on. */
void flights_note(struct flights *f, const struct plan *plan, size_t first);
/* Something happened. */
void flights_event(struct flights *f, const struct view *view,
		   const struct event *e);
/* Forget what is over, and let plan count the others where they go to. */
void flights_begin_pass(struct flights *f, const struct view *view,
			struct plan *plan);

const struct flight *flights_find(const struct flights *f,
				  const struct job *job, uint32_t rank);
/* Is any rank of it under way? */
bool flights_any(const struct flights *f, const struct job *job);
/*
 * Has a move of that rank to that host just failed?  Then it is tried again at
 * *ret_until; *ret_until is untouched otherwise.
 */
bool flights_failed(const struct flights *f, const struct job *job,
		    uint32_t rank, uint32_t host, usec_t *ret_until);
/* Ranks that will have left that host. */
uint32_t flights_from(const struct flights *f, uint32_t host);

/* Seconds that a move of a rank of job takes. */
double flights_last(const struct flights *f, const struct job *job);
/* The same from that host, by what was seen there, if *ret_seen. */
double flights_last_from(const struct flights *f, const struct job *job,
			 uint32_t host, bool *ret_seen);

/* For policy_ops.save and load: lines; *text goes on behind them. */
void flights_save(const struct flights *f, FILE *to);
int flights_load(struct flights *f, const struct view *view,
		 const char **text) must_check;

#endif
