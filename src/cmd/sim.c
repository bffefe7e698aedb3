/*
 * sim.c - stint sim: run a policy on a workload and say what it did
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/sim_figures.h"
#include "cmd/sim_replay.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "policy/policy.h"
#include "sim/attach.h"
#include "sim/machine.h"
#include "sim/output.h"
#include "sim/script.h"
#include "sim/sim.h"
#include "sim/summary.h"
#include "sim/swf.h"
#include "sim/workload.h"

enum {
	KEY_SWF = 256,
	KEY_LOAD,
	KEY_JOBS,
	KEY_SEED,
	KEY_REPLICATION,
	KEY_OUT_SWF,
	KEY_SERIES,
	KEY_PLOT,
	KEY_GANTT,
	KEY_JSON,
	KEY_EXTRA,
	KEY_DROP_CANCELLED,
	KEY_EXACT,
	KEY_KILL,
	KEY_RESIZE_COST,
	KEY_MIGRATE_COST,
	KEY_RANK_COST,
	KEY_LIST,
	KEY_SPEEDUP,
	KEY_EVENTS,
	KEY_REPLAY,
};

static const struct argp_option options[] = {
	{ "policy", 'p', "NAME[:k=v,...]", 0,
	  "what decides; `stint policies` lists them", 0 },
	{ "swf", KEY_SWF, "FILE", 0,
	  "jobs from a trace in the Standard Workload Format (- is standard "
	  "input; gzip is unpacked)",
	  0 },
	{ "workload", 'w', "NAME[:k=v,...]", 0,
	  "jobs from a generator; --list shows them", 0 },
	{ "replay", KEY_REPLAY, "FILE", 0,
	  "a live run as `stint record` wrote it down: give its events to its "
	  "policy again and compare the plans; with --policy, what that one "
	  "would have done with its jobs",
	  0 },
	{ "procs", 'P', "P", 0,
	  "processors; default: what the trace or generator says", 0 },
	{ "hosts", 'H', "COUNTxALPHA,...", 0,
	  "a machine of hosts with speed factors, such as 5x1,25x4", 0 },
	{ "speedup", KEY_SPEEDUP, "MODEL[:k=v,...]", 0,
	  "make jobs malleable: linear, misp[:low=E,high=E], "
	  "table:points=M@E/...; kind=moldable fixes them at their start",
	  0 },
	{ "events", KEY_EVENTS, "FILE", 0,
	  "host failures, drains, cancellations and reservations, a line each "
	  "(TIME down HOST, ...), or a Failure Trace Archive event_trace",
	  0 },
	{ "load", KEY_LOAD, "L", 0,
	  "offered load; a trace is stretched or squeezed to it", 0 },
	{ "jobs", 'n', "N", 0, "only the first N jobs", 0 },
	{ "seed", KEY_SEED, "S", 0, "of all random streams (1)", 0 },
	{ "replication", KEY_REPLICATION, "R", 0,
	  "which of the seed's independent replications (0)", 0 },
	{ "out", 'o', "FILE", 0, "write a line per job, CSV", 1 },
	{ "series", KEY_SERIES, "FILE", 0,
	  "write queue and utilization over time, a table with tabs", 0 },
	{ "plot", KEY_PLOT, "FILE", 0, "draw the same, SVG", 0 },
	{ "gantt", KEY_GANTT, "FILE", 0,
	  "draw which job had which processor when, SVG", 0 },
	{ "out-swf", KEY_OUT_SWF, "FILE", 0, "write the schedule as SWF", 1 },
	{ "json", KEY_JSON, 0, 0, "print the summary as JSON", 1 },
	{ "extra-columns", KEY_EXTRA, "refuse|ignore", 0,
	  "what to do with an SWF file of more than 18 columns (refuse)", 2 },
	{ "drop-cancelled", KEY_DROP_CANCELLED, 0, 0,
	  "leave out jobs of status 5 even if they ran", 2 },
	{ "exact-estimates", KEY_EXACT, 0, 0,
	  "policies see the true run times as estimates", 2 },
	{ "kill-at-estimate", KEY_KILL, 0, 0,
	  "end jobs that outrun their estimate (takes the trace's word for "
	  "both)",
	  2 },
	{ "resize-cost", KEY_RESIZE_COST, "TIME", 0,
	  "standstill when a job's processors change (0)", 3 },
	{ "migrate-cost", KEY_MIGRATE_COST, "TIME", 0,
	  "standstill when ranks of a job move, once (0)", 3 },
	{ "rank-cost", KEY_RANK_COST, "TIME", 0,
	  "and for each rank that moves (0)", 3 },
	{ "list", KEY_LIST, 0, 0, "list the workload generators", 4 },
	{ 0 }
};

struct args {
	const char *policy, *swf, *workload, *replay, *out, *out_swf, *hosts,
		*speedup, *events;
	int64_t procs, jobs, seed, replication;
	double load;
	bool json, list;
	struct swf_options trace;
	struct recorded recorded;
	struct sim_config config;
	struct sim_figures figures;
};

static int parse_load(const char *text, double *ret, struct error *err)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v > 0 && v <= 1000))
		return error_set(err, -EINVAL,
				 "--load: '%s' is no load: a number above 0",
				 text);
	*ret = v;
	return 0;
}

static int parse_extra(const char *text, enum swf_extra *ret, struct error *err)
{
	if (strcmp(text, "refuse") && strcmp(text, "ignore"))
		return error_set(err, -EINVAL,
				 "--extra-columns: '%s' is neither refuse nor "
				 "ignore",
				 text);
	*ret = strcmp(text, "ignore") ? SWF_EXTRA_REFUSE : SWF_EXTRA_IGNORE;
	return 0;
}

static int parse_number(struct args *a, int key, const char *arg,
			struct error *err)
{
	switch (key) {
	case 'P':
		return parse_int(arg, 1, INT32_MAX, "--procs", &a->procs, err);
	case 'n':
		return parse_int(arg, 1, INT32_MAX, "--jobs", &a->jobs, err);
	case KEY_SEED:
		return parse_int(arg, 0, INT64_MAX, "--seed", &a->seed, err);
	case KEY_REPLICATION:
		return parse_int(arg, 0, INT64_MAX, "--replication",
				 &a->replication, err);
	case KEY_LOAD:
		return parse_load(arg, &a->load, err);
	case KEY_EXTRA:
		return parse_extra(arg, &a->trace.extra, err);
	case KEY_RESIZE_COST:
		return parse_usec(arg, &a->config.costs.resize, err);
	case KEY_MIGRATE_COST:
		return parse_usec(arg, &a->config.costs.migrate, err);
	default:
		return parse_usec(arg, &a->config.costs.migrate_rank, err);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;

	switch (key) {
	case 'p':
		a->policy = arg;
		break;
	case KEY_SWF:
		a->swf = arg;
		break;
	case 'w':
		a->workload = arg;
		break;
	case 'H':
		a->hosts = arg;
		break;
	case KEY_EVENTS:
		a->events = arg;
		break;
	case KEY_REPLAY:
		a->replay = arg;
		break;
	case KEY_SPEEDUP:
		a->speedup = arg;
		break;
	case 'o':
		a->out = arg;
		break;
	case KEY_OUT_SWF:
		a->out_swf = arg;
		break;
	case KEY_SERIES:
		a->figures.series_path = arg;
		break;
	case KEY_PLOT:
		a->figures.plot_path = arg;
		break;
	case KEY_GANTT:
		a->figures.gantt_path = arg;
		break;
	case KEY_JSON:
		a->json = true;
		break;
	case KEY_LIST:
		a->list = true;
		break;
	case KEY_DROP_CANCELLED:
		a->trace.drop_cancelled = true;
		break;
	case KEY_EXACT:
		a->trace.exact = true;
		break;
	case KEY_KILL:
		a->config.kill_at_estimate = a->trace.keep_low = true;
		break;
	case 'P':
	case 'n':
	case KEY_SEED:
	case KEY_REPLICATION:
	case KEY_LOAD:
	case KEY_EXTRA:
	case KEY_RESIZE_COST:
	case KEY_MIGRATE_COST:
	case KEY_RANK_COST:
		if (parse_number(a, key, arg, &err) < 0)
			argp_error(state, "%s", err.text);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int list_workloads(void)
{
	const struct workload_ops *w;

	for (size_t i = 0; (w = workload_nth(i)); i++) {
		printf("%s: %s (%s)\n", w->name, w->summary, w->source);
		if (w->details)
			printf("  %s\n", w->details);
		params_explain(w->params, stdout);
	}
	return EXIT_OK;
}

/* What was left out of a trace, on stderr: it is never silent. */
static void tell_dropped(const char *path, const struct swf_trace *t)
{
	size_t dropped = t->no_run + t->no_size + t->too_large + t->cancelled;

	if (dropped)
		fprintf(stderr,
			"%s: left out %zu jobs (%zu without a run time, %zu "
			"without a size, %zu larger than %" PRIu32
			" processors, %zu cancelled)\n",
			path, dropped, t->no_run, t->no_size, t->too_large,
			t->procs, t->cancelled);
	if (t->raised)
		fprintf(stderr,
			"%s: %zu estimates below the run time raised to it\n",
			path, t->raised);
	if (t->unsorted)
		fprintf(stderr, "%s: sorted by submit time\n", path);
}

static int open_swf(struct args *a, struct swf_trace *ret_kept,
		    struct workload **ret, struct error *err)
{
	struct swf_trace t;
	int r;

	a->trace.procs = (uint32_t)a->procs;
	r = swf_read(a->swf, &a->trace, &t, err);
	if (r < 0)
		return r;
	tell_dropped(a->swf, &t);
	if (a->out_swf) {
		*ret_kept = t;
		ret_kept->job = xmalloc(t.nr * sizeof(*t.job));
		memcpy(ret_kept->job, t.job, t.nr * sizeof(*t.job));
	}
	*ret = swf_workload(&t, a->load, (uint64_t)a->jobs);
	return 0;
}

static int open_replay(struct args *a, struct workload **ret, struct error *err)
{
	int r = sim_replay_open(a->replay, &a->recorded, err);

	if (r < 0)
		return r;
	*ret = a->recorded.workload;
	a->recorded.workload = NULL;
	a->config.hosts = a->recorded.hosts;
	a->config.nr_hosts = a->recorded.nr_hosts;
	a->config.script = &a->recorded.script;
	return 0;
}

static int open_workload(struct args *a, struct swf_trace *ret_kept,
			 struct workload **ret, struct error *err)
{
	const struct workload_setup setup = {
		.procs = (uint32_t)a->procs,
		.load = a->load,
		.nr_jobs = (uint64_t)a->jobs,
		.seed = (uint64_t)a->seed,
		.replication = (uint64_t)a->replication,
	};

	int r;

	if (a->replay)
		r = open_replay(a, ret, err);
	else
		r = a->swf ? open_swf(a, ret_kept, ret, err)
			   : workload_create(a->workload, &setup, ret, err);
	if (!r && a->speedup)
		r = attach_speedup(ret, a->speedup, (uint64_t)a->seed,
				   (uint64_t)a->replication, err);
	return r;
}

/* The hosts asked for, or those the workload comes with. */
static int open_machine(struct args *a, const struct workload *w,
			struct host **ret, struct error *err)
{
	const char *text = a->hosts ? a->hosts : w->hosts;
	int r;

	if (!text)
		return 0;
	r = machine_parse(text, ret, &a->config.nr_hosts, err);
	if (!r)
		a->config.hosts = *ret;
	return r;
}

static void show_progress(void *data, uint64_t nr_ended)
{
	const struct workload *w = data;

	if (w->nr_jobs)
		fprintf(stderr, "\r%3.0f %% of %" PRIu64 " jobs",
			100. * (double)nr_ended / (double)w->nr_jobs,
			w->nr_jobs);
	else
		fprintf(stderr, "\r%" PRIu64 " jobs", nr_ended);
}

static const char *source_kind(const struct args *a)
{
	return a->swf ? "swf" : a->replay ? "replay" : "workload";
}

static const char *source_name(const struct args *a)
{
	return a->swf ? a->swf : a->replay ? a->replay : a->workload;
}

/* Everything that determines the run, for whoever repeats it. */
static char *describe(const struct args *a)
{
	return xasprintf("policy %s, %s %s, seed %" PRId64
			 ", replication %" PRId64,
			 a->policy, a->swf ? "trace" : source_kind(a),
			 source_name(a), a->seed, a->replication);
}

/* For figures: short. */
static char *title(const struct args *a)
{
	const char *name = source_name(a);
	const char *slash = a->workload ? NULL : strrchr(name, '/');

	return xasprintf("%s on %s", a->policy, slash ? slash + 1 : name);
}

static void json_text(const char *name, const char *text, FILE *to)
{
	fprintf(to, "\"%s\":\"", name);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(to, "\\%c", c);
		else if (c < 0x20)
			fprintf(to, "\\u%04x", c);
		else
			fputc(c, to);
	}
	fputs("\",", to);
}

static void print_json(const struct args *a, const struct summary *s)
{
	char *head = NULL;
	size_t size;
	FILE *f = open_memstream(&head, &size);

	if (!f)
		abort(); /* out of memory */
	json_text("policy", a->policy, f);
	json_text(source_kind(a), source_name(a), f);
	if (a->load > 0)
		fprintf(f, "\"load\":%.17g,", a->load);
	fprintf(f, "\"seed\":%" PRId64 ",\"replication\":%" PRId64 ",", a->seed,
		a->replication);
	fclose(f);
	summary_json(s, head, stdout);
	free(head);
}

/* Where the run's results go: opened before it, so that a wrong path is
 * known at once. */
struct files {
	struct output *csv, *swf;
};

static int open_files(const struct args *a, struct files *f, struct error *err)
{
	int r = 0;

	if (a->out)
		r = output_open(a->out, &f->csv, err);
	if (!r && a->out_swf)
		r = output_open(a->out_swf, &f->swf, err);
	return r;
}

static void abort_files(struct files *f)
{
	output_abort(f->csv);
	output_abort(f->swf);
	*f = (struct files){ 0 };
}

static int commit(struct output **out, struct error *err)
{
	struct output *o = *out;

	*out = NULL;
	return o ? output_commit(o, err) : 0;
}

static int write_files(struct args *a, const struct sim_result *result,
		       const struct swf_trace *kept, struct files *f,
		       struct error *err)
{
	char *note = describe(a);
	int r;

	if (f->csv)
		output_jobs_csv(f->csv, result);
	if (f->swf)
		output_jobs_swf(f->swf, result, kept->job ? kept : NULL, note);
	free(note);
	note = title(a);
	r = sim_figures_commit(&a->figures, note, err);
	free(note);
	if (!r)
		r = commit(&f->csv, err);
	return r ? r : commit(&f->swf, err);
}

static int report(struct args *a, const struct sim_result *result,
		  const struct swf_trace *kept, struct files *f,
		  struct error *err)
{
	struct summary s;
	int r = write_files(a, result, kept, f, err);

	if (r < 0)
		return r;
	/* A table would spoil what goes to standard output. */
	if ((a->out && !strcmp(a->out, "-")) ||
	    (a->out_swf && !strcmp(a->out_swf, "-")))
		return 0;
	summary_make(result, &s);
	if (a->json)
		print_json(a, &s);
	else
		summary_print(&s, stdout);
	if (fflush(stdout))
		return error_sys(err, -errno, "standard output");
	return 0;
}

static int simulate(struct args *a, struct error *err)
{
	struct swf_trace kept = { 0 };
	struct files files = { 0 };
	struct workload *w = NULL;
	struct host *hosts = NULL;
	struct sim_script script = { 0 };
	struct sim_result result;
	int r = open_files(a, &files, err);

	if (!r)
		r = sim_figures_open(&a->figures, &a->config.observer, err);
	if (!r)
		r = open_workload(a, &kept, &w, err);
	if (!r)
		r = open_machine(a, w, &hosts, err);
	if (!r && a->events)
		r = script_read(a->events, &script, err);
	if (r < 0)
		goto out;
	a->config.workload = w;
	if (a->events)
		a->config.script = &script;
	a->config.policy = a->policy;
	a->config.procs = (uint32_t)a->procs;
	a->config.seed = (uint64_t)a->seed;
	if (isatty(STDERR_FILENO)) {
		a->config.progress = show_progress;
		a->config.progress_data = w;
	}
	r = sim_run(&a->config, &result, err);
	if (a->config.progress && w->nr_jobs > 16384)
		fputs("\r\033[K", stderr);
	if (!r) {
		r = report(a, &result, &kept, &files, err);
		sim_result_clear(&result);
	}
out:
	recorded_clear(&a->recorded);
	script_clear(&script);
	free(hosts);
	workload_destroy(w);
	abort_files(&files);
	sim_figures_clear(&a->figures);
	swf_clear(&kept);
	return r;
}

static int check_args(const struct args *a, struct error *err)
{
	int sources = !!a->swf + !!a->workload + !!a->replay;

	if (!a->policy && !a->replay)
		return error_set(err, -EINVAL,
				 "give --policy NAME; see `stint sim --help`");
	if (sources != 1)
		return error_set(err, -EINVAL,
				 "give either --swf FILE, --workload NAME or "
				 "--replay FILE; see `stint sim --help`");
	if (a->replay &&
	    (a->hosts || a->procs || a->events || a->jobs || a->load > 0))
		return error_set(
			err, -EINVAL,
			"--hosts, --procs, --events, --jobs and --load "
			"do not go with --replay: the record has a machine, "
			"events and jobs of its own");
	if (!a->policy && (a->out || a->out_swf || a->figures.series_path ||
			   a->figures.plot_path || a->figures.gantt_path))
		return error_set(err, -EINVAL,
				 "a comparison writes no such file: give "
				 "--policy NAME to simulate the recorded jobs");
	return 0;
}

static int run(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, NULL,
		"Run a scheduling policy on a workload in simulated time, and "
		"say what users would have felt."
	};
	struct args a = { .seed = 1 };
	struct error err;
	int r = argp_parse(&argp, argc, argv, 0, NULL, &a);

	if (r)
		return EXIT_USAGE;
	if (a.list)
		return list_workloads();
	if (check_args(&a, &err) < 0)
		return command_fail("sim", EXIT_USAGE, &err);
	if (!a.policy)
		return sim_replay(a.replay, a.json);
	r = simulate(&a, &err);
	if (r < 0)
		return command_fail("sim", EXIT_FAILED, &err);
	return EXIT_OK;
}

const struct command cmd_sim = {
	.name = "sim",
	.summary = "simulate a scheduling policy on a trace or workload",
	.run = run,
};
