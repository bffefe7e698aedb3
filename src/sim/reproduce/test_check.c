/* test_check.c - when a figure is met: at its bounds, too, which doubles may miss by a hair */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/xalloc.h"
#include "sim/reproduce/reproduce.h"

static struct estimate exactly(double v)
{
	return (struct estimate){ v, v, v };
}

/* Is it met that a figure is published +- precision? */
static bool number_met(double published, double precision, struct estimate e)
{
	struct reproduce r = { .level = 0.95 };
	bool met;

	reproduce_number(&r, xstrdup("a figure"), published, precision, e,
			 NULL);
	met = reproduce_met(&r);
	reproduce_clear(&r);
	return met;
}

/* Is it met that one lies between low and high? */
static bool range_met(double low, double high, struct estimate e)
{
	struct reproduce r = { .level = 0.95 };
	bool met;

	reproduce_range(&r, xstrdup("a figure"), low, high, e, NULL);
	met = reproduce_met(&r);
	reproduce_clear(&r);
	return met;
}

/* As papers print them: hundredths.  One of 0.55 is within 0.6 +- 0.05, whatever doubles
 * make of the difference; and one that lies a millionth beyond a bound is not. */
static void a_bound_belongs_to_what_was_published(void **state)
{
	unsigned missed = 0;

	(void)state;
	for (int p = 1; p <= 300; p++)
		for (int d = 1; d <= 10; d++) {
			double published = p / 100., precision = d / 100.;
			double low = (p - d) / 100., high = (p + d) / 100.;

			missed += low < published - precision ||
				  high > published + precision;
			assert_true(
				number_met(published, precision, exactly(low)));
			assert_true(number_met(published, precision,
					       exactly(high)));
			assert_false(number_met(published, precision,
						exactly(low - 1e-6)));
			assert_false(number_met(published, precision,
						exactly(high + 1e-6)));
		}
	/* Else nothing was tried. */
	assert_true(missed > 100);
}

/* What counts of an interval is its nearer end. */
static void an_interval_is_met_that_overlaps(void **state)
{
	(void)state;
	assert_true(range_met(1, 2, (struct estimate){ 3, 2, 4 }));
	assert_true(range_met(1, 2, (struct estimate){ 0.5, 0, 1 }));
	assert_true(range_met(1, 2, (struct estimate){ 1.5, 0, 3 }));
	assert_false(range_met(1, 2, (struct estimate){ 3, 2.001, 4 }));
	assert_false(range_met(1, 2, (struct estimate){ 0.5, 0, 0.999 }));
	assert_true(range_met(1, INFINITY, exactly(1e300)));
	assert_false(range_met(1, INFINITY, exactly(0.999)));
	assert_true(range_met(-INFINITY, 1, exactly(-1e300)));
	assert_false(range_met(-INFINITY, 1, exactly(1.001)));
	assert_false(range_met(-INFINITY, INFINITY, exactly(NAN)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bound_belongs_to_what_was_published),
		cmocka_unit_test(an_interval_is_met_that_overlaps),
	};

	return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
