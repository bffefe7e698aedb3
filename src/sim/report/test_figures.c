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
		const char *rect = strstr(c, "</title><rect");

		assert_int_equal(
			sscanf(c,
			       "<g><title>job %*d, %u%*[ofprcess 0-9], %lf s "
			       "to %lf s",
			       &procs, &from, &to),
			3);
		assert_int_equal(sscanf(rect,
					"</title><rect x=\"%lf\" y=\"%lf\" "
					"width=\"%lf\" height=\"%lf\" fill",
					&b[0], &b[1], &b[2], &b[3]),
				 4);
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
	/* ... on the 16 processors there are, of 20 points each, below a title of 40 ... */
	for (size_t i = 0; i < n; i++)
		assert_true(bar[i][1] + bar[i][3] < 40 + 16 * 20 + 0.02);
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

/* Tell a chart of something that happens to the job at that second. */
static void happens(struct gantt *g, struct view *view, struct event e,
		    int second)
{
	view->now = e.at = second * USEC_PER_SEC;
	model_apply(view, &e);
	gantt_note(g, view, &e);
}

/*
 * A job of two ranks has its turn from 0 to 10 and from 30 to 40, and moves at 20, 25
 * and 35: only while it runs it is seen, where it is then.
 */
static void who_has_no_turn_is_not_drawn(void **state)
{
	static const uint32_t on[] = { 0, 1 };
	struct host hosts[4] = { { .name = NULL } };
	struct gantt *g = gantt_create(&(struct window){ 0 });
	double(*bar)[4], seconds;
	struct view view;
	struct job *j;
	char *svg;

	(void)state;
	for (int i = 0; i < 4; i++)
		hosts[i] = (struct host){ .name = "",
					  .speed = 1,
					  .cores = 1,
					  .slots = 9,
					  .up = true };
	view_init_hosts(&view, hosts, 4);
	j = view_job_create(&view);
	j->id = 1;
	j->size = j->min_size = 2;
	happens(g, &view, (struct event){ .type = EVENT_ARRIVE, .job = j }, 0);
	happens(g, &view,
		(struct event){
			.type = EVENT_START, .job = j, .n = 2, .hosts = on },
		0);
	happens(g, &view, (struct event){ .type = EVENT_SUSPEND, .job = j },
		10);
	happens(g, &view,
		(struct event){ .type = EVENT_MIGRATE, .job = j, .host = 2 },
		20);
	happens(g, &view,
		(struct event){ .type = EVENT_MIGRATE, .job = j, .host = 0 },
		25);
	happens(g, &view, (struct event){ .type = EVENT_RESUME, .job = j }, 30);
	happens(g, &view,
		(struct event){ .type = EVENT_MIGRATE, .job = j, .host = 3 },
		35);
	happens(g, &view, (struct event){ .type = EVENT_END, .job = j }, 40);
	svg = chart(g);
	assert_non_null(strstr(svg, "2 processors, 0 s to 10 s"));
	assert_non_null(strstr(svg, "2 processors, 30 s to 35 s"));
	assert_non_null(strstr(svg, "1 of 2 processors, 35 s to 40 s"));
	read_bars(svg, &bar, &seconds);
	assert_true(fabs(seconds - 2 * (10 + 5 + 5)) < 1e-9);
	free(bar);
	free(svg);
	gantt_destroy(g);
	view_job_destroy(&view, j);
	view_clear(&view);
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
		cmocka_unit_test(who_has_no_turn_is_not_drawn),
		cmocka_unit_test(too_much_is_refused),
		cmocka_unit_test(series_adds_up),
		cmocka_unit_test(the_last_span_is_short),
	};

	return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
