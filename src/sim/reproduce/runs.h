/*
 * runs.h - many independent runs of an entry's own kind, on all workers
 *
 * For entries whose runs are not those of a sweep.  What comes out depends on the
 * work alone, never on the number of workers.
 */
#ifndef SIM_REPRODUCE_RUNS_H
#define SIM_REPRODUCE_RUNS_H

#include "sim/reproduce/reproduce.h"
#include "sim/sweep/crew.h"

/* The same replications 0..n-1 of each cell, so that cells are compared pair by pair. */
struct runs {
	crew_work work; /* a run, which answers with so many values: */
	uint32_t nr_values;
	void *arg; /* for work; as it is when runs_do() begins */
	uint32_t nr_cells, n;
	double *value; /* [cell][value][replication]; runs_clear() frees it */
};

/* Do them.  The error of a run that failed; then there are no values. */
int runs_do(const struct reproduce *r, struct runs *runs,
	    struct error *err) must_check;
void runs_clear(struct runs *runs); /* zeroed is fine */

/* The n replications of one value of one cell. */
double *runs_at(const struct runs *runs, size_t cell, unsigned value);

/* Their mean, at r->level; the mean of n numbers. */
struct estimate runs_mean(const struct reproduce *r, const struct runs *runs,
			  size_t cell, unsigned value);
struct estimate runs_mean_of(const struct reproduce *r, const double *x,
			     uint32_t n);

#endif
