/*
 * shadow.h - when the first in the queue can start, and what it leaves over
 *
 * The base of EASY backfilling (Lifka 1995): the shadow time of a job is the earliest
 * instant at which it can start, by the running jobs' estimated ends; spare processors
 * are those that are free from then on, for as long as it runs, beyond what it needs.
 * Processors that are reserved are not free, and a job that would run into a
 * reservation cannot start.
 */
#ifndef POLICY_KIT_SHADOW_H
#define POLICY_KIT_SHADOW_H

#include "model/view.h"
#include "policy/kit/ends.h"

struct shadow {
	usec_t at;     /* never before now; USEC_MAX: not foreseen */
	int64_t spare; /* at least 0 */
};

/*
 * The shadow of head, given the number of free processors now and the ends of running
 * jobs.  O(log n) for n running jobs; with r reservations O(r^2 log n).
 */
struct shadow shadow_of(const struct ends *ends, const struct view *view,
			const struct job *head, int64_t free);

/*
 * When the job ends if it starts now on all processors it asks for; USEC_MAX without an
 * estimate.
 */
usec_t shadow_end(const struct view *view, const struct job *job);

#endif
