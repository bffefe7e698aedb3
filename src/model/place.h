/*
 * place.h - hosts for a job whose policy leaves the choice to its driver
 */
#ifndef MODEL_PLACE_H
#define MODEL_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/plan.h"
#include "model/view.h"

/*
 * Choose hosts for n ranks, one after the other, each with the least delay:
 * alpha * max(1, (1 + external load + ranks there) / cores), counting what the
 * plan puts there already; ties to the fewer ranks, then to the lower index.
 * Hosts whose owner is active come last of all, and only if owners is true.
 * Returns false, with ret untouched, if plan_room() leaves less room than n
 * ranks need.
 *
 * O(hosts + n log hosts).
 */
bool place_least_delay(const struct view *view, const struct plan *plan,
		       uint32_t n, bool owners, uint32_t *ret);
/*
 * The same for ranks of that job: on hosts that it is known to leave in time
 * (host_outlasts()).  home: at those of its user they are no guests, whatever these
 * lend (plan_room_of()).
 */
bool place_least_delay_of(const struct view *view, const struct plan *plan,
			  const struct job *job, bool home, uint32_t n,
			  bool owners, uint32_t *ret);

/*
 * The same for a policy that counts processors and has found n of them free
 * (view->nr_free): each rank gets a core that no running rank has.  job, if not
 * NULL, runs and its size is to change: its ranks stay where they are, on hosts
 * that are being drained too, as far as n allows.
 */
bool place_on_cores(const struct view *view, const struct job *job, uint32_t n,
		    uint32_t *ret);

#endif
