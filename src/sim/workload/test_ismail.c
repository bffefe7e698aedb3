/* test_ismail.c - the thesis' distributions, and common numbers */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/workload/workload.h"

enum { JOBS = 40000 };

static struct workload *make(const char *spec, double load, uint64_t seed)
{
	struct workload_setup setup = { .load = load,
					.nr_jobs = JOBS,
					.seed = seed };
	struct error err = ERROR_INIT;
	struct workload *w;

	if (workload_create(spec, &setup, &w, &err) < 0)
		fail_msg("%s", err.text);
	return w;
}

static void near(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%g is not %g", got, want);
}

struct means {
	double size, run, gap, serial;
	uint32_t size_min, size_max;
	usec_t run_min, run_max;
};

static struct means look(const char *spec, double load)
{
	struct workload *w = make(spec, load, 1);
	struct means m = { .size_min = UINT32_MAX, .run_min = USEC_MAX };
	struct workload_job job;
	usec_t last = 0;
	int64_t n = 0;

	while (workload_next(w, &job, NULL) == 1) {
		assert_int_equal(job.id, ++n);
		assert_true(job.submit >= last);
		assert_int_equal(job.estimate, job.run);
		last = job.submit;
		m.size += job.size;
		m.run += usec_to_seconds(job.run);
		m.serial = fmax(m.serial, (double)job.speedup.serial);
		m.size_min = job.size < m.size_min ? job.size : m.size_min;
		m.size_max = job.size > m.size_max ? job.size : m.size_max;
		m.run_min = job.run < m.run_min ? job.run : m.run_min;
		m.run_max = job.run > m.run_max ? job.run : m.run_max;
	}
	assert_int_equal(n, JOBS);
	m.size /= JOBS;
	m.run /= JOBS;
	m.gap = usec_to_seconds(last) / JOBS;
	workload_destroy(w);
	return m;
}

static void uniform(void **state)
{
	struct means m = look("ismail", 0.5);

	near(m.size, 33, 0.5);
	near(m.run, 105, 1.5);
	assert_int_equal(m.size_min, 2);
	assert_int_equal(m.size_max, 64);
	assert_true(m.run_min >= 10000000 && m.run_max <= 200000000);
	/* lambda = L P / (N T_e) */
	near(m.gap, 33 * 105 / (0.5 * 64), 2);
}

static void exponential(void **state)
{
	struct means m = look("ismail:sizes=E,times=E", 0.8);
	double size = 0, weight = 0;

	for (int n = 2; n <= 64; n++) {
		size += n * exp(-n / 15.);
		weight += exp(-n / 15.);
	}
	near(m.size, size / weight, 0.25);
	near(m.run, 11, 0.2); /* "approximately 11", section 3.3.1 */
	assert_int_equal(m.size_min, 2);
	assert_int_equal(m.size_max, 64);
	assert_true(m.run_min >= 1000000 && m.run_max <= 100000000);
	near(m.gap, size / weight * 10.995 / (0.8 * 64), 0.15);
}

static void misp(void **state)
{
	struct means m = look("ismail:speedup=misp,chapter=4", 0.5);

	assert_true(m.serial > 0.4 && m.serial <= 0.5);
	near(m.run, 180.5, 2.5);
}

/* Tables 4.1 and 4.2: T_e = 407.5, and efficiencies of application 11. */
static void applications(void **state)
{
	struct workload *w = make("ismail:speedup=apps,chapter=4", 0.5, 1);
	struct workload_job job;
	double t = 0, eleven = 0;

	near(look("ismail:speedup=apps,chapter=4", 0.5).run, 407.5, 12);
	while (workload_next(w, &job, NULL) == 1) {
		assert_true(job.app >= 1 && job.app <= 30);
		assert_int_equal(job.size, job.app > 20	  ? 64
					   : job.app > 10 ? 32
							  : 16);
		if (job.app != 11 || eleven > 0)
			continue;
		eleven = usec_to_seconds(job.run);
		near(eleven, 316 / (32 * 0.559), 1e-3);
		t = eleven * speedup_ratio(&job.speedup, 32, 4);
		near(t, 316 / (4 * 0.967), 1e-3);
		t = eleven * speedup_ratio(&job.speedup, 32, 6);
		near(t, 316 / (6 * (0.967 + 0.897) / 2), 1e-3);
		t = eleven * speedup_ratio(&job.speedup, 32, 1);
		near(t, 316, 1e-2);
	}
	assert_true(eleven > 0);
	workload_destroy(w);
}

/* Two loads with one seed have the same jobs, arriving at different rates. */
static void common_numbers(void **state)
{
	struct workload *a = make("ismail:speedup=misp", 0.4, 5);
	struct workload *b = make("ismail:speedup=misp", 0.8, 5);
	struct workload *c = make("ismail:speedup=misp", 0.8, 6);
	struct workload_job x, y, z;
	int same = 0;

	for (int i = 0; i < 1000; i++) {
		assert_int_equal(workload_next(a, &x, NULL), 1);
		assert_int_equal(workload_next(b, &y, NULL), 1);
		assert_int_equal(workload_next(c, &z, NULL), 1);
		assert_int_equal(x.size, y.size);
		assert_int_equal(x.run, y.run);
		assert_true(x.speedup.serial == y.speedup.serial);
		assert_true(llabs(x.submit - 2 * y.submit) <= 2);
		same += y.run == z.run;
	}
	assert_true(same < 10);
	workload_destroy(a);
	workload_destroy(b);
	workload_destroy(c);
}

static void wrong(void **state)
{
	static const char *const bad[] = {
		"ismail:sizes=X",
		"ismail:tmin=50,tmax=20",
		"ismail:xi_min=0.9,xi_max=0.4,speedup=misp",
		"ismail:serial_max=0.01,speedup=misp",
		"ismail:times=E,tmean=0.01",
		"ismail:nonsense=1",
	};
	struct workload_setup setup = { .nr_jobs = 10 };
	struct workload *w = NULL;
	struct error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err.text[0] = '\0';
		assert_true(workload_create(bad[i], &setup, &w, &err) < 0);
		assert_true(err.text[0]);
		assert_null(w);
	}
	setup.procs = 32;
	assert_true(workload_create("ismail:speedup=apps", &setup, &w, &err) <
		    0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uniform),
		cmocka_unit_test(exponential),
		cmocka_unit_test(misp),
		cmocka_unit_test(applications),
		cmocka_unit_test(common_numbers),
		cmocka_unit_test(wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
