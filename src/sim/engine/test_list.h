/* test_list.h - schedules worked by hand: jobs in a row, and when they start */
#ifndef SIM_ENGINE_TEST_LIST_H
#define SIM_ENGINE_TEST_LIST_H

#include "model/activity.h"
#include "sim/engine/sim.h"

/* Submit, run (= estimate), size, user; seconds.  With a least size it is
 * malleable, with linear speedup; else rigid. */
struct row {
	int submit, run, size, user, min;
};

/* Run policy on machine: a number of processors, or hosts ("2x1,1x4").  *ret
 * is for sim_result_clear(). */
void simulate_list(const char *policy, const char *machine,
		   struct sim_config config, const struct row *row, int64_t nr,
		   struct sim_result *ret);

/* Start times in seconds must be these. */
void check(const char *policy, const char *machine, const struct row *row,
	   int64_t nr, const double *start);

#define CHECK(policy, machine, rows, ...)                            \
	check(policy, machine, rows, sizeof(rows) / sizeof(*(rows)), \
	      (const double[]){ __VA_ARGS__ })

/* The parts of the time of job number `job`, from 1 on, in seconds. */
void check_split(const struct sim_result *result, int job, int queue,
		 int running, int still, int frozen, int lost);

/* What owners do, in the lines of an activity script; activity_clear() frees it. */
#define ACTIVITY_HEAD "time,host,what,value\n"
struct activity read_activity(const char *script);

/* The same among owners with test_terms (testing.h), whom the script tells of. */
void run_owned(const char *policy, const char *machine, const char *script,
	       struct sim_config config, const struct row *row, int64_t nr,
	       struct sim_result *ret);

#endif
