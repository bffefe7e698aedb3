/*
 * test_compare.c - runs of the same jobs beside each other, against a second implementation
 * that pairs by looking at every job, on random runs
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "sim/report/compare.h"

enum { JOBS = 200, RUNS = 3, ROUNDS = 60 };
#define SEC USEC_PER_SEC

static struct sim_record records[RUNS][JOBS];
static struct compare_run run[RUNS];
static uint64_t rows; /* that were looked at */

/* What a job is, by its number alone. */
static struct sim_record job_of(int64_t id)
{
	struct random_stream r;
	struct sim_record j = { .id = id };
	double scale;

	random_init(&r, 9, "job", (uint64_t)id);
	scale = pow(10, (double)random_below(&r, 6));
	j.size = 1 + (uint32_t)random_below(&r, 20);
	j.run = (usec_t)(random_uniform(&r, 0, 1) * scale * SEC);
	if (!random_below(&r, 4)) /* at the bounds of classes */
		j.run = (usec_t[]){ 60, 600, 3600,
				    36000 }[random_below(&r, 4)] *
			SEC;
	return j;
}

static void draw_run(struct random_stream *r, int k, int nr)
{
	int64_t id = 1 + (int64_t)random_below(r, 20);

	for (int i = 0; i < nr; i++, id += 1 + (int64_t)random_below(r, 2)) {
		struct sim_record *j = &records[k][i];

		*j = job_of(id);
		j->submit = (usec_t)random_below(r, 1000000) * 1000;
		j->start =
			random_below(r, 10)
				? j->submit + (usec_t)random_below(r, 999) * SEC
				: -1;
		j->end = random_below(r, 12) ? j->submit + 1000 * SEC + j->run
					     : -1;
	}
	for (int i = nr - 1; i > 0; i--) { /* as they came */
		int at = (int)random_below(r, (uint64_t)i + 1);
		struct sim_record t = records[k][i];

		records[k][i] = records[k][at];
		records[k][at] = t;
	}
	run[k] = (struct compare_run){
		.name = k ? "other" : "first",
		.result = { .record = records[k], .nr = (size_t)nr },
	};
}

static bool is_over(const struct sim_record *j)
{
	return j->start >= 0 && j->end >= 0;
}

static double value(const struct sim_record *j, enum compare_metric m)
{
	double response = (double)(j->end - j->submit) / SEC;
	double base = (double)j->run / SEC > 10 ? (double)j->run / SEC : 10;

	return m == COMPARE_WAIT       ? (double)(j->start - j->submit) / SEC
	       : m == COMPARE_RESPONSE ? response
	       : response / base > 1   ? response / base
				       : 1;
}

static bool in_class(const struct sim_record *j, enum compare_by by,
		     const char *class)
{
	static const char *const names[] = { "up to 1 min", "up to 10 min",
					     "up to 1 h", "up to 10 h",
					     "above 10 h" };
	unsigned from, to = 0;
	usec_t bound = 60 * SEC;
	int c = 0;

	if (!strcmp(class, "all"))
		return true;
	if (by == COMPARE_BY_SIZE) {
		if (sscanf(class, "%u-%u", &from, &to) != 2)
			assert_int_equal(sscanf(class, "%u", &from), 1);
		return j->size >= from && j->size <= (to ? to : from);
	}
	while (c < 4 && j->run > bound) {
		bound = (usec_t[]){ 600, 3600, 36000, 0 }[c] * SEC;
		c++;
	}
	return !strcmp(class, names[c]);
}

static void same(double a, double b)
{
	if (isnan(a) && isnan(b))
		return;
	if (!(fabs(a - b) <= 1e-9 * (1 + fabs(b))))
		fail_msg("%.12g is not %.12g", a, b);
}

static void check_row(void *arg, const struct compare_row *row)
{
	enum compare_by by = *(enum compare_by *)arg;
	const struct compare_run *mine = &run[row->run];
	double own[JOBS], difference[JOBS], sum = 0, least = INFINITY;
	struct summary_stat s;
	size_t n = 0, pairs = 0;

	for (size_t i = 0; i < mine->result.nr; i++) {
		const struct sim_record *j = &mine->result.record[i];

		if (!is_over(j) || !in_class(j, by, row->class))
			continue;
		own[n++] = value(j, row->metric);
		least = fmin(least, own[n - 1]);
	}
	for (size_t i = 0; i < run[0].result.nr; i++)
		for (size_t k = 0; k < mine->result.nr; k++) {
			const struct sim_record *a = &records[0][i];
			const struct sim_record *b = &mine->result.record[k];

			if (!row->run || a->id != b->id || !is_over(a) ||
			    !is_over(b) || !in_class(a, by, row->class))
				continue;
			difference[pairs] =
				value(b, row->metric) - value(a, row->metric);
			sum += difference[pairs++];
		}
	assert_int_equal(row->jobs, n);
	assert_int_equal(row->pairs, pairs);
	same(row->difference, pairs ? sum / (double)pairs : NAN);
	same(row->half, pairs ? summary_half(difference, pairs) : NAN);
	summary_stat_make(own, n, &s);
	same(row->stat.mean, s.mean);
	same(row->stat.p90, s.p90);
	same(row->stat.half, s.half);
	if (n)
		assert_true(row->stat.min == least);
	rows++;
}

/* Classes other than "all" share out the jobs that ended: their counts add up. */
struct sum {
	uint64_t all, parts;
	char last[32];
	int classes;
};

static void add_up(void *arg, const struct compare_row *row)
{
	struct sum *s = arg;

	if (row->run != 1 || row->metric != COMPARE_WAIT)
		return;
	*(!strcmp(row->class, "all") ? &s->all : &s->parts) += row->jobs;
	s->classes += strcmp(row->class, s->last) != 0;
	snprintf(s->last, sizeof(s->last), "%s", row->class);
}

static void tables_are_as_said(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "compare", 0);
	for (int round = 0; round < ROUNDS; round++) {
		int nr = 60 + (int)random_below(&r, JOBS - 60);
		struct error err;

		for (int k = 0; k < RUNS; k++)
			draw_run(&r, k, k ? nr - k : nr);
		if (compare_pair(run, RUNS, &err) < 0)
			fail_msg("%s", err.text);
		for (enum compare_by by = 0; by <= COMPARE_BY_RUN; by++) {
			struct sum s = { .all = 0 };

			compare_rows(run, RUNS, by, check_row, &by);
			compare_rows(run, RUNS, by, add_up, &s);
			assert_int_equal(s.all, s.parts);
			assert_true(s.classes > 4);
		}
		for (int k = 0; k < RUNS; k++)
			free(run[k].match);
	}
	assert_true(rows > 1000);
}

static void refused(const char *why)
{
	struct error err;

	assert_int_equal(compare_pair(run, 2, &err), -EINVAL);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	for (int k = 0; k < 2; k++) {
		free(run[k].match);
		run[k].match = NULL;
	}
}

static void other_jobs_are_refused(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 2, "compare", 0);
	for (int k = 0; k < 2; k++) {
		draw_run(&r, k, 50);
		for (int i = 0; i < 50; i++) {
			records[k][i] = job_of(i + 1);
			records[k][i].id = i + 1;
		}
	}
	records[1][7].size++;
	refused("are not runs of the same jobs");
	records[1][7].size--;
	records[1][49].run++;
	refused("are not runs of the same jobs");
	records[1][49].run--;
	records[1][3].id = records[1][40].id;
	refused("two jobs have the number 41");
	for (int i = 0; i < 50; i++)
		records[1][i].id = 100 + i;
	refused("no job in common");
}

static void busy_is_per_second(void **state)
{
	(void)state;
	run[0].result = (struct sim_result){ .begin = 10 * SEC,
					     .end = 30 * SEC,
					     .busy = 50 };
	assert_true(compare_busy(&run[0]) == 2.5);
	run[0].result.end = 10 * SEC;
	assert_true(compare_busy(&run[0]) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_as_said),
		cmocka_unit_test(other_jobs_are_refused),
		cmocka_unit_test(busy_is_per_second),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
