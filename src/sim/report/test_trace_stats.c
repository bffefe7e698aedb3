/*
 * test_trace_stats.c - what traces are like, against sums over every job and every second of
 * random ones
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "sim/report/trace_stats.h"

enum { JOBS = 100, ROUNDS = 200 };
#define SEC USEC_PER_SEC

static void near(double is, double wanted)
{
	if (!(fabs(is - wanted) <= 1e-9 * (1 + fabs(wanted))))
		fail_msg("%.12g is not %.12g", is, wanted);
}

/* ---- jobs ---- */

/* Of run times, or of gaps: mean and sample deviation by its mean. */
static void check_spread(const double *x, size_t n, double mean, double cv)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	near(mean, n ? sum / (double)n : 0);
	for (size_t i = 0; i < n; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	near(cv,
	     n > 1 && mean > 0 ? sqrt(squares / (double)(n - 1)) / mean : 0);
}

/* As many are above it as below. */
static void check_median(const double *x, size_t n, double median)
{
	size_t below = 0, above = 0;

	for (size_t i = 0; i < n; i++) {
		below += x[i] < median;
		above += x[i] > median;
	}
	assert_true(below <= n / 2 && above <= n / 2);
}

static void jobs_are_summed_up(void **state)
{
	static const int runs[] = { 180, 181, 5399, 5400, 5401, 1 };
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "trace", 0);
	for (int round = 0; round < ROUNDS; round++) {
		static struct swf_job job[JOBS];
		size_t n = 1 + random_below(&r, JOBS), told = 0;
		struct swf_trace t = { .job = job, .nr = n, .procs = 64 };
		double run[JOBS], gap[JOBS], work = 0, by_long = 0, sizes = 0;
		double serial = 0, brief = 0, estimate = 0;
		struct trace_stats s;
		usec_t at = 0;

		for (size_t i = 0; i < n; i++) {
			usec_t more = (usec_t)random_below(&r, 1000) * SEC / 8;

			at += i ? more : 0;
			gap[i ? i - 1 : 0] = (double)more / SEC;
			run[i] = random_below(&r, 2)
					 ? runs[random_below(&r, 6)]
					 : random_uniform(&r, 1, 20000);
			job[i] = (struct swf_job){
				.submit = at,
				.run = (usec_t)(run[i] * SEC),
				.size = 1 + (uint32_t)random_below(&r, 4),
			};
			run[i] = (double)job[i].run / SEC;
			if (random_below(&r, 3))
				job[i].estimate = job[i].run * 3;
			told += job[i].estimate > 0;
			estimate += job[i].estimate > 0 ? 3 : 0;
			work += run[i] * job[i].size;
			by_long += run[i] >= 5400 ? run[i] * job[i].size : 0;
			sizes += job[i].size;
			serial += job[i].size == 1;
			brief += run[i] <= 180;
		}
		trace_stats_make(&t, &s);
		assert_int_equal(s.jobs, n);
		assert_int_equal(s.estimates, told);
		near(s.span, (double)at / SEC);
		near(s.load, at ? work / (64 * (double)at / SEC) : 0);
		check_spread(run, n, s.run_mean, s.run_cv);
		check_spread(gap, n - 1, s.gap, s.gap_cv);
		check_median(run, n, s.run_median);
		near(s.size_mean, sizes / (double)n);
		near(s.serial, serial / (double)n);
		near(s.short_jobs, brief / (double)n);
		near(s.long_work, by_long / work);
		if (told)
			near(s.estimate, estimate / (double)told);
		else
			assert_true(isnan(s.estimate));
	}
}

/* ---- owners ---- */

enum { HOSTS = 3, MINUTES = 9 * 1440 }; /* nine days, minute by minute */

static bool in_use[HOSTS][MINUTES];

/* Hosts change at whole minutes, and often not for hours; *ret_end: the last one. */
static void draw_owners(struct random_stream *r, struct activity *a,
			uint32_t hosts, int *ret_begin, int *ret_end)
{
	bool typing[HOSTS] = { false };
	double load[HOSTS] = { 0 };
	int begin = -1, end = 0;

	*a = (struct activity)ACTIVITY_INIT;
	for (uint32_t h = 0; h < hosts; h++)
		activity_add_host(a, (const char *[]){ "a", "b", "c" }[h]);
	for (int m = 0; m < MINUTES; m++)
		for (uint32_t h = 0; h < hosts; h++) {
			bool one = random_below(r, 40) == 0;
			usec_t at = (usec_t)m * 60 * SEC;
			bool told = false;

			if (one && random_below(r, 2)) {
				typing[h] = !typing[h];
				told |= activity_add(
					a, at, h, ACTIVITY_KEYBOARD, typing[h]);
			} else if (one) {
				load[h] = (double)random_below(r, 4) / 10;
				told |= activity_add(a, at, h, ACTIVITY_LOAD,
						     load[h]);
			}
			if (told && begin < 0)
				begin = m;
			end = told ? m : end;
			in_use[h][m] = typing[h] || load[h] >= 0.2;
		}
	*ret_begin = begin;
	*ret_end = end;
}

struct counts {
	double all, idle, idle_1, idle_15;
};

static void count_minute(struct counts *c, int idle_for)
{
	c->all++;
	c->idle += idle_for >= 1;
	c->idle_1 += idle_for >= 2;
	c->idle_15 += idle_for >= 16;
}

static void check_shares(const struct activity_shares *s,
			 const struct counts *c)
{
	if (!(c->all > 0)) {
		assert_true(isnan(s->idle) && isnan(s->idle_1) &&
			    isnan(s->idle_15));
		return;
	}
	near(s->idle, c->idle / c->all);
	near(s->idle_1, c->idle_1 / c->all);
	near(s->idle_15, c->idle_15 / c->all);
}

/* A period of so many minutes is over. */
static void count_period(int length, double *nr, double *brief, double *quiet)
{
	*nr += length > 0;
	*brief += length > 0 && length <= 3;
	*quiet += length >= 10 ? length : 0;
}

static void owners_are_summed_up(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 2, "trace", 0);
	for (int round = 0; round < 20; round++) {
		uint32_t hosts = 1 + (uint32_t)random_below(&r, HOSTS);
		struct counts all = { 0 }, hour[24] = { { 0 } }, day = { 0 };
		double nr = 0, brief = 0, quiet = 0;
		struct activity_stats s;
		struct activity a;
		int begin, end;

		draw_owners(&r, &a, hosts, &begin, &end);
		activity_stats_make(&a, &s);
		activity_clear(&a);
		for (uint32_t h = 0; h < hosts; h++) {
			int length = 0;

			for (int m = begin; m < end; m++) {
				int at = m / 60 % 24, d = m / 1440 % 7;

				if (in_use[h][m]) {
					count_period(length, &nr, &brief,
						     &quiet);
					length = 0;
				} else {
					length++;
				}
				count_minute(&all, length);
				count_minute(&hour[at], length);
				if (d < 5 && at >= 9 && at < 19)
					count_minute(&day, length);
			}
			count_period(length, &nr, &brief, &quiet);
		}
		assert_int_equal(s.hosts, hosts);
		near(s.span, 60. * (end - begin));
		near(s.idle, all.idle / all.all);
		near(s.idle_1, all.idle_1 / all.all);
		near(s.idle_15, all.idle_15 / all.all);
		assert_int_equal(s.periods, (uint64_t)nr);
		near(s.brief, brief / nr);
		near(s.long_share, quiet / all.idle);
		check_shares(&s.by_day, &day);
		for (int i = 0; i < 24; i++)
			check_shares(&s.hour[i], &hour[i]);
	}
}

/* Of a time that the script has nothing of there is no share. */
static void an_hour_alone(void **state)
{
	struct activity a = ACTIVITY_INIT;
	struct activity_stats s;

	(void)state;
	activity_add_host(&a, "a");
	activity_add(&a, 36000 * SEC, 0, ACTIVITY_KEYBOARD, 1);
	activity_add(&a, 37800 * SEC, 0, ACTIVITY_KEYBOARD, 0);
	activity_add(&a, 39600 * SEC, 0, ACTIVITY_KEYBOARD, 1);
	activity_stats_make(&a, &s);
	activity_clear(&a);
	for (int h = 0; h < 24; h++)
		assert_true(isnan(s.hour[h].idle) == (h != 10));
	near(s.hour[10].idle, 0.5);
	near(s.hour[10].idle_15, 0.25);
	near(s.by_day.idle, 0.5);
	near(s.median, 1800);
	assert_int_equal(s.periods, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_are_summed_up),
		cmocka_unit_test(owners_are_summed_up),
		cmocka_unit_test(an_hour_alone),
	};

	return cmocka_run_group_tests_name("trace_stats", tests, NULL, NULL);
}
