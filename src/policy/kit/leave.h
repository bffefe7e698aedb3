/*
 * leave.h - ranks get out of the way of owners
 *
 * This is done for every policy, except those that do it themselves (POLICY_OWNERS) or
 * decide by themselves which job is where and when (POLICY_SLICES). A rank on a host
 * whose owner wants it out (host->owner_active) goes to that host which takes guests
 * and delays it least.  If there is none, or if the terms say so, it stands still; when
 * that has lasted for as long as the terms allow, its job is requeued, if its user
 * allows that.  A rank that stands still goes on once the host is free again.  A host
 * that is to be drained by a certain time is left by then in the same way, but no rank
 * stands still on it; and if there is not time for all, the jobs that have done most
 * work leave first (policy/kit/evacuate.h).
 *
 * policy/migrate/leave.h does the same for policies that weigh moves: these plan all
 * ranks of a job in one entry, and know which places they have given away and which
 * ranks are on their way.  Here each rank is looked at alone, beside whatever the
 * policy has planned.
 */
#ifndef POLICY_KIT_LEAVE_H
#define POLICY_KIT_LEAVE_H

#include "model/plan.h"
#include "model/view.h"

/*
 * To be called after the policy has decided: add entries for those of these ranks for
 * which it has planned nothing; the policy is told of them.  O(hosts) if no owner is
 * active and no rank frozen, else O(running ranks + hosts for each that leaves).
 */
void leave_owned(const struct view *view, struct plan *plan);

/*
 * The part of it that concerns hosts that go (policy/kit/evacuate.h), for a policy that
 * wants this done before it starts jobs.
 */
void leave_going(const struct view *view, struct plan *plan);

#endif
