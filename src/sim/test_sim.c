/* test_sim.c - laws that hold for every policy, and queues known in full */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/xalloc.h"
#include "policy/policy.h"
#include "sim/attach.h"
#include "sim/machine.h"
#include "sim/script.h"
#include "sim/sim.h"
#include "sim/summary.h"

/* No processor twice, none lost: the view's counts against a recount. */
static void recount(void *data, const struct view *view,
		    const struct event *event)
{
	uint32_t *ranks = xcalloc(view->nr_hosts + 1, sizeof(*ranks));
	int64_t used = 0, demand = 0;
	const struct job *j;
	const struct host *h;

	for_each_waiting(j, view) demand += j->size;
	for_each_running(j, view)
	{
		demand += j->size;
		assert_in_range(j->n, j->min_size, j->size);
		if (j->state == JOB_RUNNING)
			used += j->n;
		for (uint32_t i = 0; view->nr_hosts && i < j->n; i++)
			ranks[j->hosts[i]]++;
	}
	assert_true(demand == view->demand);
	if (!view->nr_hosts)
		assert_true(view->nr_free == view->nr_procs - used);
	for_each_host (h, view)
		assert_int_equal(h->nr_ranks, ranks[h->ix]);
	free(ranks);
	(*(uint64_t *)data)++;
}

static const char *const speedups[] = { NULL, "linear", "misp" };

static struct workload *make_workload(const char *spec, uint32_t procs,
				      double load, uint64_t nr,
				      const char *speedup)
{
	const struct workload_setup setup = {
		.procs = procs, .load = load, .nr_jobs = nr, .seed = 11
	};
	struct workload *w;
	struct error err;

	if (workload_create(spec, &setup, &w, &err) < 0 ||
	    (speedup && attach_speedup(&w, speedup, 11, 0, &err) < 0))
		fail_msg("%s", err.text);
	return w;
}

static void simulate(const struct sim_config *config, struct sim_result *ret)
{
	struct error err;

	if (sim_run(config, ret, &err) < 0)
		fail_msg("%s: %s", config->policy, err.text);
}

/* Linear speedup and no costs: the work done is the work there was. */
static void check_work(const struct sim_result *r, const char *policy)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct sim_record *j = &r->record[i];
		double work = j->size * (double)j->run / USEC_PER_SEC;

		if (fabs(j->proc_secs - work) > 1e-4 * work + 1e-3)
			fail_msg("%s: job %ld had %g of %g", policy,
				 (long)j->id, (double)j->proc_secs, work);
	}
}

static void check_all_ended(const struct sim_result *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct sim_record *j = &r->record[i];

		assert_true(j->submit <= j->start && j->start <= j->end);
		assert_int_equal(j->outcome, END_DONE);
	}
}

/* L = lambda W over the window, with jobs counted only while within it. */
static void check_little(const struct sim_result *r)
{
	usec_t from = r->record[0].submit, to = r->record[r->nr - 1].submit;
	double inside = 0;

	for (size_t i = 0; i < r->nr; i++) {
		usec_t end = r->record[i].end;

		inside += (double)((end < to ? end : to) - r->record[i].submit);
	}
	inside /= (double)(to - from);
	assert_true(fabs(r->averages.jobs - inside) < 1e-6 * inside + 1e-9);
}

static void every_policy_keeps_the_laws(void **state)
{
	uint64_t checks = 0;
	const struct sim_observer watch = { .event = recount, .data = &checks };
	const struct policy_ops *p;

	(void)state;
	for (size_t i = 0; (p = policy_nth(i)); i++) {
		for (size_t s = 0; s < 3; s++) {
			struct workload *w =
				make_workload("poisson:overestimate=2", 16, 0.8,
					      400, speedups[s]);
			struct sim_config c = { .workload = w,
						.policy = p->name,
						.observer = &watch };
			struct sim_result r;

			simulate(&c, &r);
			assert_int_equal(r.nr, 400);
			check_all_ended(&r);
			if (s < 2 && !(p->flags & POLICY_SHARES))
				check_work(&r, p->name);
			check_little(&r);
			sim_result_clear(&r);
			workload_destroy(w);
		}
	}
	assert_true(checks > 100000);
}

/* Hosts that fail and are drained, all of which come back, and cancellations.
 */
static char *make_script(size_t *ret_size)
{
	struct random_stream r;
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_size);

	random_init(&r, 5, "script", 0);
	for (int t = 100; f && t < 20000; t += 150) {
		unsigned host = (unsigned)random_below(&r, 16);
		int back = t + 1 + (int)random_below(&r, 700);
		bool down = random_below(&r, 2);

		fprintf(f, "%d %s %u\n%d %s %u\n", t, down ? "down" : "drain",
			host, back, down ? "up" : "undrain", host);
		fprintf(f, "%d cancel %u\n", t,
			(unsigned)random_below(&r, 300));
	}
	if (!f || fclose(f))
		abort(); /* out of memory */
	return text;
}

static void every_policy_bears_failures(void **state)
{
	uint64_t checks = 0;
	const struct sim_observer watch = { .event = recount, .data = &checks };
	const struct policy_ops *p;
	struct sim_script script;
	struct error err;
	size_t size;
	char *text = make_script(&size);

	(void)state;
	assert_int_equal(script_parse(text, size, "test", &script, &err), 0);
	for (size_t i = 0; (p = policy_nth(i)); i++) {
		struct workload *w = make_workload("poisson:overestimate=2", 16,
						   0.8, 300, "misp");
		struct sim_config c = { .workload = w,
					.policy = p->name,
					.observer = &watch,
					.script = &script };
		struct sim_result r;

		simulate(&c, &r);
		for (size_t k = 0; k < r.nr; k++)
			assert_true(r.record[k].end >= r.record[k].submit);
		sim_result_clear(&r);
		workload_destroy(w);
	}
	assert_true(checks > 30000);
	script_clear(&script);
	free(text);
}

static void same_seed_same_records(void **state)
{
	const struct policy_ops *p;

	(void)state;
	for (size_t i = 0; (p = policy_nth(i)); i++) {
		struct sim_result r[2];

		for (int k = 0; k < 2; k++) {
			struct workload *w = make_workload("poisson", 16, 0.9,
							   300, "linear");
			struct sim_config c = { .workload = w,
						.policy = p->name,
						.seed = 3 };

			simulate(&c, &r[k]);
			workload_destroy(w);
		}
		assert_int_equal(r[0].nr, r[1].nr);
		for (size_t j = 0; j < r[0].nr; j++) {
			assert_true(r[0].record[j].start ==
				    r[1].record[j].start);
			assert_true(r[0].record[j].end == r[1].record[j].end);
		}
		sim_result_clear(&r[0]);
		sim_result_clear(&r[1]);
	}
}

/* Mean wait in M/M/c of one job's mean time, by Erlang's C. */
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
	/* Alone in the system: each on the fastest host, at half speed. */
	assert_true(r.record[0].end - r.record[0].start == 2 * r.record[0].run);
	sim_result_clear(&r);
	workload_destroy(w);
	free(hosts);
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
	/* Every change costs five seconds on one to eight processors. */
	assert_true(r.busy > work + 5 * lost - 1);
	assert_true(r.busy < work + 40 * lost + 1);
	sim_result_clear(&r);
	workload_destroy(w);
}

static void bad_machines_and_speedups(void **state)
{
	static const char *const machines[] = { "",	   "x",	     "5x",
						"5x0.5",   "0x1",    "1.5x1",
						"5x1,",	   "-3",     "5x1x0",
						"1x1x1x1", "9999999" };
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
		cmocka_unit_test(every_policy_keeps_the_laws),
		cmocka_unit_test(every_policy_bears_failures),
		cmocka_unit_test(same_seed_same_records),
		cmocka_unit_test(many_servers_wait_as_erlang_says),
		cmocka_unit_test(a_shared_host_is_processor_sharing),
		cmocka_unit_test(hosts_of_several_speeds),
		cmocka_unit_test(resizing_costs_and_kills),
		cmocka_unit_test(bad_machines_and_speedups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
