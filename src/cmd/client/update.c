/*
 * update.c - stint update: change what was asked for
 */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/client/client_options.h"
#include "cmd/client/submission.h"

enum {
	KEY_LIMIT = 256,
	KEY_HOSTS,
	KEY_ANY_HOST,
	KEY_AFTER,
	KEY_MEMORY,
	KEY_PIDS,
	KEY_CPUS,
	KEY_OUTPUT_LIMIT
};

static const struct argp_option options[] = {
	{ "limit", KEY_LIMIT, "TIME|none", 0,
	  "end it when it has run for so long, from its start on", 0 },
	{ "name", 'J', "NAME", 0, "what lists call it", 0 },
	{ 0, 0, 0, 0, "Of a job that waits:", 1 },
	{ "time", 't', "TIME|none", 0,
	  "how long it will run, for policies that plan ahead", 0 },
	{ "hosts", KEY_HOSTS, "A,B,...", 0,
	  "where, ranks are placed round-robin", 0 },
	{ "any-host", KEY_ANY_HOST, 0, 0, "the policy chooses the hosts", 0 },
	{ "after", KEY_AFTER, "JOBS|none", 0,
	  "begin when these jobs, submitted before it, have ended well (ok, "
	  "the default), are over (any) or have failed (failed), instead of "
	  "those it was to follow",
	  0 },
	{ "memory", KEY_MEMORY, "SIZE|none", 0,
	  "of each rank, at most (none: what its host gives)", 0 },
	{ "pids-limit", KEY_PIDS, "N|none", 0,
	  "processes and threads of each rank, at most", 0 },
	{ "cpus", KEY_CPUS, "N|none", 0, "processors of each rank, at most",
	  0 },
	{ "output-limit", KEY_OUTPUT_LIMIT, "SIZE|none", 0,
	  "of each file that a rank writes, and of what it prints, at most",
	  0 },
	{ 0 }
};

struct args {
	struct client_options client;
	Control__ChangeJob ask;
	Control__Limits limits;
	struct submission to; /* of these options alone */
	struct job_word job;
	bool given;
};

static int set_name(struct args *a, char *arg, struct error *err)
{
	int r = submission_name(&a->to, arg, err);

	if (!r)
		a->ask.name = arg;
	return r;
}

static int set_hosts(struct args *a, const char *arg, struct error *err)
{
	int r = submission_hosts(&a->to, arg, err);

	a->ask.hosts = a->to.ask.hosts;
	a->ask.n_hosts = a->to.ask.n_hosts;
	return r;
}

/* "none" means none of those that were named before it, either. */
static int set_after(struct args *a, const char *arg, struct error *err)
{
	Control__Submit *s = &a->to.ask;
	int r = 0;

	a->ask.no_after = !strcmp(arg, "none");
	if (!a->ask.no_after)
		r = submission_after(&a->to, arg, err);
	while (a->ask.no_after && s->n_after)
		free(s->after[--s->n_after]);
	a->ask.after = s->after;
	a->ask.n_after = s->n_after;
	return r;
}

/* A number that `stint run` takes, or none; -ENOENT: it is no such option. */
static int set_number(struct args *a, int key, const char *arg,
		      struct error *err)
{
	Control__Submit *s = &a->to.ask;
	const struct {
		int key;
		int (*set)(struct submission *s, const char *arg,
			   struct error *err);
		const uint64_t *from;
		uint64_t *to;
	} numbers[] = {
		{ 't', submission_time, &s->estimate_usec,
		  &a->ask.estimate_usec },
		{ KEY_LIMIT, submission_limit, &s->limit_usec,
		  &a->ask.limit_usec },
		{ KEY_MEMORY, submission_memory, &s->memory,
		  &a->limits.memory },
		{ KEY_PIDS, submission_pids, &s->pids, &a->limits.pids },
		{ KEY_CPUS, submission_cpus, &s->milli_cpus,
		  &a->limits.milli_cpus },
		{ KEY_OUTPUT_LIMIT, submission_output_limit, &s->output_max,
		  &a->limits.output_max },
	};
	int r;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (numbers[i].key != key)
			continue;
		if (!strcmp(arg, "none")) {
			*numbers[i].to = UINT64_MAX;
			return 0;
		}
		r = numbers[i].set(&a->to, arg, err);
		if (!r)
			*numbers[i].to = *numbers[i].from;
		return r;
	}
	return -ENOENT;
}

static int set_option(struct args *a, int key, char *arg, struct error *err)
{
	switch (key) {
	case 'J':
		return set_name(a, arg, err);
	case KEY_HOSTS:
		return set_hosts(a, arg, err);
	case KEY_ANY_HOST:
		a->ask.any_host = true;
		return 0;
	case KEY_AFTER:
		return set_after(a, arg, err);
	default:
		return set_number(a, key, arg, err);
	}
}

static error_t parse_update(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;
	int r;

	switch (key) {
	case ARGP_KEY_ARG:
		return command_one_job(state, arg, &a->job);
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "which job?");
	case ARGP_KEY_END:
		if (!a->given)
			command_misuse(state, "change what of it?");
		if (a->ask.any_host && a->ask.n_hosts)
			command_misuse(state, "--hosts and --any-host: one of "
					      "them");
		return 0;
	default:
		r = set_option(a, key, arg, &err);
		if (r == -ENOENT)
			return ARGP_ERR_UNKNOWN;
		a->given = true;
		return command_parsed(state, r, &err);
	}
}

static const struct argp argp = { options, parse_update,
				  "JOB",   "Change what was asked for a job.",
				  0,	   0,
				  0 };

static bool has_limits(const Control__Limits *l)
{
	return l->memory || l->pids || l->milli_cpus || l->output_max;
}

static int ask_update(struct client *c, void *args, struct error *err)
{
	struct args *a = args;

	a->ask.job = a->job.job;
	a->ask.tasks = a->job.tasks.range;
	a->ask.n_tasks = a->job.tasks.nr;
	a->ask.change = CONTROL__CHANGE__UPDATE;
	a->ask.limits = has_limits(&a->limits) ? &a->limits : NULL;
	return client_ask(c, MESSAGE_BODY(CHANGE_JOB), &a->ask,
			  MESSAGE_BODY(OK), NULL, NULL, NULL, err);
}

int cmd_update(int argc, char **argv)
{
	struct args a = { .ask = CONTROL__CHANGE_JOB__INIT,
			  .limits = CONTROL__LIMITS__INIT,
			  .to = { .ask = CONTROL__SUBMIT__INIT } };
	int r = client_main("update", &argp, CLIENT_PLAIN, argc, argv,
			    ask_update, &a);

	task_words_clear(&a.job.tasks);
	submission_clear(&a.to);
	return r;
}
