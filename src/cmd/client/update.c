/*
 * update.c - stint update: change what was asked for
 */
#include <argp.h>

#include "cmd/client/client_options.h"
#include "cmd/client/submission.h"

enum { KEY_LIMIT = 256 };

static const struct argp_option options[] = {
	{ "time", 't', "TIME", 0,
	  "how long it will run, for policies that plan ahead; of a job that "
	  "waits",
	  0 },
	{ "limit", KEY_LIMIT, "TIME", 0,
	  "end it when it has run for so long, from its start on", 0 },
	{ "name", 'J', "NAME", 0, "what lists call it", 0 },
	{ 0 }
};

struct args {
	struct client_options client;
	Control__ChangeJob ask;
	struct job_word job;
	bool given;
};

static int take_name(struct args *a, char *arg, struct error *err)
{
	struct submission unused = { .cap_env = 0 };
	int r = submission_name(&unused, arg, err);

	if (!r)
		a->ask.name = arg;
	return r;
}

static error_t parse_update(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;
	int r = 0;

	switch (key) {
	case 't':
		r = command_span(arg, "--time", &a->ask.estimate_usec, &err);
		a->given = true;
		break;
	case KEY_LIMIT:
		r = command_span(arg, "--limit", &a->ask.limit_usec, &err);
		a->given = true;
		break;
	case 'J':
		r = take_name(a, arg, &err);
		a->given = true;
		break;
	case ARGP_KEY_ARG:
		return command_one_job(state, arg, &a->job);
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "which job?");
	case ARGP_KEY_END:
		if (!a->given)
			command_misuse(state, "change what of it?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return command_parsed(state, r, &err);
}

static const struct argp argp = { options, parse_update,
				  "JOB",   "Change what was asked for a job.",
				  0,	   0,
				  0 };

static int ask_update(struct client *c, void *args, struct error *err)
{
	struct args *a = args;

	a->ask.job = a->job.job;
	a->ask.tasks = a->job.tasks.range;
	a->ask.n_tasks = a->job.tasks.nr;
	a->ask.change = CONTROL__CHANGE__UPDATE;
	return client_ask(c, MESSAGE_BODY(CHANGE_JOB), &a->ask,
			  MESSAGE_BODY(OK), NULL, NULL, NULL, err);
}

int cmd_update(int argc, char **argv)
{
	struct args a = { .ask = CONTROL__CHANGE_JOB__INIT };

	int r = client_main("update", &argp, CLIENT_PLAIN, argc, argv,
			    ask_update, &a);

	task_words_clear(&a.job.tasks);
	return r;
}
