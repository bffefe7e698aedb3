/*
 * wodi.h - handing the work steps of a master-worker job to its workers, as
 * CARMI/WoDi does (Schnor 1997 §1.6.4)
 *
 * Work steps come in cycles: all results of one are needed before the next
 * begins.  Within a cycle a worker that is free takes the next step.  WoDi
 * remembers how long the steps of the cycle before took and hands out the
 * longest first; the alternative is the order in which the master made them.
 * With exact estimates, longest first is at most 4/3 - 1/(3m) times the best
 * on m equal workers (Graham 1969).
 */
#ifndef SIM_WORKLOAD_WODI_H
#define SIM_WORKLOAD_WODI_H

#include <stdint.h>

#include "core/units.h"

enum wodi_order { WODI_LONGEST_FIRST, WODI_AS_GIVEN };

/*
 * The order in which to hand out nr steps; ret[nr] gets their indices.
 * estimate[i] is what step i took in the cycle before (0: not known, and
 * such steps go first).  Ties go to the lower index.
 */
void wodi_order(enum wodi_order order, const usec_t *estimate, uint32_t nr,
		uint32_t *ret);

/*
 * How long a cycle takes: steps of these lengths in that order, each to the
 * worker free first (ties: who became so first).  speed[w] is worker w's speed
 * factor alpha (NULL: all 1); workers >= 1.  If ret_worker is not NULL,
 * ret_worker[i] is who did step i.
 */
usec_t wodi_cycle(const usec_t *length, const uint32_t *order, uint32_t nr,
		  const double *speed, uint32_t workers, uint32_t *ret_worker);

#endif
