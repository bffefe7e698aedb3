/*
 * attach.h - speedup models for jobs that came without one
 *
 * Traces know rigid jobs only.  To run moldable and malleable policies on
 * them, each job gets a model of how its run time depends on its processors.
 */
#ifndef SIM_WORKLOAD_ATTACH_H
#define SIM_WORKLOAD_ATTACH_H

#include <stdint.h>

#include "sim/workload/workload.h"

/*
 * Wrap *workload, which the result takes over, so that its jobs are of a kind
 * and have a speedup.  spec is "MODEL:key=value,...":
 *	linear		t(m) = n t(n) / m
 *	misp		a serial fraction, from an efficiency on the size asked
 *			for drawn uniformly from [low, high] for each job
 *	table		efficiencies at processor counts, points=1@1/8@0.9/...
 *
 * all with kind=malleable (or moldable) and min=FEWEST processors.  Needs the
 * seed for the draws.  On failure *workload is as it was.
 */
int attach_speedup(struct workload **workload, const char *spec, uint64_t seed,
		   uint64_t replication, struct error *err) must_check;

/* Is spec one?  For command lines, before anything is read or computed. */
int attach_check(const char *spec, struct error *err) must_check;

#endif
