/*
 * test_among.h - a random machine among random owners, for tests of whole runs: hosts that
 * fail, owners who come and go, costs of moves, and sixty jobs
 */
#ifndef SIM_ENGINE_TEST_AMONG_H
#define SIM_ENGINE_TEST_AMONG_H

#include "model/activity.h"
#include "sim/engine/sim.h"
#include "sim/workload/script.h"

enum { AMONG_HOSTS = 8, AMONG_RANKS = 5, AMONG_JOBS = 60 };

struct among {
	uint64_t seed;
	struct host host[AMONG_HOSTS];
	bool own[AMONG_HOSTS]; /* it is that of all jobs' user */
	struct activity activity;
	struct sim_script script;
	struct sim_costs costs;
	uint64_t memory; /* of a rank */
	bool requeue;
	usec_t run[AMONG_JOBS + 1]; /* by the job's number */
};

void among_begin(struct among *a, uint64_t seed);
/* Under test_terms (testing.h). */
void among_run(const struct among *a, const char *policy,
	       const struct sim_observer *watch, struct sim_result *ret);
void among_end(struct among *a);

/* Is the job no guest there? */
bool among_is_home(const struct among *a, const struct job *job, uint32_t host);

#endif
