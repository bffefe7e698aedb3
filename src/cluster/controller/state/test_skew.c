/*
 * test_skew.c - instants told by hosts whose clocks differ are brought into one
 * order
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cluster/controller/state/skew.h"

#define HOUR (3600 * USEC_PER_SEC)

static void order_of_hosts(void **state)
{
	struct skew a = { .known = false }, b = { .known = false };

	(void)state;
	assert_int_equal(skew_ours(&a, 5), 0);
	/*
	 * The clock of a is an hour ahead, that of b one behind; messages take
	 * 100 to 5000 us.
	 */
	for (usec_t t = 10 * HOUR; t < 10 * HOUR + 10000000; t += 1000000) {
		skew_told(&a, t + 100 + t % 4900, t + HOUR);
		skew_told(&b, t + 5000 - t % 4900, t - HOUR);
	}
	assert_in_range(skew_ours(&a, 11 * HOUR + 7), 10 * HOUR + 7,
			10 * HOUR + 5007);
	assert_true(skew_ours(&a, 11 * HOUR) < skew_ours(&b, 9 * HOUR + 10000));
	assert_true(skew_ours(&b, 9 * HOUR) < skew_ours(&a, 11 * HOUR + 10000));
	assert_int_equal(skew_ours(&a, 0), 0);
}

/*
 * The fastest message gives the best estimate: at least so much has to be
 * subtracted.
 */
static void the_quickest_counts(void **state)
{
	static const usec_t took[] = { 5000, 100, 4000, 3000 };
	struct skew s = { .known = false };

	(void)state;
	for (int i = 0; i < 4; i++)
		skew_told(&s, HOUR + i, HOUR + i - took[i]);
	assert_int_equal(skew_ours(&s, 2 * HOUR), 2 * HOUR + 100);
}

static void clocks_are_set(void **state)
{
	struct skew s = { .known = false };
	usec_t t = HOUR;

	(void)state;
	skew_told(&s, t, t - 50);
	for (int i = 0; i < 3; i++) {
		t += 61 * USEC_PER_SEC;
		skew_told(&s, t, t - 1000000);
	}
	assert_int_equal(skew_ours(&s, t - 1000000), t);
}

/* A host may report any time as its clock's: sums must not overflow. */
static void nonsense(void **state)
{
	static const usec_t bad[] = { INT64_MIN, -1, 0, INT64_MAX };
	struct skew s = { .known = false };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		skew_told(&s, HOUR, bad[i]);
		assert_false(s.known);
	}
	skew_told(&s, HOUR, HOUR / 2);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(skew_ours(&s, bad[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_of_hosts),
		cmocka_unit_test(the_quickest_counts),
		cmocka_unit_test(clocks_are_set),
		cmocka_unit_test(nonsense),
	};

	return cmocka_run_group_tests_name("skew", tests, NULL, NULL);
}
