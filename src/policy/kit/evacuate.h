/*
 * evacuate.h - who leaves first when a host goes and there may not be time for all
 * ranks on it
 *
 * If a job loses one of its ranks, it loses all work done so far, in processor seconds.
 * So if there is not time for all, those jobs leave that save most work: a knapsack of
 * `left` seconds.  Two orders are tried, by work and by work per second of sending,
 * each taking what still fits; the better one is used, which never saves less than half
 * of what could be saved (the usual bound of the greedy knapsack). Predictions may be
 * wrong: so jobs leave in the order of their worth, and one that will probably be too
 * late comes last, but is not left out.
 *
 * policy/kit/leave.h and policy/migrate/leave.h use it.
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
	/* processor seconds that are lost unless it leaves in time */
	double work;
	double seconds; /* for sending all of its ranks there; more than 0 */
	bool saved;	/* set: there is time for it */
};

/* The host goes at a known time, told by an administrator or by the host itself. */
static inline bool host_goes(const struct host *h)
{
	return h->up && h->drain && h->leave_by;
}

/*
 * The work that the job has done since it began (again) and would lose, in processor
 * seconds.
 */
double evacuate_work(const struct view *view, const struct job *job);

/*
 * Put e[0..n) into the order in which they should leave within `left` seconds: those
 * that are saved first, those of most worth before others; ties by (submit, id). O(n
 * log n).
 */
void evacuate_order(struct evacuee *e, size_t n, double left);

/* How a policy has ranks leave; ctx is passed to each function. */
struct evacuation {
	/* Seconds for sending one rank of the job from that host. */
	double (*seconds)(void *ctx, const struct job *job, uint32_t host);
	/* For that host, the `doubt` of evacuate_now(). */
	double (*doubt)(void *ctx, uint32_t host);
	/* Is that rank on its way already?  NULL: it cannot tell. */
	bool (*under_way)(void *ctx, const struct job *job, uint32_t rank);
	/*
	 * Look at that job once, as in a pass in which no host goes; if it is
	 * its turn, also move its ranks from hosts that go.  True if a rank
	 * moves.
	 */
	bool (*look)(void *ctx, const struct job *job, bool turn);
};

/*
 * Have ranks leave all hosts that go, in order.  Returns which jobs were looked at, by
 * ix, to be freed; NULL: no host goes, or none of these has ranks.  O(running ranks)
 * for each host that goes and has ranks, O(hosts) without one.
 */
bool *evacuate(const struct view *view, const struct evacuation *how,
	       void *ctx) must_check;

/*
 * How many of e[0..n), in this order, should begin now: all, if there is time for
 * `doubt` times what they need together with the moves that began before, which still
 * need `under_way` seconds; else one, and none if earlier moves are still under way.
 * Moves share the link: two at once take twice as long each, so that if the prediction
 * was too good neither would be in time.
 */
size_t evacuate_now(const struct evacuee *e, size_t n, double left,
		    double doubt, double under_way);

#endif
