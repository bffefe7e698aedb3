/*
 * crew.h - worker processes that compute independent runs
 *
 * A crew is some forked workers, each with a socket to the process that made
 * them.  A worker takes one run at a time, computes it with the function the
 * crew was made for, and answers with its values.  Which worker computes a run
 * cannot change its values; the order of the answers may differ, and who uses
 * a crew must not depend on it.
 *
 * Workers die with their maker.  One that dies by itself is an error.
 */
#ifndef SIM_SWEEP_CREW_H
#define SIM_SWEEP_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

enum { CREW_VALUES = 32 }; /* the most a run can answer */

struct crew_result {
	uint32_t cell, replication;
	int rc; /* of the run; if negative, error says why */
	struct error error;
	double value[CREW_VALUES];
};

/* Compute one run; value has room for CREW_VALUES, zeroed. */
typedef int (*crew_work)(void *arg, uint32_t cell, uint32_t replication,
			 double *value, struct error *err);

struct crew;

/* nr workers (at least 1), forked here and now: arg is as it is now. */
int crew_create(unsigned nr, crew_work work, void *arg, struct crew **ret,
		struct error *err) must_check;

/* Is a worker without work? */
bool crew_idle(const struct crew *crew);

/* Give a run to an idle worker. */
int crew_give(struct crew *crew, uint32_t cell, uint32_t replication,
	      struct error *err) must_check;

/* Wait for the next answer.  -ENODATA if nobody has work. */
int crew_take(struct crew *crew, struct crew_result *ret,
	      struct error *err) must_check;

/* What to do with the answer of a run. */
typedef void (*crew_take_fn)(const struct crew_result *r, void *arg);

/*
 * Have the first `runs` replications of nr cells from `first` on computed and
 * taken, in whichever order.  The first run that fails ends it, with its
 * error.
 */
int crew_run_all(struct crew *crew, uint32_t first, uint32_t nr, uint32_t runs,
		 crew_take_fn take, void *arg, struct error *err) must_check;

/* Ends the workers, whatever they are at, and frees.  NULL is allowed. */
void crew_destroy(struct crew *crew);

#endif
