/* test_lanl.c - a busy day of a partition: what Arpaci 1995 says of it */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/workload/workload.h"

#define DAY (86400 * USEC_PER_SEC)

/* Of the jobs of some days. */
struct seen {
	double nr, working, brief, day[10];
	double work, of_long; /* seconds; of those of 90 minutes on */
	double longest;
};

static struct seen see(const char *spec, double load, uint64_t jobs,
		       uint32_t size)
{
	const struct workload_setup setup = { .load = load,
					      .nr_jobs = jobs,
					      .seed = 5 };
	struct seen s = { .nr = 0 };
	struct workload_job j;
	struct workload *w;
	struct error err;
	usec_t last = 0;

	if (workload_create(spec, &setup, &w, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(w->procs, size);
	while (workload_next(w, &j, &err) > 0) {
		double run = usec_to_seconds(j.run);
		usec_t hour = j.submit % DAY / (3600 * USEC_PER_SEC);

		assert_true(j.submit >= last && j.submit < 10 * DAY);
		assert_true(j.size == size && j.min_size == size);
		assert_int_equal(j.estimate, j.run);
		last = j.submit;
		s.nr++;
		s.working += hour >= 9 && hour < 17;
		s.brief += run <= 180;
		s.day[j.submit / DAY]++;
		s.work += run;
		s.of_long += run >= 5400 ? run : 0;
		s.longest = fmax(s.longest, run);
	}
	workload_destroy(w);
	return s;
}

/* Nearly 80 % run for up to 3 minutes, those of 90 on make up more than half of the time. */
static void as_published(void **state)
{
	struct seen s = see("lanl:days=10", 0, 100000, 32);

	(void)state;
	assert_true(s.nr == 100000);
	assert_true(fabs(s.brief / s.nr - 0.79) < 0.02);
	assert_true(s.of_long > 0.5 * s.work && s.of_long < 0.6 * s.work);
	assert_true(fabs(s.working / s.nr - 0.5) < 0.01);
	assert_true(s.longest <= 21600 && s.longest > 21000);
	for (int i = 0; i < 10; i++)
		assert_true(fabs(s.day[i] / s.nr - 0.1) < 0.01);
}

static void as_asked_for(void **state)
{
	struct seen s = see("lanl:days=10,working=0.9", 0, 20000, 32);

	(void)state;
	assert_true(fabs(s.working / s.nr - 0.9) < 0.01);
	s = see("lanl:days=10,sigma=0,median=100,size=7", 0, 1000, 7);
	assert_true(fabs(s.work - 1000 * 100) < 1);
	s = see("lanl:days=10,longest=100", 0, 1000, 32);
	assert_true(s.longest <= 100 && s.longest > 90);
}

/* Jobs are drawn until they fill the load of all days, by default 0.75. */
static void as_much_as_fills_the_load(void **state)
{
	(void)state;
	assert_true(fabs(see("lanl:days=10", 0, 0, 32).work - 648000) < 1);
	assert_true(fabs(see("lanl:days=3", 0.5, 0, 32).work - 129600) < 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_published),
		cmocka_unit_test(as_asked_for),
		cmocka_unit_test(as_much_as_fills_the_load),
	};

	return cmocka_run_group_tests_name("lanl", tests, NULL, NULL);
}
