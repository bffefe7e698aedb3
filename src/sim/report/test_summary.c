/*
 * test_summary.c - means, percentiles and counts of random runs, against sorted values and
 * sums over all jobs
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
#include "sim/report/summary.h"

enum { JOBS = 3000, ROUNDS = 200 };
#define SEC USEC_PER_SEC

static double value[JOBS], sorted[JOBS];
static struct sim_record record[JOBS];

static void near(double is, double wanted)
{
	if (!(fabs(is - wanted) <= 1e-9 * (1 + fabs(wanted))))
		fail_msg("%.12g is not %.12g", is, wanted);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The smallest that at least that share of all do not exceed. */
static double percentile(size_t n, double share)
{
	size_t i = 0;

	while ((double)(i + 1) < share * (double)n)
		i++;
	return sorted[i];
}

/* Against what value[0..n) has. */
static void check_stat(const struct summary_stat *s, size_t n)
{
	double sum = 0;

	memcpy(sorted, value, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (size_t i = 0; i < n; i++)
		sum += value[i];
	if (!n) {
		assert_true(s->mean == 0 && s->max == 0 && isnan(s->half));
		return;
	}
	near(s->mean, sum / (double)n);
	assert_true(s->min == sorted[0] && s->max == sorted[n - 1]);
	assert_true(s->p50 == percentile(n, 0.5));
	assert_true(s->p90 == percentile(n, 0.9));
	assert_true(s->p95 == percentile(n, 0.95));
	assert_true(s->p99 == percentile(n, 0.99));
	assert_true(isnan(s->half) == (n < 60));
}

static double draw_value(struct random_stream *r, int kind)
{
	switch (kind) {
	case 0:
		return (double)random_below(r, 3); /* many alike */
	case 1:
		return random_uniform(r, 0, 1e6);
	case 2:
		return exp(random_uniform(r, -30, 30));
	default:
		return 7;
	}
}

static void percentiles_are_of_sorted_values(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "summary", 0);
	for (int round = 0; round < 10 * ROUNDS; round++) {
		size_t n = 1 + random_below(&r, round % 50 ? 130 : JOBS);
		double copy[JOBS];
		struct summary_stat s;

		for (size_t i = 0; i < n; i++)
			value[i] = draw_value(&r, round % 4);
		memcpy(copy, value, n * sizeof(*copy));
		summary_stat_make(copy, n, &s);
		check_stat(&s, n);
	}
}

/* Of thirty batches: what is alike within them and not between widens it. */
static void batches_tell_the_interval(void **state)
{
	double x[305], flat[305];

	(void)state;
	for (int i = 0; i < 305; i++) {
		x[i] = i / 10 % 2;
		flat[i] = i % 2;
	}
	assert_true(summary_half(flat, 300) < 1e-9);
	assert_true(summary_half(x, 300) > 0.1);
	assert_true(isnan(summary_half(x, 59)));
	assert_false(isnan(summary_half(x, 60)));
	/* What is left over is not counted. */
	x[304] = 1e9;
	assert_true(summary_half(x, 305) < 1);
}

static void draw_record(struct random_stream *r, struct sim_record *j)
{
	static const enum event_outcome outcomes[] = {
		END_DONE, END_KILLED, END_FAILED, END_CANCELLED, END_REJECTED
	};

	*j = (struct sim_record){
		.submit = (usec_t)random_below(r, 1000) * SEC,
		.size = 1 + (uint32_t)random_below(r, 70),
		.procs = (uint32_t)random_below(r, 20),
		.run = (usec_t)random_below(r, 40) * SEC,
		.resizes = (uint32_t)random_below(r, 3),
		.moves = (uint32_t)random_below(r, 3),
		.outcome = outcomes[random_below(r, 5)],
	};
	j->start = random_below(r, 6)
			   ? j->submit + (usec_t)random_below(r, 99) * SEC
			   : -1;
	j->end = random_below(r, 6)
			 ? j->submit + (usec_t)(random_below(r, 99) + 99) * SEC
			 : -1;
}

enum of { WAIT, RESPONSE, SLOWDOWN, BOUNDED };

static double value_of(const struct sim_record *j, enum of of)
{
	double response = (double)(j->end - j->submit) / SEC;
	double run = (double)j->run / SEC;

	switch (of) {
	case WAIT:
		return (double)(j->start - j->submit) / SEC;
	case RESPONSE:
		return response;
	case SLOWDOWN:
		return run > 0 ? fmax(1, response / run) : 1;
	default:
		return fmax(1, response / fmax(run, 10));
	}
}

static bool is_over(const struct sim_record *j)
{
	return j->start >= 0 && j->end >= 0;
}

static void check_values(const struct sim_result *r, enum of of,
			 const struct summary_stat *s)
{
	size_t n = 0;

	for (size_t i = r->nr_warmup; i < r->nr; i++)
		if (is_over(&record[i]))
			value[n++] = value_of(&record[i], of);
	check_stat(s, n);
}

/* The class of sizes 1, 2, 3-4, ...: each job is in one that its size fits. */
static void check_classes(const struct sim_result *r, const struct summary *s)
{
	uint64_t jobs = 0;

	for (size_t c = 0; c < s->nr_classes; c++) {
		const struct summary_class *k = &s->size_class[c];
		double response = 0, bounded = 0;
		uint64_t n = 0;

		assert_true(!c || k->min == k[-1].max + 1);
		for (size_t i = r->nr_warmup; i < r->nr; i++) {
			const struct sim_record *j = &record[i];

			if (!is_over(j) || j->size < k->min || j->size > k->max)
				continue;
			n++;
			response += value_of(j, RESPONSE);
			bounded += value_of(j, BOUNDED);
		}
		assert_int_equal(k->jobs, n);
		near(k->response, n ? response / (double)n : 0);
		near(k->slowdown, n ? bounded / (double)n : 0);
		jobs += n;
	}
	assert_int_equal(jobs, s->ended);
	if (s->nr_classes)
		assert_true(s->size_class[s->nr_classes - 1].jobs > 0);
}

static void check_counts(const struct sim_result *r, const struct summary *s)
{
	uint64_t outcome[END_REJECTED + 5] = { 0 }, ended = 0;
	double folding = 0, resizes = 0, moves = 0;

	for (size_t i = r->nr_warmup; i < r->nr; i++) {
		const struct sim_record *j = &record[i];

		outcome[j->outcome]++;
		if (!is_over(j))
			continue;
		ended++;
		folding += j->procs ? (double)j->size / j->procs : 1;
		resizes += j->resizes;
		moves += j->moves;
	}
	assert_int_equal(s->jobs, r->nr - r->nr_warmup);
	assert_int_equal(s->warmup, r->nr_warmup);
	assert_int_equal(s->ended, ended);
	assert_int_equal(s->killed, outcome[END_KILLED]);
	assert_int_equal(s->failed, outcome[END_FAILED]);
	assert_int_equal(s->cancelled, outcome[END_CANCELLED]);
	assert_int_equal(s->rejected, outcome[END_REJECTED]);
	near(s->folding, ended ? folding / (double)ended : 0);
	near(s->resizes, ended ? resizes / (double)ended : 0);
	near(s->moves, ended ? moves / (double)ended : 0);
}

static void runs_are_summed_up(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 2, "summary", 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct sim_result result = {
			.record = record,
			.nr = 1 + random_below(&r, 200),
			.procs = 8,
			.begin = 5 * SEC,
			.end = 25 * SEC,
			.busy = 80,
			.migrations = 3,
			.starts_of_ranks = 12,
		};
		struct summary s;

		for (size_t i = 0; i < result.nr; i++)
			draw_record(&r, &record[i]);
		result.nr_warmup = random_below(&r, result.nr);
		summary_make(&result, &s);
		check_values(&result, WAIT, &s.wait);
		check_values(&result, RESPONSE, &s.response);
		check_values(&result, SLOWDOWN, &s.slowdown);
		check_values(&result, BOUNDED, &s.bounded_slowdown);
		check_classes(&result, &s);
		check_counts(&result, &s);
		assert_true(s.makespan == 20 && s.utilization == 0.5);
		assert_true(s.moved_share == 0.25);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_of_sorted_values),
		cmocka_unit_test(batches_tell_the_interval),
		cmocka_unit_test(runs_are_summed_up),
	};

	return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}
