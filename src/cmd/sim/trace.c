/*
 * trace.c - stint trace: look at workload and activity traces, and make them
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/kit/command.h"
#include "cmd/sim/setup_args.h"
#include "core/json.h"
#include "model/activity.h"
#include "sim/report/output.h"
#include "sim/report/trace_stats.h"
#include "sim/workload/inflate.h"
#include "sim/workload/swf.h"
#include "sim/workload/workload.h"

enum { KEY_ACTIVITY = 256 };

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "stats:", 1 },
	{ "activity", KEY_ACTIVITY, 0, 0,
	  "FILE is an activity script (stint-activity(5)), not of jobs", 1 },
	{ "json", 'j', 0, 0, "print JSON", 1 },
	{ 0, 0, 0, 0, "generate:", 2 },
	{ "workload", 'w', "NAME[:k=v,...]", 0,
	  "jobs from a generator; `stint sim --list` shows them", 2 },
	{ "procs", 'P', "P", 0, "processors (the generator's)", 2 },
	{ "load", 'L', "L", 0, "offered load (the generator's)", 2 },
	{ "jobs", 'n', "N", 0, "so many jobs (the generator's number)", 2 },
	{ "seed", KEY_SEED, "S", 0, "of all random streams (1)", 2 },
	{ "replication", KEY_REPLICATION, "R", 0,
	  "which of the seed's independent replications (0)", 2 },
	{ "output", 'o', "FILE", 0,
	  "write the trace there (- is standard "
	  "output)",
	  2 },
	{ 0 }
};

struct trace_args {
	const char *verb, *file, *workload, *output;
	bool activity, json;
	struct setup_args setup;
};

static error_t parse_trace(int key, char *arg, struct argp_state *state)
{
	struct trace_args *a = state->input;
	struct error err;
	int r;

	switch (key) {
	case KEY_ACTIVITY:
		a->activity = true;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	case 'w':
		a->workload = arg;
		return 0;
	case 'o':
		a->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (a->file)
			return ARGP_ERR_UNKNOWN;
		*(a->verb ? &a->file : &a->verb) = arg;
		return 0;
	}
	r = setup_args_parse(&a->setup, key, arg, &err);
	return r > 0 ? ARGP_ERR_UNKNOWN : command_parsed(state, r, &err);
}

static int check(const struct trace_args *a, struct error *err)
{
	bool stats = a->verb && !strcmp(a->verb, "stats");

	if (!stats && (!a->verb || strcmp(a->verb, "generate")))
		return error_set(err, -EINVAL,
				 "say what: stats FILE, or generate --workload "
				 "NAME --output FILE");
	if (stats && !a->file)
		return error_set(err, -EINVAL, "stats: which FILE?");
	if (stats && (a->workload || a->output || a->setup.procs ||
		      a->setup.jobs || a->setup.load > 0))
		return error_set(err, -EINVAL,
				 "stats makes no trace: leave out --workload, "
				 "--output, --procs, --jobs and --load");
	if (stats)
		return 0;
	if (a->file || a->activity || a->json)
		return error_set(
			err, -EINVAL,
			"generate takes no FILE, --activity or --json");
	if (!a->workload || !a->output)
		return error_set(err, -EINVAL,
				 "generate: give --workload NAME and --output "
				 "FILE");
	return workload_check(a->workload, err);
}

/* ---- stats ---- */

static void print_jobs(const struct trace_stats *s)
{
	printf("%" PRIu64 " jobs submitted in %.0f s, offered load %.4f\n",
	       s->jobs, s->span, s->load);
	printf("between submissions  %.2f s, coefficient of variation %.2f\n",
	       s->gap, s->gap_cv);
	printf("run time             %.2f s, median %.2f s, coefficient of "
	       "variation %.2f\n",
	       s->run_mean, s->run_median, s->run_cv);
	printf("processors           %.2f, of one %.1f %% of jobs\n",
	       s->size_mean, 100 * s->serial);
	printf("up to 3 min          %.1f %% of jobs\n", 100 * s->short_jobs);
	printf("from 90 min on       %.1f %% of the work\n",
	       100 * s->long_work);
	printf("estimate / run time  %.2f\n", s->estimate);
}

static void print_owners(const struct activity_stats *s)
{
	printf("%" PRIu32 " hosts over %.0f s, idle %.1f %% of the time\n",
	       s->hosts, s->span, 100 * s->idle);
	printf("%" PRIu64 " idle periods, median %.1f s, %.1f %% of up to 3 "
	       "min\n",
	       s->periods, s->median, 100 * s->brief);
	printf("%.1f %% of the idle time in those from 10 min on\n",
	       100 * s->long_share);
}

static int show_jobs(const struct trace_args *a, struct error *err)
{
	const struct swf_options how = { .keep_low = true };
	struct swf_trace trace;
	struct trace_stats s;
	int r = swf_read(a->file, &how, &trace, err);

	if (r < 0)
		return r;
	trace_stats_make(&trace, &s);
	swf_clear(&trace);
	if (a->json)
		json_line(trace_stats_json(&s), stdout);
	else
		print_jobs(&s);
	return 0;
}

static int show_owners(const struct trace_args *a, struct error *err)
{
	struct activity activity = ACTIVITY_INIT;
	struct activity_stats s;
	size_t size;
	char *text;
	int r = inflate_read(a->file, &text, &size, err);

	if (r < 0)
		return r;
	r = activity_parse(text, size, a->file, &activity, err);
	free(text);
	if (r < 0)
		return r;
	activity_stats_make(&activity, &s);
	activity_clear(&activity);
	if (a->json)
		json_line(activity_stats_json(&s), stdout);
	else
		print_owners(&s);
	return 0;
}

/* ---- generate ---- */

/* What a generator knows: the times that a schedule would tell are -1. */
static int write_jobs(struct workload *w, FILE *to, struct error *err)
{
	struct workload_job j;
	int r;

	fprintf(to, "; Version: 2.2\n; Computer: stint " STINT_VERSION
		    " (generated)\n");
	if (w->procs)
		fprintf(to,
			"; MaxNodes: %" PRIu32 "\n; MaxProcs: %" PRIu32 "\n",
			w->procs, w->procs);
	while ((r = workload_next(w, &j, err)) > 0)
		fprintf(to,
			"%" PRId64 " %.6f -1 %.6f %" PRIu32 " -1 -1 %" PRIu32
			" %.6f %" PRId64 " 1 %" PRId32 " %" PRId32 " %" PRId32
			" %" PRId32 " %" PRId32 " -1 -1\n",
			j.id, usec_to_seconds(j.submit), usec_to_seconds(j.run),
			j.size, j.size,
			j.estimate ? usec_to_seconds(j.estimate) : -1,
			j.memory ? (int64_t)(j.memory / 1024) : -1, j.user,
			j.group, j.app, j.queue, j.partition);
	return r;
}

static int generate(const struct trace_args *a, struct error *err)
{
	const struct workload_setup setup = setup_args_workload(&a->setup);
	struct output *out;
	struct workload *w;
	int r = output_open(a->output, &out, err);

	if (r < 0)
		return r;
	r = workload_create(a->workload, &setup, &w, err);
	if (!r) {
		r = write_jobs(w, output_stream(out), err);
		workload_destroy(w);
	}
	if (!r)
		return output_commit(out, err);
	output_abort(out);
	return r;
}

int cmd_trace(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse_trace,
		"stats FILE\ngenerate",
		"What a trace is like, and traces from generators.",
		0,
		0,
		0
	};
	struct trace_args a = { .setup = { .seed = 1 } };
	struct error err;
	int r;

	command_parse(&argp, argc, argv, 0, &a);
	if (check(&a, &err) < 0)
		return command_fail("trace", EXIT_USAGE, &err);
	if (!strcmp(a.verb, "generate"))
		r = generate(&a, &err);
	else
		r = a.activity ? show_owners(&a, &err) : show_jobs(&a, &err);
	if (!r && fflush(stdout))
		r = error_sys(&err, -errno, "standard output");
	return r < 0 ? command_fail("trace", EXIT_FAILED, &err) : EXIT_OK;
}
