/*
 * sweep.c - stint sweep: policies x workloads x loads, until they are known
 */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "sim/output.h"
#include "sim/sweep.h"

enum {
	KEY_OVERHEAD = 256,
	KEY_PRECISION,
	KEY_SE,
	KEY_LEVEL,
	KEY_MIN,
	KEY_MAX,
	KEY_PAIRED,
	KEY_JSON,
	KEY_CSV,
	KEY_TSV,
	KEY_SVG,
	KEY_METRIC,
};

static const struct argp_option options[] = {
	{ "policy", 'p', "NAME[:key=value,...]", 0,
	  "compare this one; give it again for more", 0 },
	{ "workload", 'w', "NAME[:key=value,...]", 0,
	  "on this one; give it again for more (ismail)", 0 },
	{ "load", 'L', "L,...|FROM:TO:STEP", 0,
	  "at these loads (as the workload is)", 0 },
	{ "resize-cost", KEY_OVERHEAD, "TIME", 0,
	  "what a change of its processors costs a job (0)", 0 },
	{ "jobs", 'n', "N", 0, "a run (the workload's number)", 0 },
	{ "procs", 'P', "N", 0, "of the machine (the workload's)", 0 },
	{ "seed", 's', "N", 0, "of all random numbers (1)", 0 },
	{ 0, 0, 0, 0, "How often:", 1 },
	{ "precision", KEY_PRECISION, "PERCENT", 0,
	  "replicate until the mean response is known so well (5)", 1 },
	{ "se-precision", KEY_SE, "PERCENT", 0,
	  "and the scheduling effectiveness (1); 0: do not care", 1 },
	{ "level", KEY_LEVEL, "PERCENT", 0, "of confidence (95)", 1 },
	{ "min", KEY_MIN, "N", 0, "replications at least (5)", 1 },
	{ "max", KEY_MAX, "N", 0, "and at most (200)", 1 },
	{ "paired", KEY_PAIRED, 0, 0,
	  "the same number for all policies at a load", 1 },
	{ "workers", 'j', "N", 0, "processes that compute (all cores)", 1 },
	{ "results", 'r', "FILE", 0,
	  "keep every run there, and go on from what it holds", 1 },
	{ 0, 0, 0, 0, "What comes out:", 2 },
	{ "json", KEY_JSON, 0, 0, "everything, as JSON", 2 },
	{ "csv", KEY_CSV, 0, 0, "as comma-separated values", 2 },
	{ "tsv", KEY_TSV, 0, 0, "as tab-separated values", 2 },
	{ "out", 'o', "FILE", 0, "write it there (standard output)", 2 },
	{ "svg", KEY_SVG, "FILE", 0, "draw the curves of the first workload",
	  2 },
	{ "metric", KEY_METRIC, "NAME", 0, "what to draw and show (response)",
	  2 },
	{ "quiet", 'q', 0, 0, "no progress line", 2 },
	{ 0 }
};

struct list {
	char **item;
	size_t nr, cap;
};

struct args {
	struct list policies, workloads;
	double *load;
	size_t nr_loads, cap_loads;
	struct sweep sweep;
	struct sweep_cell *cell;
	usec_t overhead;
	bool paired, quiet, table;
	enum sweep_format format;
	const char *out, *svg;
	int metric;
};

static void list_add(struct list *list, const char *text)
{
	array_room(list->item, list->nr, &list->cap);
	list->item[list->nr++] = xstrdup(text);
}

static void list_clear(struct list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->item[i]);
	free(list->item);
}

static void add_load(struct args *a, double load)
{
	array_room(a->load, a->nr_loads, &a->cap_loads);
	/* What a sum of steps leaves behind the decimals would show. */
	a->load[a->nr_loads++] = round(load * 1e9) / 1e9;
}

static bool good_load(double x)
{
	return x > 0 && x <= 1000;
}

static int parse_range(struct args *a, const char *text)
{
	double from, to, step;
	int n = 0;

	if (sscanf(text, "%lf:%lf:%lf%n", &from, &to, &step, &n) != 3 ||
	    text[n] || !good_load(from) || !good_load(to) || !(step > 0) ||
	    to < from || (to - from) / step > 10000)
		return -EINVAL;
	for (int i = 0; from + i * step <= to + step * 1e-6; i++)
		add_load(a, from + i * step);
	return 0;
}

static int parse_loads(struct args *a, const char *text, struct error *err)
{
	const char *p = text;
	char *end;

	if (strchr(text, ':')) {
		if (parse_range(a, text) == 0)
			return 0;
		p = "";
	}
	do {
		double x = strtod(p, &end);

		if (end == p || !good_load(x) || (*end && *end != ','))
			return error_set(err, -EINVAL,
					 "--load: '%s' is not L,... or "
					 "FROM:TO:STEP with loads above 0 and "
					 "up to 1000",
					 text);
		add_load(a, x);
		p = end + 1;
	} while (*end);
	return 0;
}

static int parse_percent(const char *text, const char *what, double min,
			 double max, double *ret, struct error *err)
{
	char *end;
	double x = strtod(text, &end);

	if (*end == '%')
		end++;
	if (end == text || *end || !(x >= min && x <= max))
		return error_set(err, -EINVAL,
				 "%s: '%s' is not a percentage from %g to %g",
				 what, text, min, max);
	*ret = x / 100;
	return 0;
}

static int parse_metric(const char *text, int *ret, struct error *err)
{
	int m = sweep_metric_find(text);

	if (m < 0)
		return error_set(err, -EINVAL,
				 "--metric: no '%s'; the columns of --tsv are "
				 "its names",
				 text);
	*ret = m;
	return 0;
}

/* The options that are numbers; 1: not one of them. */
static int parse_number(struct args *a, int key, const char *arg,
			struct error *err)
{
	struct sweep *s = &a->sweep;
	int64_t n = 0;
	int rc;

	switch (key) {
	case 'n':
		rc = parse_int(arg, 1, INT64_MAX, "--jobs", &n, err);
		s->nr_jobs = (uint64_t)n;
		return rc;
	case 'P':
		rc = parse_int(arg, 1, 1 << 24, "--procs", &n, err);
		s->procs = (uint32_t)n;
		return rc;
	case 's':
		rc = parse_int(arg, 0, INT64_MAX, "--seed", &n, err);
		s->seed = (uint64_t)n;
		return rc;
	case KEY_MIN:
		rc = parse_int(arg, 2, 1000000, "--min", &n, err);
		s->min = (uint32_t)n;
		return rc;
	case KEY_MAX:
		rc = parse_int(arg, 2, 1000000, "--max", &n, err);
		s->max = (uint32_t)n;
		return rc;
	case 'j':
		rc = parse_int(arg, 1, 1024, "--workers", &n, err);
		s->workers = (unsigned)n;
		return rc;
	case KEY_PRECISION:
		return parse_percent(arg, "--precision", 0.01, 1000,
				     &s->target[METRIC_RESPONSE], err);
	case KEY_SE:
		return parse_percent(arg, "--se-precision", 0, 1000,
				     &s->target[METRIC_EFFECTIVENESS], err);
	case KEY_LEVEL:
		return parse_percent(arg, "--level", 1, 99.999, &s->level, err);
	}
	return 1;
}

static int parse_option(struct args *a, int key, const char *arg,
			struct error *err)
{
	switch (key) {
	case 'p':
		list_add(&a->policies, arg);
		return 0;
	case 'w':
		list_add(&a->workloads, arg);
		return 0;
	case 'L':
		return parse_loads(a, arg, err);
	case KEY_OVERHEAD:
		return parse_usec(arg, &a->overhead, err);
	case KEY_METRIC:
		return parse_metric(arg, &a->metric, err);
	case KEY_JSON:
	case KEY_CSV:
	case KEY_TSV:
		a->table = false;
		a->format = key == KEY_JSON  ? SWEEP_JSON
			    : key == KEY_CSV ? SWEEP_CSV
					     : SWEEP_TSV;
		return 0;
	}
	return parse_number(a, key, arg, err);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;
	int rc;

	switch (key) {
	case 'r':
		a->sweep.results = arg;
		return 0;
	case 'o':
		a->out = arg;
		return 0;
	case KEY_SVG:
		a->svg = arg;
		return 0;
	case KEY_PAIRED:
		a->paired = true;
		return 0;
	case 'q':
		a->quiet = true;
		return 0;
	}
	rc = parse_option(a, key, arg, &err);
	if (rc < 0)
		argp_error(state, "%s", err.text);
	return rc > 0 ? ARGP_ERR_UNKNOWN : 0;
}

/* All combinations, those of one workload and load in one group if paired. */
static void make_cells(struct args *a)
{
	size_t nr = 0, group = 0;

	a->cell = xcalloc(a->policies.nr * a->workloads.nr * a->nr_loads,
			  sizeof(*a->cell));
	for (size_t w = 0; w < a->workloads.nr; w++)
		for (size_t p = 0; p < a->policies.nr; p++)
			for (size_t l = 0; l < a->nr_loads; l++) {
				group = a->paired ? w * a->nr_loads + l : nr;
				a->cell[nr++] = (struct sweep_cell){
					.policy = a->policies.item[p],
					.workload = a->workloads.item[w],
					.load = a->load[l],
					.overhead = a->overhead,
					.group = (uint32_t)group,
				};
			}
	a->sweep.cell = a->cell;
	a->sweep.nr = nr;
}

/* For people: a line a cell. */
static void print_table(const struct args *a, const struct sweep_result *r,
			FILE *to)
{
	const struct sweep_metric_info *info = &sweep_metrics[a->metric];

	fprintf(to, "%-24s %-28s %6s %12s %10s %5s\n", "policy", "workload",
		"load", info->name, "+-", "runs");
	for (size_t c = 0; c < a->sweep.nr; c++) {
		struct estimate e =
			sweep_mean(&r[c], a->metric, a->sweep.level);

		fprintf(to, "%-24s %-28s %6.4g %12.6g %10.3g %5u%s\n",
			a->cell[c].policy, a->cell[c].workload, a->cell[c].load,
			e.value, e.high - e.value, r[c].n,
			r[c].met ? "" : "  precision not reached");
	}
}

static void show_progress(void *arg, uint64_t done, uint64_t guess)
{
	if (guess < done)
		guess = done;
	fprintf(stderr, "\r%llu of about %llu runs ", (unsigned long long)done,
		(unsigned long long)guess);
}

/* Where the results go: opened before the runs, so that a wrong path is known
 * at once. */
struct files {
	struct output *table, *svg;
};

static int open_files(const struct args *a, struct files *f, struct error *err)
{
	int rc = output_open(a->out ? a->out : "-", &f->table, err);

	if (rc == 0 && a->svg)
		rc = output_open(a->svg, &f->svg, err);
	return rc;
}

static void abort_files(struct files *f)
{
	output_abort(f->table);
	output_abort(f->svg);
	*f = (struct files){ NULL };
}

static int commit(struct output **out, struct error *err)
{
	struct output *o = *out;

	*out = NULL;
	return o ? output_commit(o, err) : 0;
}

static int write_files(const struct args *a, const struct sweep_result *r,
		       struct files *f, struct error *err)
{
	int rc;

	if (a->table)
		print_table(a, r, output_stream(f->table));
	else
		sweep_print(&a->sweep, r, a->format, output_stream(f->table));
	if (f->svg)
		sweep_plot(&a->sweep, r, 0, a->metric, output_stream(f->svg));
	rc = commit(&f->table, err);
	return rc < 0 ? rc : commit(&f->svg, err);
}

static int compute(struct args *a, struct files *f, struct error *err)
{
	struct sweep_result *result;
	int rc = open_files(a, f, err);

	if (rc < 0)
		return rc;
	if (!a->quiet && isatty(STDERR_FILENO))
		a->sweep.progress = show_progress;
	rc = sweep_run(&a->sweep, &result, err);
	if (a->sweep.progress)
		fputs("\r\033[K", stderr);
	if (rc < 0)
		return rc;
	rc = write_files(a, result, f, err);
	sweep_free(result, a->sweep.nr);
	return rc;
}

static int sweep(struct args *a)
{
	struct error err = ERROR_INIT;
	struct files files = { NULL };
	int rc = sweep_check(&a->sweep, &err);

	if (rc < 0)
		return command_fail("sweep", EXIT_USAGE, &err);
	rc = compute(a, &files, &err);
	abort_files(&files);
	return rc < 0 ? command_fail("sweep", EXIT_FAILED, &err) : EXIT_OK;
}

static const char doc[] =
	"Run every policy on every workload at every load, with independent "
	"replications until the means are known as well as asked for."
	"\vAll policies meet the same jobs.  The outcome depends on the options "
	"and the seed alone, not on --workers nor on interruptions.\n\n"
	"  stint sweep -p fff -p ff+fifo -w ismail:speedup=misp \\\n"
	"    -L 0.2:1.2:0.2 --results runs.tsv --svg figure.svg";

static int sweep_main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, NULL, doc };
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct args a = {
		.sweep = { .seed = 1,
			   .level = 0.95,
			   .target = { [METRIC_RESPONSE] = 0.05,
				       [METRIC_EFFECTIVENESS] = 0.01 },
			   .min = 5,
			   .max = 200,
			   .workers = cores > 0 ? (unsigned)cores : 1 },
		.table = true,
		.metric = METRIC_RESPONSE,
	};
	struct error err;
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (!a.workloads.nr)
		list_add(&a.workloads, "ismail");
	if (!a.nr_loads) {
		array_room(a.load, a.nr_loads, &a.cap_loads);
		a.load[a.nr_loads++] = 0;
	}
	if (!a.policies.nr) {
		error_set(&err, -EINVAL,
			  "name a --policy; `stint policies` "
			  "lists them");
		rc = command_fail("sweep", EXIT_USAGE, &err);
	} else if (a.sweep.max < a.sweep.min) {
		error_set(&err, -EINVAL, "--max %u is below --min %u",
			  a.sweep.max, a.sweep.min);
		rc = command_fail("sweep", EXIT_USAGE, &err);
	} else {
		make_cells(&a);
		rc = sweep(&a);
	}
	free(a.cell);
	free(a.load);
	list_clear(&a.policies);
	list_clear(&a.workloads);
	return rc;
}

const struct command cmd_sweep = {
	.name = "sweep",
	.summary = "compare policies over loads and workloads, replicated",
	.run = sweep_main,
};
