/*
 * days.h - a parallel workload for some days on hosts that belong to people
 *
 * The model of Arpaci 1995 sections 2.2, 4 and 5: the jobs of a dedicated machine run
 * on workstations while their owners are away, in gang slices, and move when an owner
 * comes, their job standing still meanwhile.  What they lose by that is measured
 * against the dedicated machine under the same slices, with the same jobs.
 *
 * Runs are pure functions of the study, the number of hosts and the replication.
 * Host n of a replication is the same person whatever the number of hosts, so that
 * two numbers are compared on the same days.
 */
#ifndef SIM_SIZE_DAYS_H
#define SIM_SIZE_DAYS_H

#include <stdint.h>

#include "core/error.h"
#include "core/units.h"
#include "sim/workload/owners_law.h"

struct days {
	const char
		*workload; /* a generator, whose machine is the dedicated one */
	double load;	   /* offered there; 0: the generator's */
	const char *policy;
	struct owners_law law;
	/* Recorded instead: its hosts on its whole days, drawn at random with
	 * replacement; NULL: by the law. */
	const struct activity *recorded;
	enum owners_sign sign;
	usec_t quiet;	 /* not used for so long: recruited */
	uint32_t delays; /* a day that an owner bears; UINT32_MAX: any number */
	usec_t move;	 /* that a job stands still when ranks of it move */
	bool in_turn;	 /* that passes only while the job has its turn */
	bool requeue;	 /* users let their jobs be taken off and begin anew */
	uint64_t seed;
};

/* As in the paper: a busy day at Los Alamos, slices of 2 s, moves of 2 s, hosts
 * recruited after 3 minutes, no limit to delays. */
void days_init(struct days *d);

struct days_result {
	/* Mean over jobs of response here / on the dedicated machine, the
	 * paper's normalized slowdown; ratio of the mean responses. */
	double slowdown, response;
	double dedicated;    /* mean over jobs of response / run there */
	double moves;	     /* ranks, of all jobs */
	double delays;	     /* mean of an owner and day */
	double delays_most;  /* on a day, of the most disturbed owner */
	double delays_third; /* of the third most disturbed */
};

int days_run(const struct days *d, uint32_t hosts, uint64_t replication,
	     struct days_result *ret, struct error *err) must_check;

/* Processors of the dedicated machine. */
int days_dedicated(const struct days *d, uint32_t *ret,
		   struct error *err) must_check;

#endif
