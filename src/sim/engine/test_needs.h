/*
 * test_needs.h - tests of memory: jobs from a table, with what each needs, on hosts
 * that page
 */
#ifndef SIM_ENGINE_TEST_NEEDS_H
#define SIM_ENGINE_TEST_NEEDS_H

#include "sim/engine/sim.h"

#define MB 1000000

/* A job of one process, or of size. */
struct line {
	usec_t submit, run;
	uint32_t home, size;
	const struct workload_phases *phases;
	uint64_t memory;
};

/* Run them on a machine of hosts; the rest of the configuration is c's. */
void run_with(const struct line *line, size_t nr, const char *machine,
	      const char *paging, struct sim_config c, struct sim_result *ret);
void run_table(const struct line *line, size_t nr, const char *machine,
	       const char *paging, const char *policy, struct sim_result *ret);

/* What was planned, in words, for the caller to free: SECOND PLAN, a line each. */
char *plans_of(const struct line *line, size_t nr, const char *machine,
	       const char *policy, struct sim_result *ret);

#endif
