/*
 * compare.c - stint compare: runs of the same jobs in one table and one plot
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/kit/command.h"
#include "core/json.h"
#include "core/xalloc.h"
#include "sim/report/compare.h"
#include "sim/report/jobs_file.h"
#include "sim/report/output.h"
#include "sim/report/plot.h"

enum { KEY_CSV = 256, KEY_SVG, KEY_BY, KEY_METRIC, KEY_SKIP };

static const struct argp_option options[] = {
	{ "by", KEY_BY, "size|run", 0,
	  "classes of jobs: processors (size), or run times", 0 },
	{ "skip", KEY_SKIP, "N", 0,
	  "leave out the first N jobs of each file: the warm-up", 0 },
	{ "procs", 'P', "P", 0,
	  "processors of the machine, for its utilization", 0 },
	{ "svg", KEY_SVG, "FILE", 0,
	  "draw how many percent of the jobs have no more than so much, a "
	  "curve a run",
	  1 },
	{ "metric", KEY_METRIC, "wait|response|bounded_slowdown", 0,
	  "of what (wait)", 1 },
	{ "json", 'j', 0, 0, "print JSON, an object a row", 2 },
	{ "csv", KEY_CSV, 0, 0, "print CSV, a line a row", 2 },
	{ 0 }
};

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

struct args {
	struct compare_run *run;
	size_t nr, cap;
	const char *svg;
	int64_t skip, procs;
	enum compare_by by;
	enum compare_metric metric;
	enum format format;
};

static int parse_by(const char *text, enum compare_by *ret, struct error *err)
{
	if (strcmp(text, "size") && strcmp(text, "run"))
		return error_set(err, -EINVAL,
				 "--by: '%s' is neither size nor run", text);
	*ret = strcmp(text, "run") ? COMPARE_BY_SIZE : COMPARE_BY_RUN;
	return 0;
}

static int parse_metric(const char *text, enum compare_metric *ret,
			struct error *err)
{
	for (int m = 0; compare_metrics[m]; m++)
		if (!strcmp(text, compare_metrics[m])) {
			*ret = (enum compare_metric)m;
			return 0;
		}
	return error_set(err, -EINVAL,
			 "--metric: '%s' is not wait, response or "
			 "bounded_slowdown",
			 text);
}

static int add_run(struct args *a, const char *path, struct error *err)
{
	for (size_t k = 0; !strcmp(path, "-") && k < a->nr; k++)
		if (!strcmp(a->run[k].name, "-"))
			return error_set(err, -EINVAL,
					 "standard input (-) can be only one "
					 "of the files");
	array_room(a->run, a->nr, &a->cap);
	a->run[a->nr++] = (struct compare_run){ .name = path };
	return 0;
}

static int take_format(struct args *a, enum format format, struct error *err)
{
	if (a->format != FORMAT_TEXT && a->format != format)
		return error_set(err, -EINVAL, "--json or --csv, not both");
	a->format = format;
	return 0;
}

static int parse_value(struct args *a, int key, const char *arg,
		       struct error *err)
{
	switch (key) {
	case KEY_BY:
		return parse_by(arg, &a->by, err);
	case KEY_METRIC:
		return parse_metric(arg, &a->metric, err);
	case KEY_SKIP:
		return parse_int(arg, 0, INT32_MAX, "--skip", &a->skip, err);
	case 'P':
		return parse_int(arg, 1, INT32_MAX, "--procs", &a->procs, err);
	}
	return 1;
}

static error_t parse_compare(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;
	int r;

	switch (key) {
	case 'j':
	case KEY_CSV:
		r = take_format(a, key == 'j' ? FORMAT_JSON : FORMAT_CSV, &err);
		return command_parsed(state, r, &err);
	case KEY_SVG:
		a->svg = arg;
		return command_parsed(
			state, plot_check_name("--svg", arg, &err), &err);
	case ARGP_KEY_ARG:
		r = add_run(a, arg, &err);
		return command_parsed(state, r, &err);
	}
	r = parse_value(a, key, arg, &err);
	return r > 0 ? ARGP_ERR_UNKNOWN : command_parsed(state, r, &err);
}

/* ---- reading ---- */

static int read_run(struct compare_run *run, size_t skip, struct error *err)
{
	struct sim_result *s = &run->result;
	int r = jobs_file_read(run->name, s, err);

	if (r < 0)
		return r;
	if (skip >= s->nr)
		return error_set(err, -EINVAL,
				 "%s: --skip leaves nothing of %zu jobs",
				 run->name, s->nr);
	s->nr -= skip;
	memmove(s->record, s->record + skip, s->nr * sizeof(*s->record));
	return 0;
}

/* A machine that is smaller than a job is not the one that they ran on. */
static int check_procs(const struct compare_run *run, int64_t procs,
		       struct error *err)
{
	const struct sim_result *s = &run->result;

	for (size_t i = 0; procs && i < s->nr; i++)
		if (s->record[i].procs > procs)
			return error_set(err, -EINVAL,
					 "--procs: %" PRId64
					 ", and job %" PRId64 " of %s had "
					 "%" PRIu32,
					 procs, s->record[i].id, run->name,
					 s->record[i].procs);
	return 0;
}

/* Means over other jobs than the first run's mislead: it is said. */
static void tell_unpaired(const struct compare_run *first,
			  const struct compare_run *run)
{
	size_t pairs = 0;

	for (size_t i = 0; i < first->result.nr; i++)
		pairs += run->match[i] != SIZE_MAX;
	if (pairs < first->result.nr || pairs < run->result.nr)
		fprintf(stderr,
			"stint compare: %s has %zu jobs and %s %zu, %zu of "
			"them in both: only the differences are of the same "
			"jobs\n",
			first->name, first->result.nr, run->name,
			run->result.nr, pairs);
}

static int read_runs(struct args *a, struct error *err)
{
	int r = 0;

	for (size_t k = 0; k < a->nr && !r; k++) {
		r = read_run(&a->run[k], (size_t)a->skip, err);
		if (!r)
			r = check_procs(&a->run[k], a->procs, err);
	}
	if (!r)
		r = compare_pair(a->run, a->nr, err);
	for (size_t k = 1; k < a->nr && !r; k++)
		tell_unpaired(&a->run[0], &a->run[k]);
	return r;
}

/* ---- printing ---- */

/* What was printed last, so that a table for people need not say it again. */
struct table {
	const struct args *args;
	char class[32];
	int metric;
	size_t width; /* of the longest name */
};

static void print_number(double v)
{
	if (isnan(v))
		printf(" %11s", "-");
	else
		printf(" %11.2f", v);
}

static void begin_class(struct table *t, const char *class)
{
	const char *what = " processors";

	if (!strcmp(class, "all"))
		what = " jobs";
	else if (t->args->by == COMPARE_BY_RUN)
		what = "";
	else if (!strcmp(class, "1"))
		what = " processor";
	printf("\n%s%s\n", class, what);
	snprintf(t->class, sizeof(t->class), "%s", class);
	t->metric = -1;
}

static void text_row(void *arg, const struct compare_row *row)
{
	struct table *t = arg;

	if (strcmp(t->class, row->class) != 0)
		begin_class(t, row->class);
	printf("  %-17s %-*s %8" PRIu64,
	       t->metric == (int)row->metric ? ""
					     : compare_metrics[row->metric],
	       (int)t->width, t->args->run[row->run].name, row->jobs);
	t->metric = (int)row->metric;
	print_number(row->jobs ? row->stat.mean : NAN);
	print_number(row->jobs ? row->stat.p50 : NAN);
	print_number(row->jobs ? row->stat.p90 : NAN);
	print_number(row->jobs ? row->stat.p99 : NAN);
	if (row->run) {
		print_number(row->difference);
		print_number(row->half);
	}
	putchar('\n');
}

static void print_tables(const struct args *a)
{
	struct table t = { .args = a, .metric = -1 };

	for (size_t k = 0; k < a->nr; k++)
		if (strlen(a->run[k].name) > t.width)
			t.width = strlen(a->run[k].name);
	for (size_t k = 0; k < a->nr; k++) {
		double busy = compare_busy(&a->run[k]);

		printf("%-*s %zu jobs, %.2f processors busy on average",
		       (int)t.width, a->run[k].name, a->run[k].result.nr, busy);
		if (a->procs)
			printf(", utilization %.4f", busy / (double)a->procs);
		if (a->run[k].result.seed >= 0)
			printf(", seed %" PRId64, a->run[k].result.seed);
		putchar('\n');
	}
	printf("\n%-19s %-*s %8s %11s %11s %11s %11s %11s %11s\n", "",
	       (int)t.width, "", "jobs", "mean", "median", "90 %", "99 %",
	       "difference", "+- (95 %)");
	compare_rows(a->run, a->nr, a->by, text_row, &t);
	puts("\nstint " STINT_VERSION);
}

static void json_row(void *arg, const struct compare_row *row)
{
	const struct args *a = arg;
	const struct compare_run *run = &a->run[row->run];
	const struct summary_stat *s = &row->stat;
	double busy = compare_busy(run);

	json_line(
		json_pack(
			"{ss ss so sI so so so so so so sI so so so so so ss}",
			"class", row->class, "metric",
			compare_metrics[row->metric], "run",
			json_text(run->name), "jobs", (json_int_t)row->jobs,
			"mean", json_number(row->jobs ? s->mean : NAN),
			"half95", json_number(s->half), "p50",
			json_number(row->jobs ? s->p50 : NAN), "p90",
			json_number(row->jobs ? s->p90 : NAN), "p99",
			json_number(row->jobs ? s->p99 : NAN), "max",
			json_number(row->jobs ? s->max : NAN), "pairs",
			(json_int_t)row->pairs, "difference",
			json_number(row->difference), "difference_half95",
			json_number(row->half), "busy", json_number(busy),
			"utilization",
			json_number(a->procs ? busy / (double)a->procs : NAN),
			"seed",
			run->result.seed < 0 ? json_null()
					     : json_integer(run->result.seed),
			"version", STINT_VERSION),
		stdout);
}

/* A number as CSV has it: nothing where none is known. */
static void put_csv(double v)
{
	if (isnan(v))
		putchar(',');
	else
		printf(",%.12g", v);
}

/* A name of a file, as RFC 4180 quotes it. */
static void put_name(const char *name)
{
	putchar('"');
	for (; *name; name++) {
		if (*name == '"')
			putchar('"');
		putchar(*name);
	}
	putchar('"');
}

static void csv_row(void *arg, const struct compare_row *row)
{
	const struct args *a = arg;
	const struct compare_run *run = &a->run[row->run];
	const struct summary_stat *s = &row->stat;
	const double number[] = { s->mean, s->half, s->p50,
				  s->p90,  s->p99,  s->max };
	double busy = compare_busy(run);

	printf("%s,%s,", row->class, compare_metrics[row->metric]);
	put_name(run->name);
	printf(",%" PRIu64, row->jobs);
	for (size_t i = 0; i < sizeof(number) / sizeof(*number); i++)
		put_csv(row->jobs ? number[i] : NAN);
	printf(",%" PRIu64, row->pairs);
	put_csv(row->difference);
	put_csv(row->half);
	put_csv(busy);
	put_csv(a->procs ? busy / (double)a->procs : NAN);
	if (run->result.seed < 0)
		puts(",," STINT_VERSION);
	else
		printf(",%" PRId64 "," STINT_VERSION "\n", run->result.seed);
}

static void print_comparison(struct args *a)
{
	if (a->format == FORMAT_TEXT) {
		print_tables(a);
	} else if (a->format == FORMAT_JSON) {
		compare_rows(a->run, a->nr, a->by, json_row, a);
	} else {
		puts("class,metric,run,jobs,mean,half95,p50,p90,p99,max,pairs,"
		     "difference,difference_half95,busy,utilization,seed,version");
		compare_rows(a->run, a->nr, a->by, csv_row, a);
	}
}

/* The plot is opened before files are read: a wrong path is known at once. */
static int compare_files(struct args *a, struct error *err)
{
	struct output *svg = NULL;
	int r = a->svg ? output_open(a->svg, &svg, err) : 0;

	if (!r)
		r = read_runs(a, err);
	if (!r && svg)
		compare_plot(a->run, a->nr, a->metric, output_stream(svg));
	r = output_end(&svg, r, err);
	if (r < 0)
		return r;
	print_comparison(a);
	return fflush(stdout) ? error_sys(err, -errno, "standard output") : 0;
}

int cmd_compare(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_compare, "FILE FILE...",
		"Compare runs of the same jobs, as `stint sim --out` wrote "
		"them: the first with each other one, job by job."
	};
	struct args a = { 0 };
	struct error err;
	int r;

	command_parse(&argp, argc, argv, 0, &a);
	if (a.nr < 2) {
		error_set(&err, -EINVAL,
			  "give two or more files of `stint sim --out`");
		free(a.run);
		return command_fail("compare", EXIT_USAGE, &err);
	}
	r = compare_files(&a, &err);
	for (size_t k = 0; k < a.nr; k++) {
		sim_result_clear(&a.run[k].result);
		free(a.run[k].match);
	}
	free(a.run);
	return r < 0 ? command_fail("compare", EXIT_FAILED, &err) : EXIT_OK;
}
