/*
 * leave.h - ranks leave hosts that are not theirs any longer
 *
 * From a host that is to be given back, or that is being drained, each rank goes
 * where it is least delayed, all of a job at once and by the host's deadline.
 * One that finds no place stands still while the owner is there, and goes on as
 * soon as a place is found or the owner has left; where that takes longer than
 * the owner's terms allow, its job waits anew, if its user lets it.  Where the time
 * until a host goes is short for all, whoever has done most work is first
 * (policy/kit/evacuate.h).
 *
 * policy/kit/leave.h does it for policies that know nothing of owners, a rank at a time;
 * what differs is there.
 */
#ifndef POLICY_MIGRATE_LEAVE_H
#define POLICY_MIGRATE_LEAVE_H

#include "policy/migrate/flights.h"
#include "policy/migrate/targets.h"

enum leave_how {
	LEAVE_MOVES = 1 << 0,	/* else they do not look for a place */
	LEAVE_FREEZES = 1 << 1, /* else they run on where there is none */
	LEAVE_ANEW = 1 << 2,	/* the whole job waits anew at once */
};

/*
 * recalled, by host: those that are to be given back, too, though no terms say so;
 * NULL: none.  Costs the ranks of jobs that run, where any host is to be left or any rank is
 * frozen; the hosts else.
 */
void leave_hosts(unsigned how, const bool *recalled, const struct flights *f,
		 const struct view *view, struct plan *plan,
		 struct targets *targets);

/*
 * How a pass begins for those who have nothing else to do before: nothing is known of
 * targets, ranks leave hosts, and flights know of it.
 */
void leave_first(unsigned how, struct flights *f, const struct view *view,
		 struct plan *plan, struct targets *targets);

/* Is any rank of a job that runs on a host that it must leave, or that does not
 * answer? */
bool leave_concerns(const struct view *view, const struct job *job);

#endif
