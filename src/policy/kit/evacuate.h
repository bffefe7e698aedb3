/*
 * evacuate.h - a host goes, and there may not be time for all who are on it
 *
 * What a job loses with one of its ranks is all that it has done so far, in
 * processor seconds.  So where the time that is left is not enough for all, those
 * go that save most of it: a knapsack of `left` seconds.  Two orders are tried,
 * by work and by work per second of sending, each taking what still fits; the
 * better one counts, which never saves less than half of what could be saved (the
 * usual bound of the greedy knapsack).  Predictions may be wrong: so whoever goes
 * begins in the order of worth, and one that cannot be in time is last, not left
 * out.
 *
 * policy/kit/leave.h and policy/migrate/leave.h ask it, for both drivers.
 */
#ifndef POLICY_KIT_EVACUATE_H
#define POLICY_KIT_EVACUATE_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "model/view.h"

/* A job with ranks on the host. */
struct evacuee {
	const struct job *job;
	double work; /* processor seconds that are lost unless it gets away */
	double seconds; /* of the link, for all of its ranks there; more than 0 */
	bool saved;	/* set: there is time for it */
};

/* It goes at a time that is known: an administrator, or the host itself, said so. */
static inline bool host_goes(const struct host *h)
{
	return h->up && h->drain && h->leave_by;
}

/* What job has done since it began (anew) and would lose, in processor seconds. */
double evacuate_work(const struct view *view, const struct job *job);

/*
 * Put e[0..n) into the order in which they should leave within `left` seconds:
 * who is saved first, the most worth before the others; ties by (submit, id).
 * O(n log n).
 */
void evacuate_order(struct evacuee *e, size_t n, double left);

/*
 * A policy's way to have ranks leave; ctx is its own.
 */
struct evacuation {
	/* Of the link, for one rank of job from that host. */
	double (*seconds)(void *ctx, const struct job *job, uint32_t host);
	/* evacuate_now()'s, for that host. */
	double (*doubt)(void *ctx, uint32_t host);
	/* Is that rank on its way already?  NULL: it cannot tell. */
	bool (*under_way)(void *ctx, const struct job *job, uint32_t rank);
	/*
	 * Look at that job once, as in a pass where no host goes; its ranks move from
	 * those that do if it is its turn.  True if one does.
	 */
	bool (*look)(void *ctx, const struct job *job, bool turn);
};

/*
 * Have the ranks of all hosts that go leave, in order.  Returns, by the job's ix, which
 * jobs were looked at, to be freed; NULL: no host goes, or none has ranks.
 * O(running ranks) for each host that goes and has ranks, O(hosts) without one.
 */
bool *evacuate(const struct view *view, const struct evacuation *how,
	       void *ctx) must_check;

/*
 * How many of them, in this order, begin now: all, where there is time for `doubt` times
 * as much as they need, and those that began before, which are `under_way` for so many
 * seconds; else the first, unless there are any of these.
 * Moves share the link: of two at once each takes twice as long, so that with a
 * prediction that was too good none would be in time.
 */
size_t evacuate_now(const struct evacuee *e, size_t n, double left,
		    double doubt, double under_way);

#endif
