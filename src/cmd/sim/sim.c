/*
 * sim.c - stint sim: run a policy on a workload and say what it did
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/kit/command.h"
#include "cmd/sim/sim_args.h"
#include "cmd/sim/sim_replay.h"
#include "core/json.h"
#include "core/xalloc.h"
#include "sim/report/output.h"
#include "sim/report/summary.h"
#include "sim/workload/attach.h"
#include "sim/workload/machine.h"
#include "sim/workload/script.h"
#include "sim/workload/workload.h"

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
	int64_t id;
	size_t same = swf_same_ids(t, &id);

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
	if (t->follow)
		fprintf(stderr,
			"%s: %zu jobs say which job they come after (fields 17 "
			"and 18); they come when they did, all the same\n",
			path, t->follow);
	if (same)
		fprintf(stderr,
			"%s: %zu jobs have the number of another (the first is "
			"%" PRId64 "): results and events cannot tell them "
			"apart\n",
			path, same, id);
}

static int open_swf(struct sim_args *a, struct swf_trace *ret_kept,
		    struct workload **ret, struct error *err)
{
	struct swf_trace t;
	int r;

	a->trace.procs = (uint32_t)a->procs;
	a->trace.nr_jobs = (uint64_t)a->jobs;
	r = swf_read(a->swf, &a->trace, &t, err);
	if (r < 0)
		return r;
	tell_dropped(a->swf, &t);
	if (a->out_swf) {
		*ret_kept = t;
		ret_kept->job = xmalloc(t.nr * sizeof(*t.job));
		memcpy(ret_kept->job, t.job, t.nr * sizeof(*t.job));
	}
	*ret = swf_workload(&t, a->load);
	return 0;
}

static int open_replay(struct sim_args *a, struct workload **ret,
		       struct error *err)
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

static int open_workload(struct sim_args *a, struct swf_trace *ret_kept,
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
static int open_machine(struct sim_args *a, const struct workload *w,
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

static const char *source_kind(const struct sim_args *a)
{
	return a->swf ? "swf" : a->replay ? "replay" : "workload";
}

static const char *source_name(const struct sim_args *a)
{
	return a->swf ? a->swf : a->replay ? a->replay : a->workload;
}

/* Everything that determines the run, for whoever repeats it. */
static char *describe(const struct sim_args *a)
{
	return xasprintf("policy %s, %s %s, seed %" PRId64
			 ", replication %" PRId64,
			 a->policy, a->swf ? "trace" : source_kind(a),
			 source_name(a), a->seed, a->replication);
}

/* For figures: short. */
static char *title(const struct sim_args *a)
{
	const char *name = source_name(a);
	const char *slash = a->workload ? NULL : strrchr(name, '/');

	return xasprintf("%s on %s", a->policy, slash ? slash + 1 : name);
}

static void text_field(const char *name, const char *text, FILE *to)
{
	json_t *j = json_text(text);

	fprintf(to, "\"%s\":", name);
	json_dumpf(j, to, JSON_ENCODE_ANY);
	fputc(',', to);
	json_decref(j);
}

static const char *truth(bool yes)
{
	return yes ? "true" : "false";
}

/* The rest of what determines the run. */
static void json_options(const struct sim_args *a, FILE *to)
{
	const struct sim_config *c = &a->config;

	if (a->load > 0)
		fprintf(to, "\"load\":%.17g,", a->load);
	fprintf(to, "\"seed\":%" PRId64 ",\"replication\":%" PRId64 ",",
		a->seed, a->replication);
	if (a->jobs)
		fprintf(to, "\"first_jobs\":%" PRId64 ",", a->jobs);
	if (a->hosts)
		text_field("hosts", a->hosts, to);
	if (a->speedup)
		text_field("speedup", a->speedup, to);
	if (a->events)
		text_field("events_file", a->events, to);
	fprintf(to,
		"\"resize_cost\":%g,\"migrate_cost\":%g,\"rank_cost\":%g,"
		"\"pool\":%s,\"kill_at_estimate\":%s,"
		"\"exact_estimates\":%s,\"drop_cancelled\":%s,",
		(double)c->costs.resize / USEC_PER_SEC,
		(double)c->costs.migrate / USEC_PER_SEC,
		(double)c->costs.migrate_rank / USEC_PER_SEC, truth(c->pool),
		truth(c->kill_at_estimate), truth(a->trace.exact),
		truth(a->trace.drop_cancelled));
}

static void print_json(const struct sim_args *a, const struct summary *s)
{
	char *head = NULL;
	size_t size;
	FILE *f = open_memstream(&head, &size);

	if (!f)
		abort(); /* out of memory */
	text_field("version", STINT_VERSION, f);
	text_field("policy", a->policy, f);
	text_field(source_kind(a), source_name(a), f);
	json_options(a, f);
	fclose(f);
	summary_json(s, head, stdout);
	free(head);
}

/* Where the run's results go: opened before it, so that a wrong path is
 * known at once. */
struct files {
	struct output *csv, *swf;
};

static int open_files(const struct sim_args *a, struct files *f,
		      struct error *err)
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

static int write_files(struct sim_args *a, const struct sim_result *result,
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

static int report(struct sim_args *a, const struct sim_result *result,
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

static int simulate(struct sim_args *a, struct error *err)
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
	if (!r && result.nr_rejected)
		fprintf(stderr,
			"stint sim: rejected %" PRIu64
			" jobs that could never start, first %s\n",
			result.nr_rejected, result.why_rejected);
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

int cmd_sim(int argc, char **argv)
{
	struct sim_args a;
	struct error err;
	int r = sim_args_parse(argc, argv, &a, &err);

	if (r < 0)
		return command_fail("sim", EXIT_USAGE, &err);
	if (a.list)
		return list_workloads();
	if (!a.policy)
		return sim_replay(a.replay, a.json);
	r = simulate(&a, &err);
	if (r < 0)
		return command_fail("sim", EXIT_FAILED, &err);
	return EXIT_OK;
}
