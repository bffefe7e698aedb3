/*
 * leave.h - ranks leave hosts that they may no longer use
 *
 * From a host that is to be given back, or that is being drained, each rank goes to the
 * host that delays it least, all ranks of a job at once and by the host's deadline.  A
 * rank for which there is no place stands still while the owner is there, and goes on
 * as soon as there is a place or the owner has left; if that takes longer than the
 * owner's terms allow, its job is requeued, if its user allows that.  If there is not
 * time for all ranks until a host goes, the jobs that have done most work leave first
 * (policy/kit/evacuate.h).
 *
 * policy/kit/leave.h does the same for policies that know nothing of owners, one rank
 * at a time, and says what differs.
 */
#ifndef POLICY_MIGRATE_LEAVE_H
#define POLICY_MIGRATE_LEAVE_H

#include "policy/migrate/flights.h"
#include "policy/migrate/targets.h"

enum leave_how {
	LEAVE_MOVES = 1 << 0, /* ranks move; else no place is looked for */
	/* ranks without a place stand still; else they run on */
	LEAVE_FREEZES = 1 << 1,
	LEAVE_ANEW = 1 << 2, /* the whole job is requeued at once */
};

/*
 * recalled, by host: further hosts that are to be given back, although no terms say so;
 * NULL: none.  Looks at all running ranks if any host is to be left or any rank is
 * frozen, else at the hosts alone.
 */
void leave_hosts(unsigned how, const bool *recalled, const struct flights *f,
		 const struct view *view, struct plan *plan,
		 struct targets *targets);

/*
 * How a pass begins, for policies that do nothing before this: clear the targets, have
 * ranks leave hosts, and note their moves in flights.
 */
void leave_first(unsigned how, struct flights *f, const struct view *view,
		 struct plan *plan, struct targets *targets);

/* Is any rank of a job that runs on a host that it must leave, or that does not
 * answer? */
bool leave_concerns(const struct view *view, const struct job *job);

#endif
