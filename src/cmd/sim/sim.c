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
#include "cmd/sim/swf_words.h"
#include "core/json.h"
#include "core/xalloc.h"
#include "sim/report/output.h"
#include "sim/report/owned.h"
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
	printf("--paging: what hosts' memory is too little for costs (Chen 2002 "
	       "section 3)\n");
	params_explain(paging_params, stdout);
	return EXIT_OK;
}

static int open_swf(struct sim_args *a, struct swf_trace *ret_kept,
		    struct workload **ret, struct error *err)
{
	struct swf_trace t;
	int r;

	a->trace.procs = (uint32_t)a->setup.procs;
	a->trace.nr_jobs = (uint64_t)a->setup.jobs;
	r = swf_read(a->swf, &a->trace, &t, err);
	if (r < 0)
		return r;
	swf_words_dropped(a->swf, &t);
	swf_words_changed(a->swf, &t);
	if (a->out_swf) {
		*ret_kept = t;
		ret_kept->link = NULL;
		ret_kept->job = xmalloc(t.nr * sizeof(*t.job));
		memcpy(ret_kept->job, t.job, t.nr * sizeof(*t.job));
	}
	*ret = swf_workload(&t, a->setup.load);
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
	const struct workload_setup setup = setup_args_workload(&a->setup);

	int r;

	if (a->replay)
		r = open_replay(a, ret, err);
	else
		r = a->swf ? open_swf(a, ret_kept, ret, err)
			   : workload_create(a->workload, &setup, ret, err);
	if (!r && a->machine.speedup)
		r = attach_speedup(ret, a->machine.speedup,
				   (uint64_t)a->setup.seed,
				   (uint64_t)a->setup.replication, err);
	return r;
}

/* The hosts asked for, or those the workload comes with. */
static int open_machine(struct sim_args *a, const struct workload *w,
			struct host **ret, struct error *err)
{
	const char *text = a->machine.hosts ? a->machine.hosts : w->hosts;
	int r;

	if (!text)
		return 0;
	r = machine_parse(text, ret, &a->config.nr_hosts, err);
	if (!r)
		a->config.hosts = *ret;
	return r;
}

/* How its hosts page, as asked for or as the workload says. */
static int open_paging(struct sim_args *a, const struct workload *w,
		       struct error *err)
{
	const char *text = a->machine.paging ? a->machine.paging : w->paging;
	int r = text ? paging_parse(text, &a->model, err) : 0;

	if (!r && text)
		a->config.paging = &a->model;
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
static char *describe_run(const struct sim_args *a)
{
	return xasprintf("policy %s, %s %s, seed %" PRId64
			 ", replication %" PRId64,
			 a->policy, a->swf ? "trace" : source_kind(a),
			 source_name(a), a->setup.seed, a->setup.replication);
}

/* For figures: short. */
static char *title(const struct sim_args *a)
{
	const char *name = source_name(a);
	const char *slash = a->workload ? NULL : strrchr(name, '/');

	return xasprintf("%s on %s", a->policy, slash ? slash + 1 : name);
}

/* A text that was given on the command line; what was not is not told. */
static void add_text(json_t *to, const char *name, const char *text)
{
	if (text)
		json_object_set_new(to, name, json_text(text));
}

/* What determines the run. */
static json_t *json_options(const struct sim_args *a)
{
	const struct sim_config *c = &a->config;
	json_t *j = json_pack("{s:s, s:o, s:o}", "version", STINT_VERSION,
			      "policy", json_text(a->policy), source_kind(a),
			      json_text(source_name(a)));

	if (a->setup.load > 0)
		json_object_set_new(j, "load", json_number(a->setup.load));
	json_object_set_new(j, "seed", json_integer(a->setup.seed));
	json_object_set_new(j, "replication",
			    json_integer(a->setup.replication));
	if (a->setup.jobs)
		json_object_set_new(j, "first_jobs",
				    json_integer(a->setup.jobs));
	add_text(j, "hosts", a->machine.hosts);
	add_text(j, "speedup", a->machine.speedup);
	add_text(j, "paging", a->machine.paging);
	add_text(j, "events_file", a->events);
	owner_args_json(&a->owners, j);
	json_object_update_new(
		j,
		json_pack("{s:f, s:f, s:f, s:b, s:b, s:b, s:b}", "resize_cost",
			  usec_to_seconds(c->costs.resize), "migrate_cost",
			  usec_to_seconds(c->costs.migrate), "rank_cost",
			  usec_to_seconds(c->costs.migrate_rank), "pool",
			  c->pool, "kill_at_estimate", c->kill_at_estimate,
			  "exact_estimates", a->trace.exact, "drop_cancelled",
			  a->trace.drop_cancelled));
	if (a->trace.follow)
		json_object_set_new(j, "follow", json_true());
	return j;
}

static void print_run_json(const struct sim_args *a,
			   const struct sim_result *result,
			   const struct summary *s)
{
	json_t *j = json_options(a);

	json_object_update_new(j, summary_json(s));
	owned_json(result, j);
	json_line(j, stdout);
}

/* Where the run's results go: opened before it, so that a wrong path is
 * known at once. */
struct files {
	struct output *csv, *swf, *owners;
};

static int open_files(const struct sim_args *a, struct files *f,
		      struct error *err)
{
	int r = 0;

	if (a->out)
		r = output_open(a->out, &f->csv, err);
	if (!r && a->out_swf)
		r = output_open(a->out_swf, &f->swf, err);
	if (!r && a->out_owners)
		r = output_open(a->out_owners, &f->owners, err);
	return r;
}

static void abort_files(struct files *f)
{
	output_abort(f->csv);
	output_abort(f->swf);
	output_abort(f->owners);
	*f = (struct files){ 0 };
}

/* The jobs of the trace in the order in which they came. */
static void arrange(const struct sim_result *result, struct swf_trace *kept)
{
	int64_t *id = xcalloc(result->nr, sizeof(*id));

	for (size_t i = 0; i < result->nr; i++)
		id[i] = result->record[i].id;
	swf_arrange(kept, id);
	free(id);
}

static int write_files(struct sim_args *a, const struct sim_result *result,
		       struct swf_trace *kept, struct files *f,
		       struct error *err)
{
	char *note = describe_run(a), *name = title(a);
	const struct sim_figures_run run = { name, note, a->setup.seed };
	int r;

	if (f->swf && a->trace.follow)
		arrange(result, kept);

	if (f->csv)
		output_jobs_csv(f->csv, result);
	if (f->swf)
		output_jobs_swf(f->swf, result, kept->job ? kept : NULL, note);
	if (f->owners)
		owned_csv(result, output_stream(f->owners));
	r = sim_figures_commit(&a->figures, &run, err);
	free(name);
	free(note);
	r = output_end(&f->csv, r, err);
	r = output_end(&f->swf, r, err);
	return output_end(&f->owners, r, err);
}

static void print_summary(const struct sim_args *a,
			  const struct sim_result *result,
			  const struct summary *s)
{
	char *note = describe_run(a);

	summary_print(s, stdout);
	owned_print(result, stdout);
	printf("\n%s; stint " STINT_VERSION "\n", note);
	free(note);
}

static int report(struct sim_args *a, const struct sim_result *result,
		  struct swf_trace *kept, struct files *f, struct error *err)
{
	struct summary s;
	int r = write_files(a, result, kept, f, err);

	if (r < 0)
		return r;
	/* A table would spoil what goes to standard output. */
	if (sim_args_to_stdout(a))
		return 0;
	summary_make(result, &s);
	if (a->json)
		print_run_json(a, result, &s);
	else
		print_summary(a, result, &s);
	if (fflush(stdout))
		return error_sys(err, -errno, "standard output");
	return 0;
}

/* Jobs that could never start are told; a run of nothing else says nothing. */
static int check_rejected(const struct sim_result *result, struct error *err)
{
	if (!result->nr_rejected)
		return 0;
	if (result->nr_rejected == result->nr)
		return error_set(err, -EINVAL,
				 "none of the %zu jobs could ever start: %s",
				 result->nr, result->why_rejected);
	fprintf(stderr,
		"stint sim: rejected %" PRIu64
		" jobs that could never start, first %s\n",
		result->nr_rejected, result->why_rejected);
	return 0;
}

/* Simulate the workload, and tell what came of it. */
static int run_and_report(struct sim_args *a, struct workload *w,
			  struct swf_trace *kept, struct files *files,
			  struct error *err)
{
	struct sim_result result;
	int r;

	a->config.workload = w;
	a->config.policy = a->policy;
	a->config.procs = (uint32_t)a->setup.procs;
	a->config.seed = (uint64_t)a->setup.seed;
	if (isatty(STDERR_FILENO)) {
		a->config.progress = show_progress;
		a->config.progress_data = w;
	}
	r = sim_run(&a->config, &result, err);
	if (a->config.progress && w->nr_jobs > 16384)
		fputs("\r\033[K", stderr);
	if (r < 0)
		return r;
	r = check_rejected(&result, err);
	if (!r)
		r = report(a, &result, kept, files, err);
	sim_result_clear(&result);
	return r;
}

static int simulate(struct sim_args *a, struct error *err)
{
	struct swf_trace kept = { 0 };
	struct files files = { 0 };
	struct workload *w = NULL;
	struct host *hosts = NULL;
	struct sim_script script = { 0 };
	int r = open_files(a, &files, err);

	if (!r)
		r = sim_figures_open(&a->figures, &a->config.observer, err);
	if (!r)
		r = open_workload(a, &kept, &w, err);
	if (!r)
		r = open_machine(a, w, &hosts, err);
	if (!r)
		r = open_paging(a, w, err);
	if (!r && a->events) {
		r = script_read(a->events, &script, err);
		a->config.script = &script;
	}
	if (!r)
		r = owner_args_open(&a->owners, err);
	if (!r)
		r = run_and_report(a, w, &kept, &files, err);
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
	owner_args_clear(&a.owners);
	if (r < 0)
		return command_fail("sim", EXIT_FAILED, &err);
	return EXIT_OK;
}
