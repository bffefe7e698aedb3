/*
 * test_schnor.c - Schnor's workloads against their definition
 * (sections 2.2.2 and 4.3.1, Tables 2.3 and 4.2)
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/job.h"
#include "sim/engine/sim.h"
#include "sim/report/stats.h"
#include "sim/reproduce/sed_chain.h"
#include "sim/workload/machine.h"
#include "sim/workload/workload.h"

static struct workload *make(const char *spec, double load, uint64_t nr)
{
	const struct workload_setup setup = { .load = load,
					      .nr_jobs = nr,
					      .seed = 5 };
	struct workload *w;
	struct error err;

	if (workload_create(spec, &setup, &w, &err) < 0)
		fail_msg("%s", err.text);
	return w;
}

static void near(double got, double want, double share)
{
	if (!(fabs(got - want) <= share * want))
		fail_msg("%.6g is not %.6g", got, want);
}

static double cv(const struct stats *s)
{
	return sqrt(stats_variance(s)) / s->mean;
}

/*
 * What was drawn: run times by size, sizes, and all the work that is offered.
 */
struct drawn {
	struct stats size, run, of_class[5];
	double work, span; /* processors x seconds; seconds */
};

static int class_of(uint32_t size)
{
	return size == 1    ? 0
	       : size <= 16 ? 1
	       : size <= 32 ? 2
	       : size <= 64 ? 3
			    : 4;
}

static void draw(const char *spec, double load, uint64_t nr, struct drawn *d)
{
	struct workload *w = make(spec, load, nr);
	struct workload_job j;

	*d = (struct drawn){ .work = 0 };
	while (workload_next(w, &j, NULL) > 0) {
		double run = usec_to_seconds(j.run);

		stats_add(&d->size, j.size);
		stats_add(&d->run, run);
		stats_add(&d->of_class[class_of(j.size)], run);
		d->work += j.size * run;
		d->span = usec_to_seconds(j.submit);
		assert_true(j.estimate == j.run);
	}
	workload_destroy(w);
}

/* FT: half of mean 10 min, half of 120, whatever the size, which is uniform in
 * 1..100; rho = lambda size / (mu n). */
static void fixed_time(void **state)
{
	struct drawn d;

	(void)state;
	draw("schnor:kind=ft", 0.6, 400000, &d);
	near(d.size.mean, 50.5, 0.005);
	near(sqrt(stats_variance(&d.size)), sqrt(9999 / 12.), 0.01);
	near(d.run.mean, 3900, 0.01);
	near(cv(&d.run), 1.56, 0.02); /* as the text says */
	near(d.of_class[1].mean, d.of_class[4].mean, 0.03);
	near(d.work / d.span / 100, 0.6, 0.02);
	draw("schnor:kind=ft-exp", 0.6, 400000, &d);
	near(d.run.mean, 7200, 0.01);
	near(cv(&d.run), 1, 0.01);
}

/* Table 2.3: means, and the coefficients of variation in its last column. */
static void memory_bound(void **state)
{
	static const struct {
		double mean, cv;
	} table[] = { { 0.75 * 10 + 0.25 * 450, 2.45 },
		      { 0.75 * 120 + 0.25 * 2040, 2.24 },
		      { 0.75 * 360 + 0.25 * 3600, 1.97 },
		      { 0.75 * 720 + 0.25 * 7440, 1.98 },
		      { 0.5 * 1800 + 0.5 * 5400, 1.22 } };
	struct drawn d;

	(void)state;
	draw("schnor:kind=mb", 0.5, 1000000, &d);
	for (int c = 0; c < 5; c++) {
		near(d.of_class[c].mean, table[c].mean, c ? 0.02 : 0.06);
		near(cv(&d.of_class[c]), table[c].cv, c ? 0.02 : 0.06);
	}
	near(d.work / d.span / 100, 0.5, 0.02);
}

/* Demands are the sequential times on a fastest host; sizes are 1..30. */
static void chapter_4(void **state)
{
	struct drawn d;

	(void)state;
	draw("schnor:kind=proof,system=1", 0.5, 20000, &d);
	near(d.size.mean, 30, 1e-12);
	near(d.run.mean, 200, 1e-12); /* 100 min on 30 hosts */
	near(d.work / d.span, 0.5 * (5 + 25 / 4.), 0.02);
	draw("schnor:kind=exp,system=2", 0.5, 200000, &d);
	near(30 * d.run.mean, 7200, 0.01);
	near(cv(&d.run), 1, 0.01);
	near(d.work / d.span, 0.5 * (20 + 10 / 4.), 0.02);
	draw("schnor:kind=hyperexp,system=2'", 0.5, 200000, &d);
	near(30 * d.run.mean, 3900, 0.01);
	near(cv(&d.run), 1.56, 0.02);
	near(d.work / d.span, 0.5 * (20 + 10 / 10.), 0.02);
	draw("schnor:kind=fs,system=3", 0.5, 200000, &d);
	near(d.size.mean, 15.5, 0.01);
	near(d.work / d.span, 0.5 * (5 + 20 / 4. + 5 / 10.), 0.02);
	draw("schnor:kind=exp,system=2,rate=2.8", 0, 200000, &d);
	near(200000 / d.span, 2.8 / 1000, 0.01);
}

static void check_kind(const char *spec, const char *hosts, int kind,
		       uint32_t min_size)
{
	struct workload *w = make(spec, 0.5, 10);
	struct workload_job j;

	assert_string_equal(w->hosts, hosts);
	assert_true(w->nr_warmup == 1);
	assert_int_equal(workload_next(w, &j, NULL), 1);
	assert_int_equal(j.kind, kind);
	assert_int_equal(j.min_size, min_size ? min_size : j.size);
	workload_destroy(w);
}

/*
 * Which jobs may run on fewer processors than they ask for, and on which
 * machines.
 */
static void models_and_machines(void **state)
{
	(void)state;
	check_kind("schnor:kind=ft", "100x1", JOB_MOLDABLE, 1);
	check_kind("schnor:kind=proof,system=1", "5x1,25x4", JOB_MOLDABLE, 1);
	check_kind("schnor:kind=exp,system=2", "20x1,10x4", JOB_MOLDABLE, 1);
	check_kind("schnor:kind=exp,system=2'", "20x1,10x10", JOB_MOLDABLE, 1);
	check_kind("schnor:kind=exp,system=3", "5x1,20x4,5x10", JOB_MOLDABLE,
		   1);
	check_kind("schnor:kind=fs,system=1", "5x1,25x4", JOB_RIGID, 0);
}

/* Of jobs that come after the first hundreds. */
static double long_run(const struct sed_demand *d, double load)
{
	double mean = d->mean[0] * d->weight[0] + d->mean[1] * d->weight[1];

	return sed_chain_gap(d, load * 22.5 / mean, 600, 200);
}

static const struct sed_demand exponential = { { 7200, 7200 }, { 1, 0 } };
static const struct sed_demand hyperexponential = { { 600, 7200 },
						    { 0.5, 0.5 } };

/* The chain, followed step by step, and its balance of flows. */
static void the_chain_has_a_closed_form(void **state)
{
	(void)state;
	for (double load = 0.2; load < 0.85; load += 0.2)
		near(long_run(&exponential, load),
		     7200 * sed_chain_closed(load), 1e-3);
}

/*
 * Simulated mean time between migrations on system 2, without standstill.
 */
static double simulated_gap(const char *spec, double load)
{
	struct workload *w = make(spec, load, 100000);
	struct sim_config config = { .workload = w, .policy = "sed2" };
	struct sim_result r;
	struct host *hosts;
	struct error err;
	double gap;

	if (machine_parse(w->hosts, &hosts, &config.nr_hosts, &err) < 0)
		fail_msg("%s", err.text);
	config.hosts = hosts;
	if (sim_run(&config, &r, &err) < 0)
		fail_msg("%s", err.text);
	gap = usec_to_seconds(r.end - r.begin) / (double)r.migration_events;
	sim_result_clear(&r);
	free(hosts);
	workload_destroy(w);
	return gap;
}

static void migrations_are_a_markov_chain(void **state)
{
	static const double loads[] = { 0.3, 0.7 };

	(void)state;
	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
		near(simulated_gap("schnor:kind=exp,system=2", loads[i]),
		     long_run(&exponential, loads[i]), 0.02);
		near(simulated_gap("schnor:kind=hyperexp,system=2", loads[i]),
		     long_run(&hyperexponential, loads[i]), 0.03);
	}
}

/* ---- the same, drawn event by event ---- */

/* Means of those who run: on fast hosts, all 20 of them or 10, and on the slow ones; 0: none. */
struct chain {
	double fast[2], slow, migrations;
	bool halves; /* jobs on fast hosts have ten */
	unsigned waiting;
};

static double draw_mean(struct random_stream *r, const struct sed_demand *d)
{
	return d->mean[random_unit(r) >= d->weight[0]];
}

static void arrives(struct chain *s, double mean)
{
	if (s->slow > 0)
		s->waiting++;
	else if (s->fast[0] <= 0)
		*s = (struct chain){ { mean, 0 }, 0, s->migrations, false, 0 };
	else if (s->halves && s->fast[1] <= 0)
		s->fast[1] = mean;
	else
		s->slow = mean;
}

/* Whoever waits comes instead; else who is on slow hosts moves to ten of those, if any. */
static void ends(struct chain *s, int i, double mean)
{
	if (s->waiting) {
		s->waiting--;
		s->fast[i] = mean;
	} else if (s->slow > 0) {
		s->fast[i] = s->slow;
		s->slow = 0;
		s->halves = true;
		s->migrations++;
	} else {
		s->fast[0] = s->fast[1 - i];
		s->fast[1] = 0;
	}
}

static double drawn_gap(const struct sed_demand *d, double load)
{
	double mean = d->mean[0] * d->weight[0] + d->mean[1] * d->weight[1];
	double come = load * 22.5 / mean, time = 0;
	struct chain s = { .waiting = 0 };
	struct random_stream r;

	random_init(&r, 1, "chain", 0);
	for (int i = 0; i < 3000000; i++) {
		double n = s.halves ? 10 : 20;
		double a = s.fast[0] > 0 ? n / s.fast[0] : 0;
		double b = s.fast[1] > 0 ? n / s.fast[1] : 0;
		double c = s.slow > 0 ? 2.5 / s.slow : 0;
		double all = come + a + b + c, u = all * random_unit(&r);
		double next = draw_mean(&r, d);

		time += 1 / all;
		if (u < come) {
			arrives(&s, next);
		} else if (u < come + a + b) {
			ends(&s, u >= come + a, next);
		} else {
			s.slow = s.waiting ? next : 0;
			s.waiting -= s.waiting > 0;
		}
	}
	return time / s.migrations;
}

/* Demands that differ most tell whose is whose. */
static void each_job_keeps_its_demand(void **state)
{
	static const struct sed_demand demands[] = {
		{ { 600, 7200 }, { 0.5, 0.5 } },
		{ { 200, 7200 }, { 0.8, 0.2 } },
		{ { 1000, 10000 }, { 0.9, 0.1 } },
	};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (double load = 0.2; load < 0.7; load += 0.2)
			near(drawn_gap(&demands[i], load),
			     long_run(&demands[i], load), 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_time),
		cmocka_unit_test(memory_bound),
		cmocka_unit_test(chapter_4),
		cmocka_unit_test(models_and_machines),
		cmocka_unit_test(migrations_are_a_markov_chain),
		cmocka_unit_test(the_chain_has_a_closed_form),
		cmocka_unit_test(each_job_keeps_its_demand),
	};

	return cmocka_run_group_tests_name("schnor", tests, NULL, NULL);
}
