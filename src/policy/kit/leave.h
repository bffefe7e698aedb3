/*
 * leave.h - ranks get out of the way of owners
 *
 * What every policy does that does not see to it itself (POLICY_OWNERS), or has
 * its own order of who is where and when (POLICY_SLICES): a rank
 * on a host whose owner wants it out (host->owner_active) goes to the host that
 * delays it least and takes guests; it stands still where there is none, or
 * where the terms say so first; its job is requeued when that has lasted for
 * as long as the terms allow, if its user lets it.  Who stands still goes on
 * once the host is free again.  A host that is drained by a time is left by then
 * in the same way, but nobody stands still on it, and where the time is short for
 * all, whoever has done most work is first (policy/kit/evacuate.h).
 *
 * policy/migrate/leave.h says the same order for policies that weigh moves: those plan
 * all ranks of a job in one entry, for drained hosts, too, without terms, and know
 * places that they have given away and ranks that are on their way; here each rank is
 * looked at alone, beside whatever any policy has planned.
 */
#ifndef POLICY_KIT_LEAVE_H
#define POLICY_KIT_LEAVE_H

#include "model/plan.h"
#include "model/view.h"

/*
 * After the policy has decided: add what it has not planned for these ranks, as
 * entries that the policy is told of.  O(hosts) where no owner is active and no
 * rank frozen, else O(running ranks + hosts for each that leaves).
 */
void leave_owned(const struct view *view, struct plan *plan);

/*
 * The part of it that is about hosts that go (policy/kit/evacuate.h), for a policy that
 * wants it done before it starts jobs.
 */
void leave_going(const struct view *view, struct plan *plan);

#endif
