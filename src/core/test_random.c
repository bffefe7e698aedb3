/* test_random.c - streams are fixed by their names, and their moments fit */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"

static void generator_is_the_published_one(void **state)
{
	/* First outputs of xoshiro256++ from state 1, 2, 3, 4. */
	static const uint64_t want[] = { 41943041, 58720359, 3588806011781223,
					 3591011842654386 };
	struct random_stream r = { { 1, 2, 3, 4 } };

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_true(random_bits(&r) == want[i]);
}

static void streams_are_apart_and_repeat(void **state)
{
	struct random_stream a, b;

	(void)state;
	random_init(&a, 1, "sizes", 0);
	random_init(&b, 1, "sizes", 0);
	for (int i = 0; i < 10; i++)
		assert_true(random_bits(&a) == random_bits(&b));
	random_init(&b, 1, "times", 0);
	assert_true(random_bits(&a) != random_bits(&b));
	random_init(&a, 1, "sizes", 1);
	random_init(&b, 2, "sizes", 1);
	assert_true(random_bits(&a) != random_bits(&b));
	random_init(&a, 1, "sizes", 0);
	random_init(&b, 1, "sizes", 1);
	assert_true(random_bits(&a) != random_bits(&b));
}

static void moments(void **state)
{
	enum { N = 200000 };
	double unit = 0, square = 0, expo = 0;
	struct random_stream r;
	unsigned hits[7] = { 0 };

	(void)state;
	random_init(&r, 7, "moments", 0);
	for (int i = 0; i < N; i++) {
		double u = random_unit(&r);

		assert_true(u > 0 && u < 1);
		unit += u;
		square += u * u;
		expo += random_exponential(&r, 15);
		hits[random_below(&r, 7)]++;
	}
	/*
	 * Within five standard errors each: as the seed is fixed, this cannot
	 * fail by chance.
	 */
	assert_true(fabs(unit / N - 0.5) < 5 * sqrt(1. / 12 / N));
	assert_true(fabs(square / N - 1. / 3) < 5 * sqrt(4. / 45 / N));
	assert_true(fabs(expo / N - 15) < 5 * 15 / sqrt(N));
	for (int i = 0; i < 7; i++)
		assert_true(fabs(hits[i] - N / 7.) < 5 * sqrt(N * 6. / 49));
}

/* Below a bound of 3/4 of 2^64 no number comes twice as often as another. */
static void below_is_even(void **state)
{
	enum { N = 10000 };
	const uint64_t quarter = UINT64_C(1) << 62;
	struct random_stream r;
	unsigned low = 0;

	(void)state;
	random_init(&r, 7, "even", 0);
	for (int i = 0; i < N; i++)
		low += random_below(&r, 3 * quarter) < quarter;
	assert_true(fabs(low - N / 3.) < 5 * sqrt(N * 2. / 9));
}

static void cut_exponential(void **state)
{
	enum { N = 200000 };
	double in = 0;
	struct random_stream r;

	(void)state;
	random_init(&r, 7, "others", 0);
	for (int i = 0; i < N; i++) {
		double x = random_exponential_in(&r, 15, 2, 64);

		assert_true(x >= 2 && x <= 64);
		in += x;
	}
	/* 2 + 15 - 62 / (e^(62/15) - 1), of a shifted, cut exponential. */
	assert_true(fabs(in / N - (17 - 62 / expm1(62. / 15))) < 0.15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generator_is_the_published_one),
		cmocka_unit_test(streams_are_apart_and_repeat),
		cmocka_unit_test(moments),
		cmocka_unit_test(below_is_even),
		cmocka_unit_test(cut_exponential),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
