/*
 * trace.c - stint trace: look at workload and activity traces, make and convert them
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/kit/command.h"
#include "cmd/sim/setup_args.h"
#include "cmd/sim/swf_words.h"
#include "cmd/sim/trace_import.h"
#include "core/json.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "model/activity.h"
#include "sim/report/output.h"
#include "sim/report/trace_stats.h"
#include "sim/reproduce/institute.h"
#include "sim/workload/inflate.h"
#include "sim/workload/owners_law.h"
#include "sim/workload/swf.h"
#include "sim/workload/workload.h"

enum {
	KEY_ACTIVITY = 256,
	KEY_FROM,
	KEY_EVERY,
	KEY_OWNERS,
	KEY_DAYS,
	KEY_EXTRA,
	KEY_ANONYMOUS
};

static const struct argp_option options[] = {
	{ "activity", KEY_ACTIVITY, 0, 0,
	  "of stats and generate: it is what owners do (stint-activity(5)), not "
	  "jobs",
	  0 },
	{ 0, 0, 0, 0, "stats:", 1 },
	{ "json", 'j', 0, 0, "print JSON", 1 },
	{ "extra-columns", KEY_EXTRA, "refuse|ignore", 0,
	  "what to do with an SWF file of more than 18 columns (refuse)", 1 },
	{ 0, 0, 0, 0, "generate:", 2 },
	{ "workload", 'w', "NAME[:k=v,...]", 0,
	  "jobs from a generator; `stint sim --list` shows them", 2 },
	{ "procs", 'P', "P", 0,
	  "processors (the generator's); also of the machine sacct tells of; "
	  "with --activity hosts",
	  2 },
	{ "load", 'L', "L", 0, "offered load (the generator's)", 2 },
	{ "jobs", 'n', "N", 0, "so many jobs (the generator's number)", 2 },
	{ "seed", KEY_SEED, "S", 0, "of all random streams (1)", 2 },
	{ "replication", KEY_REPLICATION, "R", 0,
	  "which of the seed's independent replications (0)", 2 },
	{ "owners", KEY_OWNERS, "k=v,...", 0,
	  "with --activity: how they come and go, as of `stint size`; or "
	  "institute: the 28 hosts and the people of Schnor 1997",
	  2 },
	{ "days", KEY_DAYS, "N", 0, "with --activity: so many days (7)", 2 },
	{ "output", 'o', "FILE", 0,
	  "write the trace there (- is standard "
	  "output); also of import",
	  2 },
	{ 0, 0, 0, 0, "import:", 3 },
	{ "from", KEY_FROM, "KIND", 0,
	  "of FILE: sacct, what `sacct -P` printed; fta, an event_trace of the "
	  "Failure Trace Archive; record, what `stint record` wrote; planetlab, "
	  "FILEs of CPU percentages, one a host",
	  3 },
	{ "anonymous", KEY_ANONYMOUS, 0, 0,
	  "hosts of a record are called h1, h2, ...", 3 },
	{ "every", KEY_EVERY, "TIME", 0, "between two percentages (5min)", 3 },
	{ 0 }
};

struct trace_args {
	const char *verb, *workload, *output, *owners;
	int64_t days;		    /* 0: not given */
	struct trace_import import; /* file and nr are all verbs' */
	size_t cap;
	bool activity, json, extra_given;
	enum swf_extra extra;
	struct setup_args setup;
};

static void add_file(struct trace_args *a, char *path)
{
	array_room(a->import.file, a->import.nr, &a->cap);
	a->import.file[a->import.nr++] = path;
}

static error_t parse_trace(int key, char *arg, struct argp_state *state)
{
	struct trace_args *a = state->input;
	struct error err;
	uint64_t every;
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
	case KEY_OWNERS:
		a->owners = arg;
		return 0;
	case KEY_DAYS:
		r = parse_int(arg, 1, 3650, "--days", &a->days, &err);
		return command_parsed(state, r, &err);
	case KEY_EXTRA:
		a->extra_given = true;
		return command_parsed(
			state, swf_words_extra(arg, &a->extra, &err), &err);
	case KEY_FROM:
		a->import.from = arg;
		return 0;
	case KEY_ANONYMOUS:
		a->import.anonymous = true;
		return 0;
	case KEY_EVERY:
		r = command_span(arg, "--every", &every, &err);
		a->import.every = r < 0 ? 0 : (usec_t)every;
		return command_parsed(state, r, &err);
	case ARGP_KEY_ARG:
		if (a->verb)
			add_file(a, arg);
		else
			a->verb = arg;
		return 0;
	}
	r = setup_args_parse(&a->setup, key, arg, &err);
	return r > 0 ? ARGP_ERR_UNKNOWN : command_parsed(state, r, &err);
}

static bool has_setup(const struct trace_args *a)
{
	return a->workload || a->setup.jobs || a->setup.load > 0;
}

static int check_stats(const struct trace_args *a, struct error *err)
{
	if (a->import.nr != 1)
		return error_set(err, -EINVAL,
				 a->import.nr ? "stats: one FILE at a time"
					      : "stats: which FILE?");
	if (a->extra_given && a->activity)
		return error_set(err, -EINVAL,
				 "--extra-columns is for jobs, not for "
				 "--activity");
	if (has_setup(a) || a->output || a->setup.procs)
		return error_set(err, -EINVAL,
				 "stats makes no trace: leave out --workload, "
				 "--output, --procs, --jobs and --load");
	return 0;
}

static bool of_institute(const struct trace_args *a)
{
	return a->owners && !strcmp(a->owners, "institute");
}

static int check_owners(const struct trace_args *a, struct error *err)
{
	struct owners_law law;

	if (has_setup(a))
		return error_set(err, -EINVAL,
				 "generate --activity makes no jobs: leave out "
				 "--workload, --jobs and --load");
	if (of_institute(a) && a->output && !a->setup.procs)
		return 0;
	if (of_institute(a))
		return error_set(err, -EINVAL,
				 "generate --activity --owners institute: give "
				 "--output FILE, and no --procs");
	if (!a->setup.procs || !a->output)
		return error_set(err, -EINVAL,
				 "generate --activity: give --procs HOSTS and "
				 "--output FILE");
	if (a->setup.procs > ACTIVITY_HOSTS_MAX)
		return error_set(err, -EINVAL,
				 "generate --activity: at most %d hosts",
				 ACTIVITY_HOSTS_MAX);
	return owners_law_parse(a->owners, &law, err);
}

static int check_generate(const struct trace_args *a, struct error *err)
{
	if (a->import.nr || a->json)
		return error_set(err, -EINVAL,
				 "generate takes no FILE or --json");
	if (a->activity)
		return check_owners(a, err);
	if (!a->workload || !a->output)
		return error_set(err, -EINVAL,
				 "generate: give --workload NAME and --output "
				 "FILE");
	return workload_check(a->workload, err);
}

static int check_import(struct trace_args *a, struct error *err)
{
	if (has_setup(a) || a->activity || a->json)
		return error_set(err, -EINVAL,
				 "import makes no jobs of its own: leave out "
				 "--workload, --jobs, --load, --activity and "
				 "--json");
	a->import.output = a->output;
	a->import.procs = (uint32_t)a->setup.procs;
	return trace_import_check(&a->import, err);
}

static int check_args(struct trace_args *a, struct error *err)
{
	bool import = a->verb && !strcmp(a->verb, "import");

	if (a->extra_given && a->verb && strcmp(a->verb, "stats") != 0)
		return error_set(err, -EINVAL, "--extra-columns is for stats");
	if (!import &&
	    (a->import.from || a->import.every || a->import.anonymous))
		return error_set(
			err, -EINVAL,
			"--from, --every and --anonymous are for import");
	if ((a->owners || a->days) &&
	    !(a->activity && a->verb && !strcmp(a->verb, "generate")))
		return error_set(err, -EINVAL,
				 "--owners and --days are for generate "
				 "--activity");
	if (import)
		return check_import(a, err);
	if (a->verb && !strcmp(a->verb, "stats"))
		return check_stats(a, err);
	if (a->verb && !strcmp(a->verb, "generate"))
		return check_generate(a, err);
	return error_set(err, -EINVAL,
			 "say what: stats FILE, generate --workload NAME "
			 "--output FILE, or import --from KIND FILE --output "
			 "FILE");
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
	if (isnan(s->estimate))
		puts("estimate / run time  no job has an estimate");
	else
		printf("estimate / run time  %.2f\n", s->estimate);
	puts("\nstint " STINT_VERSION);
}

static void print_shares(const char *when, const struct activity_shares *s)
{
	if (!isnan(s->idle))
		printf("%-20s idle %5.1f %%, for a minute %5.1f %%, for 15 "
		       "minutes %5.1f %%\n",
		       when, 100 * s->idle, 100 * s->idle_1, 100 * s->idle_15);
}

static void print_hours(const struct activity_stats *s)
{
	char when[16];

	print_shares("Mon-Fri, 9 to 19 h", &s->by_day);
	for (int h = 0; h < 24; h++) {
		snprintf(when, sizeof(when), "%2d to %2d h", h, h + 1);
		print_shares(when, &s->hour[h]);
	}
}

static void print_owners(const struct activity_stats *s)
{
	printf("%" PRIu32 " hosts over %.0f s, idle %.1f %% of the time\n",
	       s->hosts, s->span, 100 * s->idle);
	printf("for a minute at least %.1f %%, for 15 minutes %.1f %%\n",
	       100 * s->idle_1, 100 * s->idle_15);
	printf("%" PRIu64 " idle periods, median %.1f s, %.1f %% of up to 3 "
	       "min\n",
	       s->periods, s->median, 100 * s->brief);
	printf("%.1f %% of the idle time in those from 10 min on\n\n",
	       100 * s->long_share);
	print_hours(s);
	puts("\nstint " STINT_VERSION);
}

static void print_stats_json(json_t *stats)
{
	json_object_set_new(stats, "version", json_string(STINT_VERSION));
	json_line(stats, stdout);
}

static int show_jobs(const struct trace_args *a, struct error *err)
{
	const struct swf_options how = { .keep_low = true,
					 .keep_unknown = true,
					 .extra = a->extra };
	struct swf_trace trace;
	struct trace_stats s;
	int r = swf_read(a->import.file[0], &how, &trace, err);

	if (r < 0)
		return r;
	swf_words_dropped(a->import.file[0], &trace);
	trace_stats_make(&trace, &s);
	swf_clear(&trace);
	if (a->json)
		print_stats_json(trace_stats_json(&s));
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
	int r = inflate_read(a->import.file[0], &text, &size, err);

	if (r < 0)
		return r;
	r = activity_parse(text, size, a->import.file[0], &activity, err);
	free(text);
	if (r < 0)
		return r;
	if (!activity.nr_hosts)
		return error_set(err, -EINVAL, "%s: no host in it",
				 a->import.file[0]);
	activity_stats_make(&activity, &s);
	activity_clear(&activity);
	if (a->json)
		print_stats_json(activity_stats_json(&s));
	else
		print_owners(&s);
	return 0;
}

/* ---- generate ---- */

/*
 * What a generator knows: the times that a schedule would tell are -1, and so is memory, which
 * those that know of it have in phases.
 */
static int write_jobs(const struct trace_args *a, struct workload *w, FILE *to,
		      struct error *err)
{
	struct workload_job j;
	int r;

	fprintf(to,
		"; Version: 2.2\n; Computer: stint " STINT_VERSION
		" (generated)\n; Note: workload %s, seed %" PRId64
		", replication %" PRId64 "\n",
		a->workload, a->setup.seed, a->setup.replication);
	if (w->procs)
		fprintf(to,
			"; MaxNodes: %" PRIu32 "\n; MaxProcs: %" PRIu32 "\n",
			w->procs, w->procs);
	while ((r = workload_next(w, &j, err)) > 0)
		fprintf(to,
			"%" PRId64 " %.6f -1 %.6f %" PRIu32 " -1 -1 %" PRIu32
			" %.6f -1 1 %" PRId32 " %" PRId32 " %" PRId32
			" %" PRId32 " %" PRId32 " -1 -1\n",
			j.id, usec_to_seconds(j.submit), usec_to_seconds(j.run),
			j.size, j.size,
			j.estimate ? usec_to_seconds(j.estimate) : -1, j.user,
			j.group, j.app, j.queue, j.partition);
	return r;
}

static int generate_jobs(const struct trace_args *a, FILE *to,
			 struct error *err)
{
	const struct workload_setup setup = setup_args_workload(&a->setup);
	struct workload *w;
	int r = workload_create(a->workload, &setup, &w, err);

	if (r < 0)
		return r;
	r = write_jobs(a, w, to, err);
	workload_destroy(w);
	return r;
}

static int draw_owners(const struct trace_args *a, struct activity *ret,
		       struct error *err)
{
	uint32_t days = a->days ? (uint32_t)a->days : 7;
	uint64_t seed = (uint64_t)a->setup.seed;
	uint64_t replication = (uint64_t)a->setup.replication;
	struct owners_law law;
	int r;

	if (of_institute(a)) {
		institute_draw(&institute_law, days, seed, replication, ret);
		return 0;
	}
	r = owners_law_parse(a->owners, &law, err);
	if (!r)
		owners_law_draw(&law, (uint32_t)a->setup.procs, days, seed,
				replication, ret);
	return r;
}

static int generate_owners(const struct trace_args *a, FILE *to,
			   struct error *err)
{
	struct activity activity;
	int r = draw_owners(a, &activity, err);

	if (r < 0)
		return r;
	activity_write(&activity, false, to);
	activity_clear(&activity);
	fprintf(to,
		"# stint " STINT_VERSION
		" (generated), owners %s, seed %" PRId64
		", replication %" PRId64 "\n",
		a->owners ? a->owners : "as they are without --owners",
		a->setup.seed, a->setup.replication);
	return 0;
}

static int generate(const struct trace_args *a, struct error *err)
{
	struct output *out;
	int r = output_open(a->output, &out, err);

	if (r < 0)
		return r;
	r = a->activity ? generate_owners(a, output_stream(out), err)
			: generate_jobs(a, output_stream(out), err);
	return output_end(&out, r, err);
}

static int run(const struct trace_args *a, struct error *err)
{
	int r;

	if (!strcmp(a->verb, "generate"))
		r = generate(a, err);
	else if (!strcmp(a->verb, "import"))
		r = trace_import(&a->import, err);
	else
		r = a->activity ? show_owners(a, err) : show_jobs(a, err);
	if (!r && fflush(stdout))
		r = error_sys(err, -errno, "standard output");
	return r;
}

int cmd_trace(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse_trace,
		"stats FILE\ngenerate\nimport FILE...",
		"What a trace is like, traces from generators, and those of "
		"others.",
		0,
		0,
		0
	};
	struct trace_args a = { .setup = { .seed = 1 } };
	struct error err;
	int r, code = EXIT_OK;

	command_parse(&argp, argc, argv, 0, &a);
	r = check_args(&a, &err);
	if (r < 0)
		code = EXIT_USAGE;
	else if (run(&a, &err) < 0)
		code = EXIT_FAILED;
	free(a.import.file);
	return code ? command_fail("trace", code, &err) : EXIT_OK;
}
