/* test_now.c - what entries of Arpaci 1995 make of their days, on days that are made up */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/xalloc.h"
#include "sim/reproduce/now.h"

enum { DAYS = 8, ROUNDS = 500, FIRST = 3 };

static const double thresholds[NOW_THRESHOLDS] = { 1, 60, 120, 180, 300, 600 };
static const struct reproduce how = { .level = 0.95, .workers = 2 };

/* FIRST cells of something else, and these. */
static struct now_days make_days(uint32_t nr)
{
	struct now_days d = { .runs = { .nr_values = NOW_VALUES,
					.nr_cells = FIRST + nr,
					.n = DAYS } };

	d.runs.value = xcalloc((size_t)d.runs.nr_cells * NOW_VALUES * DAYS,
			       sizeof(double));
	return d;
}

static double *responses(const struct now_days *d, size_t i)
{
	return runs_at(&d->runs, FIRST + i, NOW_RESPONSE);
}

static void near(double a, double b)
{
	if (!(fabs(a - b) < 1e-9 * (1 + fabs(b))))
		fail_msg("%.12f is not %.12f", a, b);
}

/* A value of one day that tells nothing of the cell: it is as much too high as the next
 * one's is too low. */
static double noise(int day)
{
	return day % 2 ? 0.5 : -0.5;
}

/*
 * Each threshold is worse than the best by the same share each day, so that this is sure, or
 * by little on average and by much, or better, on single days, so that nothing is.
 */
static void what_cannot_be_told_from_the_best_is_in_its_interval(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "thresholds", 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct now_days d = make_days(NOW_THRESHOLDS);
		size_t best = random_below(&r, NOW_THRESHOLDS);
		double loss[NOW_THRESHOLDS] = { 0 };
		size_t low = best, high = best;
		struct estimate e;

		for (int k = 0; k < DAYS; k++)
			responses(&d, best)[k] = random_uniform(&r, 1.5, 2);
		for (size_t i = 0; i < NOW_THRESHOLDS; i++) {
			bool sure = random_below(&r, 2);

			if (i == best)
				continue;
			loss[i] = random_uniform(&r, 1, 20);
			for (int k = 0; k < DAYS; k++)
				responses(&d, i)[k] =
					responses(&d, best)[k] *
						(1 + loss[i] / 100) +
					(sure ? 0 : noise(k));
			if (!sure && i < low)
				low = i;
			if (!sure && i > high)
				high = i;
		}
		e = now_best_threshold(&how, &d, FIRST);
		near(e.value, thresholds[best]);
		near(e.low, thresholds[low]);
		near(e.high, thresholds[high]);
		for (size_t i = 0; i < NOW_THRESHOLDS; i++)
			near(now_threshold_loss(&how, &d, FIRST, i, e.value),
			     loss[i]);
		now_days_clear(&d);
	}
}

/* Responses fall by the same for each host, and are 1.14 at the number that is drawn. */
static void enough_is_where_the_slowdown_is_the_papers(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "enough", 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct now_days d = make_days(NOW_SIZES);
		double at = random_uniform(&r, 41, 79);
		double slope = random_uniform(&r, 0.01, 0.1);
		double wide = random_uniform(&r, 0, 0.1);
		struct estimate e;

		for (size_t i = 0; i < NOW_SIZES; i++)
			for (int k = 0; k < DAYS; k++)
				responses(&d, i)[k] =
					1.14 +
					slope * (at - (40 + 4 * (double)i)) +
					wide * noise(k);
		e = now_enough(&how, &d, FIRST);
		near(e.value, at);
		/* Half an interval, of so many days half above and half below, by Student's t
		 * of 7 degrees of freedom; as many hosts as make up for it. */
		wide = 2.364624251592785 * wide * 0.5 / sqrt(DAYS - 1) / slope;
		if (at - wide > 40)
			near(e.low, at - wide);
		if (at + wide < 80)
			near(e.high, at + wide);
		now_days_clear(&d);
	}
}

static int work(void *arg, uint32_t cell, uint32_t replication, double *value,
		struct error *err)
{
	(void)err;
	for (int v = 0; v < NOW_VALUES; v++)
		value[v] = *(const double *)arg + 100 * cell +
			   10 * (replication + 1) + v;
	return 0;
}

/* Each value is where it belongs, whoever computed it; ratios are of the same days. */
static void each_value_is_in_its_place(void **state)
{
	double more = 0.5;
	struct now_days d = { .runs = { .work = work,
					.nr_values = NOW_VALUES,
					.arg = &more,
					.nr_cells = 5,
					.n = DAYS } };
	struct error err;

	(void)state;
	if (runs_do(&how, &d.runs, &err) < 0)
		fail_msg("%s", err.text);
	for (unsigned c = 0; c < 5; c++)
		for (unsigned v = 0; v < NOW_VALUES; v++) {
			for (unsigned k = 0; k < DAYS; k++)
				near(runs_at(&d.runs, c, v)[k],
				     0.5 + 100 * c + 10 * (k + 1) + v);
			near(now_mean(&how, &d, c, v).value,
			     0.5 + 100 * c + 10 * (DAYS + 1) / 2. + v);
			near(now_ratio(&how, &d, c, 0, v).value,
			     (45.5 + 100 * c + v) / (45.5 + v));
		}
	now_days_clear(&d);
}

/* One more reading each time, and then no more. */
static void readings_have_an_end(void **state)
{
	size_t nr = 0;

	(void)state;
	while (now_reading(nr))
		assert_non_null(now_reading(nr++)->text);
	assert_in_range(nr, 2, 20);
	assert_null(now_reading(0)->owners); /* as the paper has it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_cannot_be_told_from_the_best_is_in_its_interval),
		cmocka_unit_test(enough_is_where_the_slowdown_is_the_papers),
		cmocka_unit_test(each_value_is_in_its_place),
		cmocka_unit_test(readings_have_an_end),
	};

	return cmocka_run_group_tests_name("now", tests, NULL, NULL);
}
