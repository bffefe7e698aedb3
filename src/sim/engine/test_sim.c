/* test_sim.c - queues with known results, machines and their costs */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/engine/testing.h"
#include "sim/report/summary.h"
#include "sim/workload/attach.h"
#include "sim/workload/machine.h"

/* The mean wait in M/M/c, in units of a job's mean time, by Erlang's C. */
static double erlang_wait(unsigned c, double load, double mean)
{
	double term = 1, sum = 0, a = load * c;

	for (unsigned k = 0; k < c; k++) {
		sum += term;
		term *= a / (k + 1);
	}
	term /= 1 - load; /* term was a^c / c! */
	return term / (sum + term) * mean / (c * (1 - load));
}

static void many_servers_wait_as_erlang_says(void **state)
{
	static const unsigned servers[] = { 1, 4, 16 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct workload *w = make_workload(
			"poisson:max-size=1", servers[i], 0.8, 400000, NULL);
		struct sim_config c = { .workload = w, .policy = "fcfs" };
		double want = erlang_wait(servers[i], 0.8, 100);
		struct sim_result r;
		struct summary s;

		simulate(&c, &r);
		summary_make(&r, &s);
		if (fabs(s.wait.mean - want) > 0.05 * want)
			fail_msg("M/M/%u waits %g, not %g", servers[i],
				 s.wait.mean, want);
		sim_result_clear(&r);
		workload_destroy(w);
	}
}

/*
 * A load of 1/2 on 4 processors, by jobs of 1 to 3 processors for 100 s, each
 * size as often: 200 processor seconds each, so one job arrives every 100 s.
 */
static void a_poisson_load_is_what_is_asked_for(void **state)
{
	enum { N = 20000 };
	struct workload *w = make_workload("poisson:max-size=3,time=constant",
					   4, 0.5, N, NULL);
	unsigned of_size[4] = { 0 };
	struct workload_job job;

	(void)state;
	for (int i = 0; i < N; i++) {
		assert_int_equal(workload_next(w, &job, NULL), 1);
		assert_in_range(job.size, 1, 3);
		of_size[job.size]++;
	}
	assert_true(fabs(usec_to_seconds(job.submit) / N / 100 - 1) < 0.04);
	for (int i = 1; i <= 3; i++)
		assert_true(fabs(of_size[i] * 3. / N - 1) < 0.06);
	workload_destroy(w);
}

/* M/G/1 processor sharing: mean / (1 - load), whatever the distribution. */
static void a_shared_host_is_processor_sharing(void **state)
{
	static const char *const spec[] = {
		"poisson:max-size=1", "poisson:max-size=1,time=constant"
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct workload *w =
			make_workload(spec[i], 1, 0.6, 60000, NULL);
		struct sim_config c = { .workload = w, .policy = "spread" };
		struct sim_result r;
		struct summary s;

		simulate(&c, &r);
		summary_make(&r, &s);
		if (fabs(s.response.mean - 250) > 0.05 * 250)
			fail_msg("%s: response %g, not 250", spec[i],
				 s.response.mean);
		sim_result_clear(&r);
		workload_destroy(w);
	}
}

static void hosts_of_several_speeds(void **state)
{
	struct workload *w = make_workload("poisson:max-size=1,time=constant",
					   1, 0.001, 50, NULL);
	struct sim_config c = { .workload = w, .policy = "spread" };
	struct host *hosts;
	struct sim_result r;

	(void)state;
	assert_int_equal(machine_parse("2x4,1x2", &hosts, &c.nr_hosts, NULL),
			 0);
	c.hosts = hosts;
	simulate(&c, &r);
	/*
	 * Each job is alone in the system, and runs on the fastest host, at
	 * half speed.
	 */
	assert_true(r.record[0].end - r.record[0].start == 2 * r.record[0].run);
	sim_result_clear(&r);
	workload_destroy(w);
	free(hosts);
}

/* Those of the warm-up, too. */
static void what_jobs_had_was_busy(void **state)
{
	struct workload *w = make_workload("ismail", 64, 0.8, 900, NULL);
	struct sim_config c = { .workload = w, .policy = "ff" };
	struct sim_result r;
	double had = 0, warmup = 0;

	(void)state;
	simulate(&c, &r);
	for (size_t i = 0; i < r.nr; i++) {
		had += (double)r.record[i].proc_secs;
		warmup += i < r.nr_warmup ? (double)r.record[i].proc_secs : 0;
	}
	assert_true(warmup > 0.1 * had);
	assert_true(fabs(r.busy / had - 1) < 1e-6);
	sim_result_clear(&r);
	workload_destroy(w);
}

static void resizing_costs_and_kills(void **state)
{
	struct workload *w =
		make_workload("poisson:time=constant", 8, 0.9, 200, "linear");
	struct sim_config c = { .workload = w,
				.policy = "dfcfs",
				.costs.resize = 5 * USEC_PER_SEC };
	struct sim_result r;
	double work = 0, lost = 0;

	(void)state;
	simulate(&c, &r);
	for (size_t i = 0; i < r.nr; i++) {
		work += r.record[i].size * 100.;
		lost += r.record[i].resizes;
	}
	assert_true(lost > 0);
	/*
	 * Every change costs five seconds on between one and eight processors.
	 */
	assert_true(r.busy > work + 5 * lost - 1);
	assert_true(r.busy < work + 40 * lost + 1);
	sim_result_clear(&r);
	workload_destroy(w);
}

static void bad_machines_and_speedups(void **state)
{
	static const char *const machines[] = {
		"",	   "x",	       "5x",	     "5x0.5",  "0x1",
		"1.5x1",   "5x1,",     "-3",	     "5x1x0",  "1x1x1x",
		"1x1x1x0", "1x1x1x4Q", "1x1x1x4Gx1", "9999999"
	};
	static const char *const bad[] = {
		"cubic",	  "misp:low=0.9,high=0.5",
		"misp:high=0.5",  "table",
		"table:points=1", "table:points=4@1/2@0.5",
		"linear:min=0"
	};
	struct workload *w = make_workload("poisson", 4, 0.5, 1, NULL);
	struct host *hosts = NULL;
	struct error err;
	uint32_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machine_parse(machines[i], &hosts, &n, &err) != -EINVAL)
			fail_msg("'%s' was taken", machines[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (attach_speedup(&w, bad[i], 1, 0, &err) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
	workload_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_servers_wait_as_erlang_says),
		cmocka_unit_test(a_poisson_load_is_what_is_asked_for),
		cmocka_unit_test(a_shared_host_is_processor_sharing),
		cmocka_unit_test(hosts_of_several_speeds),
		cmocka_unit_test(what_jobs_had_was_busy),
		cmocka_unit_test(resizing_costs_and_kills),
		cmocka_unit_test(bad_machines_and_speedups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
