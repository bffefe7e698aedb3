/* test_wodi.c - work steps to workers, on cases worked by hand */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "sim/workload/wodi.h"

/* Graham's worst case on 2 workers: 3 3 2 2 2, best 6, longest first 7. */
static void worst_case_of_longest_first(void **state)
{
	static const usec_t length[] = { 2, 3, 2, 3, 2 };
	static const double half[] = { 1, 2 };
	uint32_t order[5], who[5];

	wodi_order(WODI_LONGEST_FIRST, length, 5, order);
	assert_int_equal(order[0], 1);
	assert_int_equal(order[1], 3);
	assert_int_equal(order[2], 0);
	assert_int_equal(order[4], 4);
	assert_int_equal(wodi_cycle(length, order, 5, NULL, 2, who), 7);
	assert_true(who[1] != who[3]);
	/* Worker 1 at half speed: 0 does 3, 2, 2 (7); 1 does 3 (6), 2 (10). */
	assert_int_equal(wodi_cycle(length, order, 5, half, 2, who), 10);
	assert_int_equal(who[1], 0);
	assert_int_equal(who[3], 1);
}

static void order_matters(void **state)
{
	static const usec_t length[] = { 1, 1, 1, 1, 4 };
	uint32_t order[5];

	wodi_order(WODI_AS_GIVEN, length, 5, order);
	assert_int_equal(wodi_cycle(length, order, 5, NULL, 2, NULL), 6);
	wodi_order(WODI_LONGEST_FIRST, length, 5, order);
	assert_int_equal(wodi_cycle(length, order, 5, NULL, 2, NULL), 4);
}

static void unknown_steps_go_first(void **state)
{
	static const usec_t estimate[] = { 5, 0, 9, 0 };
	uint32_t order[4];

	wodi_order(WODI_LONGEST_FIRST, estimate, 4, order);
	assert_int_equal(order[0], 1);
	assert_int_equal(order[1], 3);
	assert_int_equal(order[2], 2);
	assert_int_equal(order[3], 0);
}

/* Graham's bound against the trivial lower bounds of the best. */
static void within_grahams_bound(void **state)
{
	struct random_stream r;
	uint32_t order[40];
	usec_t length[40];

	random_init(&r, 1, "steps", 0);
	for (int round = 0; round < 500; round++) {
		uint32_t nr = 1 + (uint32_t)random_below(&r, 40);
		uint32_t m = 1 + (uint32_t)random_below(&r, 8);
		usec_t sum = 0, max = 0, took, least;

		for (uint32_t i = 0; i < nr; i++) {
			length[i] = 1 + (usec_t)random_below(&r, 1000);
			sum += length[i];
			max = length[i] > max ? length[i] : max;
		}
		wodi_order(WODI_LONGEST_FIRST, length, nr, order);
		took = wodi_cycle(length, order, nr, NULL, m, NULL);
		least = (sum + m - 1) / m > max ? (sum + m - 1) / m : max;
		assert_true(took >= least);
		assert_true(took <= sum / m + max);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worst_case_of_longest_first),
		cmocka_unit_test(order_matters),
		cmocka_unit_test(unknown_steps_go_first),
		cmocka_unit_test(within_grahams_bound),
	};

	return cmocka_run_group_tests_name("wodi", tests, NULL, NULL);
}
