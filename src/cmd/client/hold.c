/*
 * hold.c - stint hold, release and requeue: jobs wait, and wait no longer
 */
#include <argp.h>

#include "cmd/client/client_options.h"

struct args {
	struct client_options client;
	const char *name;
	Control__Change change;
	struct job_words jobs;
};

static error_t parse_jobs(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		return command_next_job(state, arg, &a->jobs);
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "which job?");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int ask_one(struct client *c, void *args, size_t i, struct error *err)
{
	Control__ChangeJob ask = CONTROL__CHANGE_JOB__INIT;
	struct args *a = args;

	ask.job = a->jobs.at[i].job;
	ask.tasks = a->jobs.at[i].tasks.range;
	ask.n_tasks = a->jobs.at[i].tasks.nr;
	ask.change = a->change;
	return client_ask(c, MESSAGE_BODY(CHANGE_JOB), &ask, MESSAGE_BODY(OK),
			  NULL, NULL, NULL, err);
}

static int ask_all(struct client *c, void *args, struct error *err)
{
	struct args *a = args;

	return client_each(a->name, c, a->jobs.nr, ask_one, a, err);
}

static int change_jobs(const char *name, Control__Change change,
		       const char *doc, int argc, char **argv)
{
	const struct argp argp = { 0, parse_jobs, "JOB...", doc, 0, 0, 0 };
	struct args a = { .name = name, .change = change };
	int r = client_main(name, &argp, CLIENT_PLAIN, argc, argv, ask_all, &a);

	job_words_clear(&a.jobs);
	return r;
}

int cmd_hold(int argc, char **argv)
{
	return change_jobs("hold", CONTROL__CHANGE__HOLD,
			   "Keep jobs that wait from starting.", argc, argv);
}

int cmd_release(int argc, char **argv)
{
	return change_jobs("release", CONTROL__CHANGE__RELEASE,
			   "Let jobs that are held start again.", argc, argv);
}

int cmd_requeue(int argc, char **argv)
{
	return change_jobs(
		"requeue", CONTROL__CHANGE__REQUEUE,
		"Kill running jobs that were submitted with --requeue, "
		"and have them wait to begin anew.",
		argc, argv);
}
