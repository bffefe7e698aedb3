/* test_stats.c - intervals against textbook values */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "sim/report/stats.h"

static void near(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%.9g is not %.9g", got, want);
}

static void quantiles(void **state)
{
	/* Tables of Student's t. */
	near(stats_t(1, 0.95), 12.706, 5e-4);
	near(stats_t(9, 0.95), 2.262, 5e-4);
	near(stats_t(30, 0.99), 2.750, 5e-4);
	near(stats_t(4, 0.95), 2.776, 5e-4);
	near(stats_t(19, 0.95), 2.093, 5e-4);
	near(stats_t(120, 0.95), 1.980, 5e-4);
	near(stats_t(5, 0.90), 2.015, 5e-4);
}

static void mean_and_interval(void **state)
{
	static const double x[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct stats s = { 0 };
	struct estimate e;

	assert_true(isinf(stats_half_width(&s, 0.95)));
	for (int i = 0; i < 8; i++)
		stats_add(&s, x[i]);
	near(s.mean, 5, 1e-12);
	near(stats_variance(&s), 32. / 7, 1e-12);
	/* t(7) = 2.364624, times sqrt(32/7/8) = 0.755929 */
	e = stats_estimate(&s, 0.95);
	near(e.value, 5, 1e-12);
	near(e.high - e.value, 1.787488, 1e-5);
	near(e.value - e.low, 1.787488, 1e-5);
}

static void pairs(void **state)
{
	static const double x[] = { 1, 2, 3, 4 }, y[] = { 2, 4, 6, 8 },
			    z[] = { 2, 5, 5, 8 };
	struct estimate e = stats_ratio(y, x, 4, 0.95);

	/*
	 * The values are proportional: the ratio is certain although neither
	 * mean is.
	 */
	near(e.value, 2, 1e-12);
	near(e.high, 2, 1e-9);
	/* Residuals 0 1 -1 0: sd sqrt(2/3), t(3) = 3.182446. */
	e = stats_ratio(z, x, 4, 0.95);
	near(e.value, 2, 1e-12);
	near(e.high - e.value, 3.182446 * sqrt(2. / 3 / 4) / 2.5, 1e-5);
	e = stats_difference(y, x, 4, 0.95);
	near(e.value, 2.5, 1e-12);
	near(e.high - e.value, 3.182446 * sqrt(5. / 3 / 4), 1e-5);
}

/* 95 % intervals of a normal mean miss it in about 5 % of the samples. */
static void coverage(void **state)
{
	uint64_t x = 88172645463325252;
	int missed = 0;

	for (int trial = 0; trial < 4000; trial++) {
		struct stats s = { 0 };
		struct estimate e;

		for (int i = 0; i < 10; i++) {
			double sum = 0; /* twelve uniforms: nearly normal */

			for (int k = 0; k < 12; k++) {
				x ^= x << 13;
				x ^= x >> 7;
				x ^= x << 17;
				sum += (double)(x >> 11) * 0x1p-53;
			}
			stats_add(&s, sum);
		}
		e = stats_estimate(&s, 0.95);
		missed += e.low > 6 || e.high < 6;
	}
	near(missed / 4000., 0.05, 0.015);
}

/* However few and wild they are, it has no end below 0; with many it is as any other. */
static void positive_ones_have_positive_ends(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "stats", 0);
	for (int i = 0; i < 1000; i++) {
		uint64_t n = 2 + random_below(&r, 50);
		struct stats s = { 0 };
		struct estimate e, plain;

		while (s.n < n)
			stats_add(&s, exp(random_uniform(&r, -2, 2)));
		e = stats_estimate_positive(&s, 0.95);
		plain = stats_estimate(&s, 0.95);
		assert_true(0 < e.low && e.low <= e.value && e.value <= e.high);
		assert_true(e.value == s.mean);
		assert_true(e.low >= plain.low && e.high >= plain.high);
		/* symmetric in the logarithm, and as long in the first order */
		assert_true(fabs(e.low * e.high / (s.mean * s.mean) - 1) <
			    1e-9);
		assert_true(fabs(log(e.high / s.mean) -
				 (plain.high / s.mean - 1)) < 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles),
		cmocka_unit_test(mean_and_interval),
		cmocka_unit_test(pairs),
		cmocka_unit_test(coverage),
		cmocka_unit_test(positive_ones_have_positive_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
