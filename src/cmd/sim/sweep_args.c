/* sweep_args.c - the options of stint sweep, see sweep_args.h */
#include "cmd/sim/sweep_args.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/kit/command.h"
#include "cmd/sim/cost_options.h"
#include "cmd/sim/own_policy.h"
#include "cmd/sim/setup_args.h"
#include "cmd/sim/sweep_launcher.h"
#include "cmd/sim/swf_words.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "policy/policies.h"
#include "sim/report/plot.h"
#include "sim/workload/machine.h"
#include "sim/workload/workload.h"

enum {
	KEY_SWF = 256,
	KEY_PRECISION,
	KEY_SE,
	KEY_LEVEL,
	KEY_MIN,
	KEY_MAX,
	KEY_PAIRED,
	KEY_FOLLOW,
	KEY_EXTRA,
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
	{ "swf", KEY_SWF, "FILE", 0, "on this trace; give it again for more",
	  0 },
	{ "follow", KEY_FOLLOW, 0, 0,
	  "jobs of traces that come after another are submitted when that one "
	  "is over here, and their user has thought",
	  0 },
	{ "extra-columns", KEY_EXTRA, "refuse|ignore", 0,
	  "what to do with an SWF file of more than 18 columns (refuse)", 0 },
	{ "load", 'L', "L,...|FROM:TO:STEP", 0,
	  "at these loads (as the workload is)", 0 },
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
	{ "workers", 'j', "N", 0,
	  "processes that compute (all cores; one a rank under mpiexec)", 1 },
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

/* Takes text over. */
static void list_add(struct sweep_list *list, char *text)
{
	array_room(list->item, list->nr, &list->cap);
	list->item[list->nr++] = text;
}

static void list_clear(struct sweep_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->item[i]);
	free(list->item);
}

static void add_load(struct sweep_args *a, double load)
{
	array_room(a->load, a->nr_loads, &a->cap_loads);
	/* What a sum of steps leaves behind the decimals would show. */
	a->load[a->nr_loads++] = round(load * 1e9) / 1e9;
}

static int parse_range(struct sweep_args *a, const char *text)
{
	double from, to, step;
	int n = 0;

	if (sscanf(text, "%lf:%lf:%lf%n", &from, &to, &step, &n) != 3 ||
	    text[n] || !setup_args_is_load(from) || !setup_args_is_load(to) ||
	    !(step > 0) || to < from || (to - from) / step > 10000)
		return -EINVAL;
	for (int i = 0; from + i * step <= to + step * 1e-6; i++)
		add_load(a, from + i * step);
	return 0;
}

static int parse_loads(struct sweep_args *a, const char *text,
		       struct error *err)
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

		if (end == p || !setup_args_is_load(x) || (*end && *end != ','))
			return error_set(err, -EINVAL,
					 "--load: '%s' is not L,... or "
					 "FROM:TO:STEP with loads from "
					 "0.000001 to 1000",
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
static int parse_number(struct sweep_args *a, int key, const char *arg,
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

static int take_format(struct sweep_args *a, enum sweep_format format,
		       struct error *err)
{
	if (!a->table && a->format != format)
		return error_set(err, -EINVAL,
				 "one of --json, --csv and --tsv, not two");
	a->table = false;
	a->format = format;
	return 0;
}

static int parse_option(struct sweep_args *a, int key, const char *arg,
			struct error *err)
{
	switch (key) {
	case 'p':
		list_add(&a->policies, xstrdup(arg));
		return 0;
	case 'w':
		list_add(&a->workloads, xstrdup(arg));
		return 0;
	case KEY_SWF:
		list_add(&a->workloads, xasprintf(SWEEP_SWF "%s", arg));
		return 0;
	case 'L':
		return parse_loads(a, arg, err);
	case KEY_METRIC:
		return parse_metric(arg, &a->metric, err);
	case KEY_JSON:
	case KEY_CSV:
	case KEY_TSV:
		return take_format(a,
				   key == KEY_JSON  ? SWEEP_JSON
				   : key == KEY_CSV ? SWEEP_CSV
						    : SWEEP_TSV,
				   err);
	}
	return parse_number(a, key, arg, err);
}

static error_t parse_sweep(int key, char *arg, struct argp_state *state)
{
	struct sweep_args *a = state->input;
	enum swf_extra extra = SWF_EXTRA_REFUSE;
	struct error err;
	int rc;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->costs;
		state->child_inputs[1] = &a->machine;
		return 0;
	case 'r':
		a->sweep.results = arg;
		return 0;
	case 'o':
		a->out = arg;
		return 0;
	case KEY_SVG:
		a->svg = arg;
		return command_parsed(
			state, plot_check_name("--svg", arg, &err), &err);
	case KEY_PAIRED:
		a->paired = true;
		return 0;
	case KEY_FOLLOW:
		a->follow = true;
		return 0;
	case KEY_EXTRA:
		a->extra_given = true;
		rc = swf_words_extra(arg, &extra, &err);
		a->sweep.extra_ignored = extra == SWF_EXTRA_IGNORE;
		return command_parsed(state, rc, &err);
	case 'q':
		a->quiet = true;
		return 0;
	}
	rc = parse_option(a, key, arg, &err);
	return rc > 0 ? ARGP_ERR_UNKNOWN : command_parsed(state, rc, &err);
}

/* All combinations, those of one workload and load in one group if paired. */
static void make_cells(struct sweep_args *a)
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
					.speedup = a->machine.speedup,
					.hosts = a->machine.hosts,
					.paging = a->machine.paging,
					.costs = a->costs,
					.group = (uint32_t)group,
				};
			}
	a->sweep.cell = a->cell;
	a->sweep.nr = nr;
}

static const char doc[] =
	"Run every policy on every workload at every load, with independent "
	"replications until the means are known as well as asked for."
	"\vAll policies meet the same jobs.  The outcome depends on the options "
	"and the seed alone, not on --workers nor on interruptions.  Under mpiexec or srun "
	"the ranks share the work by way of the --results file, and rank 0 "
	"prints.\n\n"
	"  stint sweep -p fff -p ff+fifo -w ismail:speedup=misp \\\n"
	"    -L 0.2:1.2:0.2 --results runs.tsv --svg figure.svg";

/* A file of results knows a policy by its name, and a file of that name may be another
 * policy next time. */
static int check_policy(const struct sweep_args *a, const char *spec,
			struct error *err)
{
	const char *params;
	char *name = param_split(spec, &params);
	bool own = policy_is_path(name);
	int rc = own_policy_load(spec, err);

	free(name);
	if (!rc && own && a->sweep.results)
		rc = error_set(err, -EINVAL,
			       "--results does not go with %s: what that file "
			       "is next time may decide otherwise",
			       spec);
	return rc ? rc : policy_check(spec, err);
}

/* Traces whose jobs come after one another are workloads of another name, also in the file
 * of results. */
static int follow_traces(struct sweep_args *a, struct error *err)
{
	size_t nr = 0;

	for (size_t i = 0; i < a->workloads.nr; i++) {
		char *name = a->workloads.item[i];

		if (strncmp(name, SWEEP_SWF, strlen(SWEEP_SWF)) != 0)
			continue;
		a->workloads.item[i] =
			xasprintf(SWEEP_FOLLOW "%s", name + strlen(SWEEP_SWF));
		free(name);
		nr++;
	}
	if (!nr || a->nr_loads || a->machine.speedup)
		return setup_args_no_follow(err);
	return 0;
}

static bool is_trace(const char *workload)
{
	return !strncmp(workload, SWEEP_SWF, strlen(SWEEP_SWF)) ||
	       !strncmp(workload, SWEEP_FOLLOW, strlen(SWEEP_FOLLOW));
}

static bool any_trace(const struct sweep_args *a)
{
	for (size_t i = 0; i < a->workloads.nr; i++)
		if (is_trace(a->workloads.item[i]))
			return true;
	return false;
}

static int check_names(const struct sweep_args *a, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < a->policies.nr && !rc; i++)
		rc = check_policy(a, a->policies.item[i], err);
	for (size_t i = 0; i < a->workloads.nr && !rc; i++)
		if (!is_trace(a->workloads.item[i]))
			rc = workload_check(a->workloads.item[i], err);
	return rc ? rc : machine_args_check(&a->machine, err);
}

/* What is still missing is as usual, or an error. */
static int fill_in(struct sweep_args *a, struct error *err)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	sweep_find_launcher(&a->sweep);
	if (a->sweep.ranks && !a->sweep.results)
		return error_set(err, -EINVAL,
				 "%u ranks need --results FILE where all of "
				 "them can write",
				 a->sweep.ranks);
	if (a->extra_given && !any_trace(a))
		return error_set(err, -EINVAL,
				 "--extra-columns is for traces (--swf)");
	if (a->follow && follow_traces(a, err) < 0)
		return -EINVAL;
	if (!a->sweep.workers)
		a->sweep.workers =
			a->sweep.ranks || cores < 1 ? 1 : (unsigned)cores;
	if (!a->workloads.nr)
		list_add(&a->workloads, xstrdup("ismail"));
	if (!a->nr_loads) {
		array_room(a->load, a->nr_loads, &a->cap_loads);
		a->load[a->nr_loads++] = 0;
	}
	if (!a->policies.nr)
		return error_set(
			err, -EINVAL,
			"name a --policy; `stint policies` lists them");
	if (a->sweep.max < a->sweep.min)
		return error_set(err, -EINVAL, "--max %u is below --min %u",
				 a->sweep.max, a->sweep.min);
	make_cells(a);
	return check_names(a, err);
}

int sweep_args_parse(int argc, char **argv, struct sweep_args *ret,
		     struct error *err)
{
	const struct argp_child children[] = { cost_children[0],
					       machine_children[0],
					       { 0 } };
	const struct argp argp = { options, parse_sweep, NULL, doc, children };
	struct sweep_args a = {
		.sweep = { .seed = 1,
			   .level = 0.95,
			   .target = { [METRIC_RESPONSE] = 0.05,
				       [METRIC_EFFECTIVENESS] = 0.01 },
			   .min = 5,
			   .max = 200 },
		.table = true,
		.metric = METRIC_RESPONSE,
	};
	int rc;

	command_parse(&argp, argc, argv, 0, &a);
	rc = fill_in(&a, err);
	if (rc < 0) {
		sweep_args_clear(&a);
		return rc;
	}
	*ret = a;
	return 0;
}

int sweep_args_open(struct sweep_args *a, struct error *err)
{
	int rc;

	if (!a->machine.hosts || !machine_is_file(a->machine.hosts))
		return 0;
	rc = machine_text(a->machine.hosts, &a->platform, err);
	for (size_t i = 0; !rc && i < a->sweep.nr; i++)
		a->cell[i].hosts = a->platform;
	return rc;
}

void sweep_args_clear(struct sweep_args *a)
{
	free(a->cell);
	free(a->platform);
	free(a->load);
	list_clear(&a->policies);
	list_clear(&a->workloads);
}
