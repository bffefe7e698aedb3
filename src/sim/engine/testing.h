/*
 * testing.h - what tests of whole runs share; failures fail the test
 */
#ifndef SIM_ENGINE_TESTING_H
#define SIM_ENGINE_TESTING_H

#include "model/terms.h"
#include "sim/engine/paging.h"
#include "sim/engine/sim.h"

/* nr jobs of a generator at that load, from one seed, with a speedup model or
 * NULL. */
struct workload *make_workload(const char *spec, uint32_t procs, double load,
			       uint64_t nr, const char *speedup);

void simulate(const struct sim_config *config, struct sim_result *ret);

/* Each job started and ended at the same time, on as many processors. */
void check_same_records(const struct sim_result *a, const struct sim_result *b,
			const char *policy);

/* The parameters, which are good. */
struct paging make_paging(const char *text);

/* The parts of a job's time. */
usec_t sum_of(const struct sim_split *s);

/*
 * The terms of all owners: begin_terms() and end_terms() are setup and teardown of a
 * test that has some.  At first a host is quiet after a minute, whatever its load.
 */
extern struct owner_terms test_terms;
int begin_terms(void **state);
int end_terms(void **state);
void set_term(const char *name, const char *value);

#endif
