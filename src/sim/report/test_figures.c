/* test_figures.c - time series and Gantt charts show what the run did */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/engine/sim.h"
#include "sim/report/gantt.h"
#include "sim/report/series.h"

struct both {
	struct series series;
	struct gantt *gantt;
};

static void note(void *data, const struct view *view, const struct event *e)
{
	struct both *b = data;

	series_note(&b->series, view);
	gantt_note(b->gantt, view, e);
}

static void run(const char *policy, const char *workload, uint64_t jobs,
		struct both *b, struct sim_result *result)
{
	const struct workload_setup setup = { .load = 0.7,
					      .nr_jobs = jobs,
					      .seed = 3 };
	const struct sim_observer observer = { .event = note, .data = b };
	struct sim_config config = { .policy = policy, .observer = &observer };
	struct error err;

	memset(b, 0, sizeof(*b));
	b->gantt = gantt_create(&(struct window){ 0 });
	assert_int_equal(
		workload_create(workload, &setup, &config.workload, &err), 0);
	assert_int_equal(sim_run(&config, result, &err), 0);
	workload_destroy(config.workload);
}

/* The numbers of a chart's bars, four for each: x, y, width, height. */
static size_t read_bars(const char *svg, double (**ret)[4], double *seconds)
{
	size_t n = 0;

	*ret = NULL;
	*seconds = 0;
	for (const char *c = svg; (c = strstr(c, "<g><title>job")); c++) {
		double b[4], from, to;
		unsigned procs;

		if (sscanf(c,
			   "<g><title>job %*d, %u processors, %lf s to %lf "
			   "s</title><rect x=\"%lf\" y=\"%lf\" width=\"%lf\" "
			   "height=\"%lf\" fill",
			   &procs, &from, &to, &b[0], &b[1], &b[2], &b[3]) != 7)
			continue;
		*ret = realloc(*ret, (n + 1) * sizeof(**ret));
		memcpy((*ret)[n++], b, sizeof(b));
		*seconds += procs * (to - from);
	}
	return n;
}

static char *chart(const struct gantt *g)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(gantt_write(g, "a <title> & more", "seed 3", f, NULL),
			 0);
	fclose(f);
	return text;
}

static void check_chart(const char *policy)
{
	struct sim_result result;
	struct both b;
	double(*bar)[4], seconds;
	char *svg;
	size_t n;

	run(policy, "poisson:procs=16", 200, &b, &result);
	svg = chart(b.gantt);
	assert_non_null(strstr(svg, "a &lt;title&gt; &amp; more"));
	n = read_bars(svg, &bar, &seconds);
	assert_true(n >= 200);
	/* Every processor second of the run is there... */
	assert_true(fabs(seconds / result.busy - 1) < 1e-3);
	/* ... and no two bars cover the same place (to what is printed). */
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			assert_false(bar[i][0] + 0.02 < bar[j][0] + bar[j][2] &&
				     bar[j][0] + 0.02 < bar[i][0] + bar[i][2] &&
				     bar[i][1] + 0.02 < bar[j][1] + bar[j][3] &&
				     bar[j][1] + 0.02 < bar[i][1] + bar[i][3]);
	free(bar);
	free(svg);
	gantt_destroy(b.gantt);
	sim_result_clear(&result);
}

static void charts_hold_the_whole_run(void **state)
{
	check_chart("fcfs");
	check_chart("lst:slice=60s");
	check_chart("easy");
}

static void too_much_is_refused(void **state)
{
	struct sim_result result;
	struct error err;
	struct both b;

	run("fcfs", "poisson:procs=4", 120000, &b, &result);
	if (gantt_write(b.gantt, "", NULL, stdout, &err) == 0)
		fail_msg("120000 jobs fit into a chart of %d bars", GANTT_MAX);
	assert_non_null(strstr(err.text, "--jobs"));
	gantt_destroy(b.gantt);
	sim_result_clear(&result);
}

/* The means of the table, weighted by time, are those of the run. */
static void series_adds_up(void **state)
{
	struct sim_result result;
	double allocated = 0, span;
	struct both b;

	run("easy", "poisson:procs=16", 3000, &b, &result);
	assert_true(b.series.nr > SERIES_MAX / 2 && b.series.nr <= SERIES_MAX);
	span = usec_to_seconds(b.series.seen - b.series.begin);
	for (size_t i = 0; i < b.series.nr; i++)
		allocated += b.series.span[i].allocated;
	assert_true(fabs(allocated / result.busy - 1) < 1e-6);
	assert_true(fabs(span - usec_to_seconds(result.end - result.begin)) <
		    1e-6);
	gantt_destroy(b.gantt);
	sim_result_clear(&result);
}

/* The last span ends with the run, here in the middle of a second. */
static void the_last_span_is_short(void **state)
{
	static struct series s;
	struct view v = { .nr_procs = 4, .nr_free = 0, .demand = 8 };
	char *text = NULL, *last;
	size_t size;
	double at, used, demand;
	int seed;
	FILE *f = open_memstream(&text, &size);

	series_note(&s, &v);
	v.now = 2500000;
	series_note(&s, &v);
	series_print(&s, 3, f);
	fclose(f);
	text[size - 1] = 0;
	last = strrchr(text, '\n');
	assert_int_equal(sscanf(last, "%lf %*f %*f %lf %lf %d", &at, &used,
				&demand, &seed),
			 4);
	assert_true(at == 2.25 && used == 1 && demand == 2 && seed == 3);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(charts_hold_the_whole_run),
		cmocka_unit_test(too_much_is_refused),
		cmocka_unit_test(series_adds_up),
		cmocka_unit_test(the_last_span_is_short),
	};

	return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
