/*
 * owners.h - hosts whose owners come and go, in a simulation
 *
 * An activity script (model/activity.h) says what owners do.  Of it follow, by
 * the same rules as in a live agent (model/contract.h): when a host is open to
 * guests, when they should leave, and what its owner bears.  The policy is told
 * by EVENT_HOST at the instant of the change.
 *
 * The script's hosts are those of the machine of the same names; where the
 * machine's hosts have no names, in the order of their first lines.  An owner is
 * there while the script says so, or while the keyboard is busy.
 */
#ifndef SIM_ENGINE_OWNERS_H
#define SIM_ENGINE_OWNERS_H

#include "core/error.h"
#include "model/event.h"
#include "sim/engine/sim.h"

struct engine;
struct engine_part;
struct owners;

/*
 * *ret is NULL where the configuration has no activity.  Otherwise the view's
 * hosts are as the script has them at view.now, and owners_destroy() frees it.
 * -EINVAL if the script and the machine do not fit.
 */
int owners_create(struct engine *g, struct owners **ret,
		  struct error *err) must_check;
void owners_destroy(struct owners *o); /* NULL is allowed */

/* What the engine calls of it, where there are any: what is due happens, and hosts
 * say what jobs have changed of them. */
extern const struct engine_part engine_part_owners;

/* A rank is to come to that host, or has or will not; o may be NULL. */
void owners_touch(struct owners *o, uint32_t ix);

/* Complete the sums at the end: the result's owner, nr_owners and owners. */
void owners_sum(struct engine *g, struct sim_result *ret);

#endif
