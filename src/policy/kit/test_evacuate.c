/*
 * test_evacuate.c - which jobs leave first, compared with every possible choice
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/kit/evacuate.h"

enum { MOST = 10 };

static struct job jobs[MOST];
static struct evacuee e[MOST];

static void is_order(size_t n, double left, const char *wanted)
{
	char got[MOST + 1] = "";

	evacuate_order(e, n, left);
	for (size_t i = 0; i < n; i++)
		got[i] = (char)((e[i].saved ? 'A' : 'a') + e[i].job->id);
	assert_string_equal(got, wanted);
}

/*
 * Set the job with id i. In orders below, "A" is a job that is saved, "a" one
 * that is not.
 */
static void set(size_t i, double work, double seconds)
{
	jobs[i].id = (int64_t)i;
	e[i] = (struct evacuee){ &jobs[i], work, seconds, false };
}

static void the_most_valuable_first(void **state)
{
	(void)state;
	set(0, 100, 10);
	set(1, 300, 10);
	set(2, 200, 10);
	is_order(3, 25, "BCa");
	is_order(3, 5, "bca"); /* no time for any: some may be lucky */
	is_order(3, 100, "BCA");
	is_order(0, 100, "");
}

/* Many small jobs save more than one that takes all of the time, or less. */
static void work_for_its_time(void **state)
{
	(void)state;
	set(0, 1000, 10);
	set(1, 600, 4);
	set(2, 500, 4);
	is_order(3, 10, "BCa");
	set(0, 1000, 10);
	set(1, 10, 0.01);
	is_order(2, 10, "Ab");
}

static void equal_by_submission(void **state)
{
	(void)state;
	set(0, 5, 1);
	set(1, 5, 1);
	jobs[0].submit = 7;
	is_order(2, 9, "BA");
	jobs[0].submit = 0;
	is_order(2, 9, "AB");
}

static double best_of_all(size_t n, double left)
{
	double best = 0;

	for (unsigned set = 0; set < 1u << n; set++) {
		double work = 0, time = 0;

		for (size_t i = 0; i < n; i++)
			if (set & 1u << i) {
				work += e[i].work;
				time += e[i].seconds;
			}
		if (time <= left && work > best)
			best = work;
	}
	return best;
}

/*
 * On random hosts: the saved jobs fit the time, save at least half of what the
 * best choice saves, and come first.
 */
static void half_of_the_best_at_least(void **state)
{
	struct random_stream r;
	double shares = 0;

	(void)state;
	random_init(&r, 1, "evacuate", 0);
	for (int round = 0; round < 2000; round++) {
		size_t n = 1 + random_below(&r, MOST);
		double left = random_uniform(&r, 0, 60), best, work = 0,
		       time = 0;

		for (size_t i = 0; i < n; i++)
			set(i, random_exponential(&r, 1000),
			    random_exponential(&r, 10));
		best = best_of_all(n, left);
		evacuate_order(e, n, left);
		for (size_t i = 0; i < n; i++) {
			assert_true(!i || e[i - 1].saved || !e[i].saved);
			work += e[i].saved ? e[i].work : 0;
			time += e[i].saved ? e[i].seconds : 0;
		}
		assert_true(time <= left * (1 + 1e-9));
		assert_true(work * 2 >= best * (1 - 1e-9));
		shares += best > 0 ? work / best : 1;
	}
	assert_true(shares / 2000 > 0.95); /* mostly it is nearly the best */
}

static void one_at_a_time_if_in_doubt(void **state)
{
	(void)state;
	set(0, 5, 10);
	set(1, 5, 10);
	assert_int_equal(evacuate_now(e, 2, 40, 2, 0), 2);
	assert_int_equal(evacuate_now(e, 2, 39, 2, 0.1), 0);
	assert_int_equal(evacuate_now(e, 2, 39, 2, 0), 1);
	assert_int_equal(evacuate_now(e, 2, -5, 2, 0), 1);
	assert_int_equal(evacuate_now(e, 0, 39, 2, 0), 0);
}

static void what_a_job_has_done(void **state)
{
	struct view v = { .now = 50 * USEC_PER_SEC };
	struct job j = { .state = JOB_RUNNING,
			 .n = 4,
			 .since = 20 * USEC_PER_SEC,
			 .used = 7 };

	(void)state;
	assert_true(fabs(evacuate_work(&v, &j) - 127) < 1e-9);
	j.state = JOB_SUSPENDED;
	assert_true(fabs(evacuate_work(&v, &j) - 7) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_most_valuable_first),
		cmocka_unit_test(work_for_its_time),
		cmocka_unit_test(equal_by_submission),
		cmocka_unit_test(half_of_the_best_at_least),
		cmocka_unit_test(one_at_a_time_if_in_doubt),
		cmocka_unit_test(what_a_job_has_done),
	};

	return cmocka_run_group_tests_name("evacuate", tests, NULL, NULL);
}
