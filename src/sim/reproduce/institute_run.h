/*
 * institute_run.h - one long job on the institute's hosts under Dynamic-SED, for
 * four days (Schnor 1997 section 5.5)
 */
#ifndef SIM_REPRODUCE_INSTITUTE_RUN_H
#define SIM_REPRODUCE_INSTITUTE_RUN_H

#include "core/error.h"
#include "sim/reproduce/institute.h"

/* Who asks for how much of what is available when it starts. */
enum institute_job { JOB_GREEDY, JOB_70, JOB_50, INSTITUTE_JOBS };

struct institute_result {
	double size;
	double promised;   /* delay class it was started in */
	double delay;	   /* mean over time of that of its most delayed rank */
	double moves;	   /* of ranks, an hour */
	double moves_most; /* in one hour since it was started */
};

struct institute_setup {
	struct institute_law law;
	double start; /* hours after midnight */
	const char *policy;
	uint64_t seed;
};

/*
 * Each job alone, on the same days: A_greedy asks for any number of nodes, and the
 * others for exactly 70 % and 50 % of what it gets, rounded down, at least 1.
 */
int institute_run(const struct institute_setup *setup, uint64_t replication,
		  struct institute_result ret[INSTITUTE_JOBS],
		  struct error *err) must_check;

#endif
