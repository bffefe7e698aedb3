/* test_average.c - averages of a load */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/average.h"

#define MINUTE (60 * USEC_PER_SEC)

static void the_first_sample_is_the_average(void **state)
{
	struct average a = { .over = MINUTE };

	assert_float_equal(average_feed(&a, 3, 5 * USEC_PER_SEC), 3, 0);
}

/*
 * Schnor 1997 section 3.3: over a minute, sampled each 5 s, the old value weighs
 * 0.92 and a new one 0.08; and after 60 s with one process it is still about 0.6.
 */
static void a_minutes_average_is_the_papers(void **state)
{
	struct average a = { .over = MINUTE };
	usec_t now = 0;

	average_feed(&a, 0, now);
	assert_float_equal(average_feed(&a, 1, now += 5 * USEC_PER_SEC), 0.08,
			   0.001);
	while (now < MINUTE)
		average_feed(&a, 1, now += 5 * USEC_PER_SEC);
	assert_float_equal(a.value, 0.632, 0.001);
}

/* However often it is sampled, only the time counts. */
static void samples_may_come_at_any_time(void **state)
{
	struct average often = { .over = MINUTE }, rarely = { .over = MINUTE };

	average_feed(&often, 0, 0);
	average_feed(&rarely, 0, 0);
	for (usec_t t = 1; t <= 70; t++)
		average_feed(&often, 2, t * USEC_PER_SEC / 2);
	average_feed(&rarely, 2, 35 * USEC_PER_SEC);
	assert_float_equal(often.value, rarely.value, 1e-9);
	assert_float_equal(average_feed(&often, 9, often.last), rarely.value,
			   1e-9);
}

static void over_no_time_it_is_the_run_queue(void **state)
{
	struct average a = { .over = 0 };

	average_feed(&a, 4, 10);
	assert_float_equal(average_feed(&a, 1, 11), 1, 0);
	assert_float_equal(average_feed(&a, 7, 11), 7, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_sample_is_the_average),
		cmocka_unit_test(a_minutes_average_is_the_papers),
		cmocka_unit_test(samples_may_come_at_any_time),
		cmocka_unit_test(over_no_time_it_is_the_run_queue),
	};

	return cmocka_run_group_tests_name("average", tests, NULL, NULL);
}
