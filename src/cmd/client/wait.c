/*
 * wait.c - stint wait: until jobs are over
 */
#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/client/client_options.h"
#include "core/json.h"

struct args {
	struct client_options client;
	struct job_words jobs;
	int exit; /* of the first that failed */
};

static error_t parse_wait(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		return command_next_job(state, arg, &a->jobs);
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "for which job?");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	0,
	parse_wait,
	"JOB...",
	"Wait until jobs are over.\v"
	"The exit status is that of the first of them that failed, as `stint run` "
	"would have ended with; 0 if none did.",
	0,
	0,
	0
};

static void show(struct args *a, const Control__JobState *s)
{
	if (s->exit && !a->exit)
		a->exit = (int)s->exit;
	if (a->client.json)
		json_line(json_pack("{sI si so}", "job", (json_int_t)s->job,
				    "exit", (int)s->exit, "why",
				    json_text(s->why)),
			  stdout);
	else if ((s->exit || s->limit_met) && *s->why)
		fprintf(stderr, "stint wait: job %" PRIu64 ": %s\n", s->job,
			s->why);
}

static int ask_one(struct client *c, void *args, size_t i, struct error *err)
{
	Control__WaitJob ask = CONTROL__WAIT_JOB__INIT;
	struct args *a = args;
	Control__Message *m;
	int r;

	ask.job = a->jobs.job[i];
	r = client_ask(c, MESSAGE_BODY(WAIT_JOB), &ask, MESSAGE_BODY(JOB_STATE),
		       client_unhurried, NULL, &m, err);
	if (r < 0)
		return r;
	show(a, m->job_state);
	message_free(m);
	return 0;
}

static int ask_wait(struct client *c, void *args, struct error *err)
{
	struct args *a = args;
	int r;

	client_insist(c);
	r = client_each("wait", c, a->jobs.nr, ask_one, a, err);
	return r ? r : a->exit;
}

int cmd_wait(int argc, char **argv)
{
	struct args a = { .exit = 0 };
	int r = client_main("wait", &argp, CLIENT_JSON, argc, argv, ask_wait,
			    &a);

	free(a.jobs.job);
	return r;
}
