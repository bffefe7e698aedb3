/* sim_args.c - what stint sim is asked for */
#include "cmd/sim/sim_args.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/kit/command.h"
#include "cmd/sim/cost_options.h"
#include "cmd/sim/own_policy.h"
#include "cmd/sim/swf_words.h"
#include "core/units.h"
#include "policy/policies.h"
#include "sim/report/plot.h"
#include "sim/workload/workload.h"

enum {
	KEY_SWF = 256,
	KEY_OUT_SWF,
	KEY_OUT_OWNERS,
	KEY_SERIES,
	KEY_PLOT,
	KEY_GANTT,
	KEY_JSON,
	KEY_EXTRA,
	KEY_DROP_CANCELLED,
	KEY_EXACT,
	KEY_KILL,
	KEY_POOL,
	KEY_LIST,
	KEY_EVENTS,
	KEY_REPLAY,
	KEY_FOLLOW,
	KEY_WINDOW,
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
	{ "events", KEY_EVENTS, "FILE", 0,
	  "host failures, drains, cancellations and reservations, a line each "
	  "(TIME down HOST, ...), or a Failure Trace Archive event_trace",
	  0 },
	{ "load", 'L', "L", 0,
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
	{ "window", KEY_WINDOW, "FROM:TO", 0,
	  "of which time --series, --plot and --gantt are, since the first "
	  "event (all)",
	  0 },
	{ "out-swf", KEY_OUT_SWF, "FILE", 0, "write the schedule as SWF", 1 },
	{ "out-owners", KEY_OUT_OWNERS, "FILE", 0,
	  "with --activity: write a line per host, with what its owner bore, CSV",
	  1 },
	{ "json", KEY_JSON, 0, 0, "print the summary as JSON", 1 },
	{ "extra-columns", KEY_EXTRA, "refuse|ignore", 0,
	  "what to do with an SWF file of more than 18 columns (refuse)", 2 },
	{ "drop-cancelled", KEY_DROP_CANCELLED, 0, 0,
	  "leave out jobs of status 5 even if they ran", 2 },
	{ "follow", KEY_FOLLOW, 0, 0,
	  "jobs of a trace that come after another (SWF fields 17 and 18) are "
	  "submitted when that one is over here, and their user has thought",
	  2 },
	{ "exact-estimates", KEY_EXACT, 0, 0,
	  "policies see the true run times as estimates", 2 },
	{ "kill-at-estimate", KEY_KILL, 0, 0,
	  "end jobs that outrun their estimate (takes the trace's word for "
	  "both)",
	  2 },
	{ "pool", KEY_POOL, 0, 0,
	  "jobs are pools of tasks: their ranks' rates add up, instead of the "
	  "slowest setting the pace",
	  3 },
	{ "list", KEY_LIST, 0, 0, "list the workload generators", 4 },
	{ 0 }
};

/* Where the options that are names and files go; NULL: not one of them. */
static const char **text_option(struct sim_args *a, int key)
{
	switch (key) {
	case 'p':
		return &a->policy;
	case KEY_SWF:
		return &a->swf;
	case 'w':
		return &a->workload;
	case KEY_EVENTS:
		return &a->events;
	case KEY_REPLAY:
		return &a->replay;
	case 'o':
		return &a->out;
	case KEY_OUT_SWF:
		return &a->out_swf;
	case KEY_OUT_OWNERS:
		return &a->out_owners;
	case KEY_SERIES:
		return &a->figures.series_path;
	case KEY_PLOT:
		return &a->figures.plot_path;
	case KEY_GANTT:
		return &a->figures.gantt_path;
	}
	return NULL;
}

static error_t parse_sim(int key, char *arg, struct argp_state *state)
{
	struct sim_args *a = state->input;
	const char **text = text_option(a, key);
	struct error err;
	int r;

	if (text) {
		*text = arg;
		return 0;
	}
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->config.costs;
		state->child_inputs[1] = &a->owners;
		state->child_inputs[2] = &a->machine;
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
		a->config.exact_estimates = a->trace.exact = true;
		break;
	case KEY_FOLLOW:
		a->trace.follow = true;
		break;
	case KEY_KILL:
		a->config.kill_at_estimate = a->trace.keep_low = true;
		break;
	case KEY_POOL:
		a->config.pool = true;
		break;
	case KEY_WINDOW:
		return command_parsed(
			state, sim_figures_window(&a->figures, arg, &err),
			&err);
	case KEY_EXTRA:
		return command_parsed(
			state, swf_words_extra(arg, &a->trace.extra, &err),
			&err);
	default:
		r = setup_args_parse(&a->setup, key, arg, &err);
		return r > 0 ? ARGP_ERR_UNKNOWN
			     : command_parsed(state, r, &err);
	}
	return 0;
}

enum { OUTPUTS = 6 };

/* The files to write; NULL: not asked for. */
static void outputs_of(const struct sim_args *a, const char *ret[OUTPUTS])
{
	const char *const out[OUTPUTS] = { a->out,
					   a->out_swf,
					   a->out_owners,
					   a->figures.series_path,
					   a->figures.plot_path,
					   a->figures.gantt_path };

	memcpy(ret, out, sizeof(out));
}

unsigned sim_args_to_stdout(const struct sim_args *a)
{
	const char *out[OUTPUTS];
	unsigned n = 0;

	outputs_of(a, out);
	for (size_t i = 0; i < OUTPUTS; i++)
		n += out[i] && !strcmp(out[i], "-");
	return n;
}

/* A file that is written twice, or is the input, would be lost. */
static int check_files(const struct sim_args *a, struct error *err)
{
	const char *out[OUTPUTS];
	const char *const in[] = { a->swf, a->replay, a->events,
				   a->owners.path };

	outputs_of(a, out);
	for (size_t i = 0; i < OUTPUTS; i++) {
		bool twice = false;

		if (!out[i] || !strcmp(out[i], "-") ||
		    !strncmp(out[i], "/dev/", strlen("/dev/")))
			continue;
		for (size_t j = i + 1; j < OUTPUTS; j++)
			twice |= out[j] && !strcmp(out[i], out[j]);
		if (twice)
			return error_set(err, -EINVAL,
					 "'%s' is to be written twice", out[i]);
		for (size_t j = 0; j < sizeof(in) / sizeof(*in); j++)
			if (in[j] && !strcmp(out[i], in[j]))
				return error_set(err, -EINVAL,
						 "'%s' is to be read and "
						 "written over",
						 in[j]);
	}
	return sim_args_to_stdout(a) < 2
		       ? 0
		       : error_set(err, -EINVAL,
				   "standard output (-) can be only one of the "
				   "files");
}

static bool writes_figures(const struct sim_figures *f)
{
	return f->series_path || f->plot_path || f->gantt_path;
}

/* Options that do not go together. */
static int check_choice(const struct sim_args *a, struct error *err)
{
	int sources = !!a->swf + !!a->workload + !!a->replay;

	if (!a->policy && !a->replay)
		return error_set(err, -EINVAL,
				 "give --policy NAME; see `stint sim --help`");
	if (sources != 1)
		return error_set(err, -EINVAL,
				 "give either --swf FILE, --workload NAME or "
				 "--replay FILE; see `stint sim --help`");
	if (a->replay && (a->machine.hosts || a->setup.procs || a->events ||
			  a->setup.jobs || a->setup.load > 0))
		return error_set(
			err, -EINVAL,
			"--hosts, --procs, --events, --jobs and --load "
			"do not go with --replay: the record has a machine, "
			"events and jobs of its own");
	if ((a->figures.window.from || a->figures.window.to) &&
	    !writes_figures(&a->figures))
		return error_set(
			err, -EINVAL,
			"--window is for --series, --plot and --gantt");
	if (a->trace.follow &&
	    (!a->swf || a->setup.load > 0 || a->machine.speedup))
		return setup_args_no_follow(err);
	if (!a->swf && (a->trace.drop_cancelled || a->trace.extra))
		return error_set(err, -EINVAL,
				 "--drop-cancelled and --extra-columns are for "
				 "--swf");
	if (a->out_owners && !a->owners.path)
		return error_set(err, -EINVAL,
				 "--out-owners is for --activity");
	if (!a->policy && (a->out || a->out_swf || a->out_owners ||
			   writes_figures(&a->figures)))
		return error_set(err, -EINVAL,
				 "a comparison writes no such file: give "
				 "--policy NAME to simulate the recorded jobs");
	return 0;
}

static int check_pictures(const struct sim_figures *f, struct error *err)
{
	int r = f->plot_path ? plot_check_name("--plot", f->plot_path, err) : 0;

	if (!r && f->gantt_path)
		r = plot_check_name("--gantt", f->gantt_path, err);
	return r;
}

static int check_sim(const struct sim_args *a, struct error *err)
{
	int r = check_choice(a, err);

	if (!r && a->policy)
		r = own_policy_load(a->policy, err);
	if (!r && a->policy)
		r = policy_check(a->policy, err);
	if (!r && a->workload)
		r = workload_check(a->workload, err);
	if (!r)
		r = machine_args_check(&a->machine, err);
	if (!r)
		r = owner_args_check(&a->owners, err);
	if (!r)
		r = check_files(a, err);
	return r ? r : check_pictures(&a->figures, err);
}

int sim_args_parse(int argc, char **argv, struct sim_args *ret,
		   struct error *err)
{
	const struct argp_child children[] = {
		cost_children[0], owner_children[0], machine_children[0], { 0 }
	};
	const struct argp argp = {
		options, parse_sim, NULL,
		"Run a scheduling policy on a workload in simulated time, and "
		"say what users would have felt.",
		children
	};
	int r;

	*ret = (struct sim_args){ .setup = { .seed = 1 } };
	owner_args_init(&ret->owners, &ret->config);
	command_parse(&argp, argc, argv, 0, ret);
	r = ret->list ? 0 : check_sim(ret, err);
	if (r < 0)
		owner_args_clear(&ret->owners);
	return r;
}
