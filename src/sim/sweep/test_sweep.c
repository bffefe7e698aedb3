/* test_sweep.c - the outcome does not depend on workers or interruptions */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/scratch.h"
#include "sim/reproduce/reproduce.h"
#include "sim/sweep/sweep.h"

static const struct sweep_cell cells[] = {
	{ .policy = "ff", .workload = "ismail", .load = 0.3 },
	{ .policy = "ff", .workload = "ismail", .load = 0.7, .group = 1 },
	{ .policy = "deqp",
	  .workload = "ismail:speedup=misp",
	  .load = 0.7,
	  .costs = { .resize = USEC_PER_SEC },
	  .group = 2 },
};
enum { NR = sizeof(cells) / sizeof(*cells) };

static struct sweep small(unsigned workers)
{
	return (struct sweep){ .cell = cells,
			       .nr = NR,
			       .seed = 3,
			       .nr_jobs = 700,
			       .level = 0.95,
			       .target = { [METRIC_RESPONSE] = 0.1 },
			       .min = 3,
			       .max = 12,
			       .workers = workers };
}

static struct sweep_result *run(const struct sweep *sweep)
{
	struct sweep_result *r;
	struct error err = ERROR_INIT;

	if (sweep_run(sweep, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static char *printed(const struct sweep *sweep, const struct sweep_result *r,
		     enum sweep_format format)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	sweep_print(sweep, r, format, f);
	fclose(f);
	return text;
}

static void count_run(void *arg, uint64_t done, uint64_t guess)
{
	(void)guess;
	*(uint64_t *)arg = done;
}

static void same_bytes_whatever_the_workers(void **state)
{
	struct sweep one = small(1), four = small(4);
	struct sweep_result *a = run(&one), *b = run(&four);

	for (int format = SWEEP_JSON; format <= SWEEP_TSV; format++) {
		char *x = printed(&one, a, format);
		char *y = printed(&four, b, format);

		assert_string_equal(x, y);
		free(x);
		free(y);
	}
	sweep_free(a, NR);
	sweep_free(b, NR);
}

static void stops_at_the_precision(void **state)
{
	struct sweep s = small(2);
	struct sweep_result *r = run(&s);
	struct stats first = { 0 };

	for (size_t c = 0; c < NR; c++) {
		struct estimate e = sweep_mean(&r[c], METRIC_RESPONSE, 0.95);

		assert_true(r[c].n >= 3 && r[c].n <= 12);
		assert_true(r[c].met ||
			    (r[c].n == 12 && e.high - e.value > 0.1 * e.value));
		/* Not one more than needed. */
		first = (struct stats){ 0 };
		for (uint32_t i = 0; i + 1 < r[c].n; i++)
			stats_add(&first, r[c].value[i][METRIC_RESPONSE]);
		if (r[c].met && first.n >= 3)
			assert_true(stats_half_width(&first, 0.95) >
				    0.1 * first.mean);
	}
	/* S_e is 1, and every mean time is above the least possible one. */
	assert_true(fabs(sweep_mean(&r[2], METRIC_EFFECTIVENESS, 0.95).value -
			 1) < 1e-9);
	assert_true(sweep_mean(&r[0], METRIC_RESPONSE, 0.95).value > 100);
	sweep_free(r, NR);
}

/* An empty results file. */
static int fresh(char ret[SCRATCH_MAX + 8])
{
	char dir[SCRATCH_MAX];
	int fd;

	scratch_dir(dir, "/tmp");
	snprintf(ret, SCRATCH_MAX + 8, "%s/runs", dir);
	fd = open(ret, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	return fd;
}

/*
 * A results file of invented runs: response and S_e as given, all else 0. A
 * sweep takes them for its own, so it can be seen when it has enough.
 */
static void write_runs(const char *path, const double *response,
		       const double *effectiveness, int nr)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs("# stint sweep results, version " STINT_VERSION ":", f);
	for (int m = 0; m < NR_METRICS; m++)
		fprintf(f, " %s", sweep_metrics[m].name);
	fputc('\n', f);
	for (int r = 0; r < nr; r++) {
		fprintf(f,
			"3\t%d\t700\t0\t0.29999999999999999\t0\t0\t0\tff\t"
			"ismail\t-\t-\t-",
			r);
		for (int m = 0; m < NR_METRICS; m++)
			fprintf(f, "\t%g",
				m == METRIC_RESPONSE	    ? response[r]
				: m == METRIC_EFFECTIVENESS ? effectiveness[r]
							    : 0);
		fputs("\t.\n", f);
	}
	fclose(f);
}

/* How many replications does a sweep with these targets want? */
static uint32_t wanted(const double *response, const double *effectiveness,
		       int nr, uint32_t min)
{
	char path[SCRATCH_MAX + 8];
	struct sweep s = small(1);
	struct sweep_result *r;
	uint64_t computed = 0;
	uint32_t n;

	close(fresh(path));
	write_runs(path, response, effectiveness, nr);
	s.nr = 1;
	s.min = min;
	s.results = path;
	s.target[METRIC_RESPONSE] = 0.05;
	s.target[METRIC_EFFECTIVENESS] = 0.01;
	s.progress = count_run;
	s.arg = &computed;
	r = run(&s);
	n = r[0].n;
	assert_true(r[0].met);
	assert_int_equal(computed, 0); /* all from the file */
	sweep_free(r, 1);
	return n;
}

/*
 * Simulation.md section 10: until the 95 % interval's half-width is at most 5 %
 * of the mean, of S_e 1 %.  By hand, with Student's t: the half-widths of the
 * first 2, 3, ... responses are 63.5, 24.8, 13.6, 9.82, 7.42, 5.97 and 4.996 %.
 * With the normal law's 1.96 seven would do.  Of S_e they are
 * 3.1 % at three, 1.62, 1.10 and 0.83 % at six.
 */
static void stops_where_students_t_says(void **state)
{
	static const double response[] = { 100, 110, 90,  105, 95,
					   100, 100, 100, 100, 100 };
	static const double steady[] = { 100, 100, 100, 100, 100,
					 100, 100, 100, 100, 100 };
	static const double se[] = { .80, .81, .79, .80, .80,
				     .80, .80, .80, .80, .80 };
	static const double flat[] = { .8, .8, .8, .8, .8, .8, .8, .8, .8, .8 };

	(void)state;
	assert_int_equal(wanted(response, flat, 10, 2), 8);
	assert_int_equal(wanted(steady, se, 10, 2), 6);
	assert_int_equal(wanted(response, se, 10, 2), 8);
	/* Not before `min` replications, however certain the mean is. */
	assert_int_equal(wanted(steady, flat, 10, 2), 2);
	assert_int_equal(wanted(steady, flat, 10, 5), 5);
}

static void groups_stop_together(void **state)
{
	struct sweep_cell pair[] = { cells[0], cells[1] };
	struct sweep s = small(2);
	struct sweep_result *r;

	pair[1].group = 0;
	s.cell = pair;
	s.nr = 2;
	r = run(&s);
	assert_int_equal(r[0].n, r[1].n);
	sweep_free(r, 2);
}

/*
 * Wherever the results file is cut, the rest is computed again and the outcome
 * is the same.
 */
static void goes_on_from_its_file(void **state)
{
	char path[SCRATCH_MAX + 8];
	int fd = fresh(path);
	struct sweep s = small(2);
	struct sweep_result *r;
	uint64_t all = 0, again = 0, rest = 0;
	char *whole, *got;

	assert_true(fd >= 0);
	s.results = path;
	s.progress = count_run;
	s.arg = &all;
	r = run(&s);
	whole = printed(&s, r, SWEEP_JSON);
	sweep_free(r, NR);
	assert_true(all >= 9);

	s.arg = &again;
	r = run(&s);
	got = printed(&s, r, SWEEP_JSON);
	assert_string_equal(got, whole);
	assert_int_equal(again, 0);
	free(got);
	sweep_free(r, NR);

	assert_int_equal(ftruncate(fd, lseek(fd, 0, SEEK_END) * 2 / 3), 0);
	s.arg = &rest;
	r = run(&s);
	got = printed(&s, r, SWEEP_JSON);
	assert_string_equal(got, whole);
	assert_true(rest > 0 && rest < all);
	free(got);
	sweep_free(r, NR);
	free(whole);
	close(fd);
}

/*
 * Three ranks, each in a process of its own; one of them dies, and the others
 * do its share.
 */
static void ranks_share_the_work(void **state)
{
	char path[SCRATCH_MAX + 8];
	struct sweep alone = small(1), shared = small(1);
	struct sweep_result *r = run(&alone);
	char *want = printed(&alone, r, SWEEP_JSON), *got;
	uint64_t own = 0, again = 0;
	pid_t pid[2];

	sweep_free(r, NR);
	close(fresh(path));
	shared.results = path;
	shared.ranks = 4; /* rank 3 never comes */
	for (unsigned i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			shared.rank = i + 1;
			_exit(sweep_run(&shared, &r, NULL) < 0);
		}
	}
	shared.progress = count_run;
	shared.arg = &own;
	r = run(&shared);
	got = printed(&shared, r, SWEEP_JSON);
	assert_string_equal(got, want);
	free(got);
	sweep_free(r, NR);
	for (unsigned i = 0; i < 2; i++) {
		int status;

		waitpid(pid[i], &status, 0);
		assert_int_equal(status, 0);
	}
	/*
	 * Rank 0 has stored the results of the others: it has nothing to do
	 * when it runs alone.
	 */
	shared.ranks = 0;
	shared.arg = &again;
	r = run(&shared);
	assert_int_equal(again, 0);
	sweep_free(r, NR);
	free(want);
}

static void refuses_what_is_no_results_file(void **state)
{
	char path[SCRATCH_MAX + 8];
	int fd = fresh(path);
	struct sweep s = small(1);
	struct sweep_result *r;
	struct error err;

	assert_int_equal(write(fd, "precious data\n", 14), 14);
	s.results = path;
	assert_true(sweep_run(&s, &r, &err) < 0);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(lseek(fd, 0, SEEK_END), 14);
	s.results = "/nonexistent/file";
	assert_int_equal(sweep_run(&s, &r, &err), -ENOENT);
	close(fd);
}

static void says_what_it_does_not_know(void **state)
{
	struct sweep_cell bad = cells[0];
	struct sweep s = small(1);
	struct error err;

	s.cell = &bad;
	s.nr = 1;
	bad.policy = "fff:ffmax=0";
	assert_true(sweep_check(&s, &err) < 0);
	assert_non_null(strstr(err.text, "ffmax"));
	bad = cells[0];
	bad.workload = "nowhere";
	assert_true(sweep_check(&s, &err) < 0);
	assert_non_null(strstr(err.text, "nowhere"));
	/* The mean over no jobs does not count. */
	bad = cells[0];
	s.nr_jobs = 500;
	assert_true(sweep_check(&s, &err) < 0);
	assert_non_null(strstr(err.text, "warm-up"));
	s.nr_jobs = 501;
	assert_int_equal(sweep_check(&s, &err), 0);
}

static void crossings(void **state)
{
	static const double x[] = { 1, 2, 3 };
	static const struct estimate y[] = { { 4, 3, 5 },
					     { 2, -1, 3 },
					     { -2, -3, 1 } };
	struct estimate e = reproduce_crossing(x, y, 3);

	assert_true(fabs(e.value - 2.5) < 1e-12);
	assert_true(fabs(e.low - 1.75) < 1e-12);
	assert_true(isinf(e.high)); /* it may lie beyond all that was tried */
	e = reproduce_crossing(x, y, 1);
	assert_true(isnan(e.value));
}

static void rows_are_judged(void **state)
{
	struct reproduce r = { .level = 0.95, .id = "X-1" };
	struct estimate e = { 1.3, 1.2, 1.4 };
	struct estimate none = { NAN, INFINITY, INFINITY };

	reproduce_number(&r, reproduce_text("a"), 1.1, 0.1, e, NULL);
	reproduce_number(&r, reproduce_text("b"), 1.0, 0.1, e, NULL);
	reproduce_range(&r, reproduce_text("c"), 1.4, INFINITY, e, NULL);
	reproduce_range(&r, reproduce_text("d"), 1.5, 1.6, e, NULL);
	reproduce_number(&r, reproduce_text("e"), 1, 5, none, NULL);
	assert_int_equal(r.nr, 5);
	assert_true(r.row[0].met);
	assert_false(r.row[1].met);
	assert_true(r.row[2].met);
	assert_false(r.row[3].met);
	assert_false(r.row[4].met);
	reproduce_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bytes_whatever_the_workers),
		cmocka_unit_test(stops_at_the_precision),
		cmocka_unit_test(stops_where_students_t_says),
		cmocka_unit_test(groups_stop_together),
		cmocka_unit_test(goes_on_from_its_file),
		cmocka_unit_test(ranks_share_the_work),
		cmocka_unit_test(refuses_what_is_no_results_file),
		cmocka_unit_test(says_what_it_does_not_know),
		cmocka_unit_test(crossings),
		cmocka_unit_test(rows_are_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
