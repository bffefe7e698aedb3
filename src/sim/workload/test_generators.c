/*
 * test_generators.c - what all generators of jobs keep, and the laws by which those draw that
 * nothing else computes again: programs that need memory (Chen 2002 section 3), and
 * pools of tasks (Schnor 1997 section 1.6.4)
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/xalloc.h"
#include "sim/workload/workload.h"

enum { MANY = 4000 };

static struct workload *create(const char *spec, struct workload_setup setup)
{
	struct workload *w;
	struct error err;

	if (workload_create(spec, &setup, &w, &err) < 0)
		fail_msg("%s: %s", spec, err.text);
	return w;
}

static bool next(struct workload *w, struct workload_job *ret)
{
	struct error err;
	int r = w->ops->next(w, ret, &err);

	assert_true(r >= 0);
	return r;
}

/* ---- all of them ---- */

static void check_fields(const char *spec, const struct workload_job *j,
			 uint32_t procs)
{
	if (j->run <= 0 || j->min_size < 1 || j->min_size > j->size ||
	    j->size > procs)
		fail_msg("%s: job %ld cannot run", spec, (long)j->id);
	if (j->estimate != j->run)
		fail_msg("%s: job %ld has an estimate of its own", spec,
			 (long)j->id);
	/* Nobody has drawn these. */
	if (j->group != -1 || j->queue != -1 || j->partition != -1)
		fail_msg("%s: job %ld is of a group or queue", spec,
			 (long)j->id);
}

static void jobs_are_in_order_and_can_run(void **state)
{
	static const char *const specs[] = {
		"ismail",	  "poisson",
		"schnor:rate=30", "pool:steps=5,cycles=2",
		"chen:group=2",	  "lanl"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct workload_setup setup = { .nr_jobs = 300, .seed = 3 };
		struct workload *w = create(specs[i], setup);
		struct workload *same = create(specs[i], setup), *other;
		struct workload_job j, k, l;
		usec_t last = 0;
		int64_t n = 0, alike = 0;

		setup.replication = 1;
		other = create(specs[i], setup);
		while (next(w, &j)) {
			assert_int_equal(j.id, ++n);
			assert_true(j.submit >= last);
			last = j.submit;
			check_fields(specs[i], &j, w->procs);
			assert_true(next(same, &k));
			assert_true(j.submit == k.submit && j.run == k.run &&
				    j.size == k.size);
			alike += next(other, &l) && j.submit == l.submit &&
				 j.run == l.run;
		}
		assert_int_equal(n, 300);
		assert_true(alike < 10);
		workload_destroy(w);
		workload_destroy(same);
		workload_destroy(other);
	}
}

/* ---- programs that need memory ---- */

/* MB after a share x of the run: straight from the start's to low, and on to high. */
static double needs(double low, double high, double start, double growth,
		    double x)
{
	if (x < growth)
		return low * (start + (1 - start) * x / growth);
	return low + (high - low) * (x - growth) / (1 - growth);
}

static void check_phases(const struct workload_phases *p, double start,
			 double growth, uint32_t steps)
{
	double low = -1, high;

	for (uint32_t i = 0; i < p->nr && low < 0; i++)
		if (p->phase[i].from >= growth - 1e-12)
			low = (double)p->phase[i].bytes;
	/* The last step begins when one of its length is left. */
	high = p->nr < 2 * steps
		       ? low
		       : low + ((double)p->phase[p->nr - 1].bytes - low) *
					 steps / (steps - 1);
	assert_true(p->phase[0].from <= 0);
	for (uint32_t i = 0; i < p->nr; i++) {
		double x = p->phase[i].from;
		double mb = needs(low, high, start, growth, x);

		assert_true(!i || x > p->phase[i - 1].from);
		assert_true(x < 1);
		if (fabs((double)p->phase[i].bytes - mb) > 1e-6 * mb + 2)
			fail_msg("phase %u, from %g on: %g bytes, not %g", i, x,
				 (double)p->phase[i].bytes, mb);
	}
}

static void memory_grows_in_steps(void **state)
{
	static const struct {
		const char *spec;
		double start, growth;
		uint32_t steps;
	} is[] = {
		{ "chen", 0.1, 0.1, 8 },
		{ "chen:group=2", 0.1, 0.1, 8 },
		{ "chen:start=0.5,growth=0.4,steps=5", 0.5, 0.4, 5 },
		{ "chen:group=2,start=0,growth=0.9,steps=3", 0, 0.9, 3 },
		{ "chen:growth=0", 0.1, 0, 8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(*is); i++) {
		struct workload *w = create(
			is[i].spec, (struct workload_setup){ .seed = 5 });
		struct workload_job j;

		while (next(w, &j)) {
			assert_non_null(j.phases);
			check_phases(j.phases, is[i].start, is[i].growth,
				     is[i].steps);
		}
		workload_destroy(w);
	}
}

static double normal(double z)
{
	return 0.5 * erfc(-z / sqrt(2));
}

/* The share that is submitted by t is that of a lognormal law, cut off at an hour. */
static void check_arrivals(const char *spec, double sigma, double hour,
			   bool printed)
{
	double mu = printed ? sigma + sigma * sigma : sigma;
	struct workload *w = create(
		spec, (struct workload_setup){ .seed = 8, .nr_jobs = MANY });
	double all = normal((log(hour) - mu) / sigma);
	struct workload_job j;

	for (int i = 0; next(w, &j); i++) {
		double t = usec_to_seconds(j.submit);
		double share = normal((log(t) - mu) / sigma) / all;

		assert_true(t >= 0 && t <= hour);
		if (fabs(share - (i + 0.5) / MANY) > 0.03)
			fail_msg("%s: %g of all by %g s, and not %g", spec,
				 (i + 0.5) / MANY, t, share);
	}
	workload_destroy(w);
}

static void programs_come_by_the_formula(void **state)
{
	(void)state;
	check_arrivals("chen:trace=1,rate=printed", 4.0, 3586, true);
	check_arrivals("chen:trace=3,rate=printed", 3.0, 3581, true);
	check_arrivals("chen:trace=5,rate=lognormal", 1.5, 3582, false);
}

/* ---- pools of tasks ---- */

/* Processor seconds a second that 2000 jobs ask for, of the machine's. */
static double pool_load(const char *spec, double load, double *ret_run)
{
	struct workload *w =
		create(spec, (struct workload_setup){ .procs = 20,
						      .load = load,
						      .nr_jobs = 2000,
						      .seed = 2 });
	struct workload_job j = { .submit = 0 };
	double work = 0, run = 0, end = 1;

	while (next(w, &j)) {
		const struct speedup_table *t = j.speedup.table;
		const struct speedup_point *last = &t->point[t->nr_points - 1];

		/* Alone it takes the sum of its steps; beside others never less than a share. */
		assert_true(t->point[0].m == 1 && last->m == j.size);
		assert_true(fabs(t->point[0].efficiency - 1) < 1e-9);
		for (uint32_t i = 0; i < t->nr_points; i++) {
			assert_true(t->point[i].efficiency > 0 &&
				    t->point[i].efficiency <= 1 + 1e-9);
			assert_true(!i || t->point[i].m > t->point[i - 1].m);
		}
		work += usec_to_seconds(j.run) * j.size * last->efficiency;
		run += usec_to_seconds(j.run);
		end = usec_to_seconds(j.submit);
	}
	workload_destroy(w);
	*ret_run = run / 2000;
	return work / 20 / end;
}

static void pools_ask_for_what_they_shall(void **state)
{
	double is, longest, given, varied;

	(void)state;
	is = pool_load("pool:steps=12,cycles=4,mean=5,vary=0", 0.5, &longest);
	assert_true(fabs(is / 0.5 - 1) < 0.08);
	is = pool_load("pool:steps=12,cycles=4,mean=5,vary=0,order=given", 0.9,
		       &given);
	assert_true(fabs(is / 0.9 - 1) < 0.08);
	is = pool_load("pool:steps=12,cycles=4,mean=5,vary=1", 0.5, &varied);
	assert_true(fabs(is / 0.5 - 1) < 0.08);
	/* What took longest last time takes longest again, or perhaps not. */
	assert_true(longest < 0.98 * given);
	assert_true(longest < 0.98 * varied);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_are_in_order_and_can_run),
		cmocka_unit_test(memory_grows_in_steps),
		cmocka_unit_test(programs_come_by_the_formula),
		cmocka_unit_test(pools_ask_for_what_they_shall),
	};

	return cmocka_run_group_tests_name("generators", tests, NULL, NULL);
}
