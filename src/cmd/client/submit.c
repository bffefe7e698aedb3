/*
 * submit.c - stint submit: have a program run without waiting for it
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/client/client_options.h"
#include "cmd/client/submission_options.h"
#include "cmd/client/tasks.h"
#include "core/json.h"

enum { KEY_HOLD = 768, KEY_JSON, KEY_ARRAY };

static const struct argp_option options[] = {
	{ "hold", KEY_HOLD, 0, 0, "it does not start before `stint release`",
	  0 },
	{ "array", KEY_ARRAY, "TASKS[%N]", 0,
	  "a job for each of these numbers (1-100, 0-90:10, 1,3,5-7), of which N "
	  "run at a time",
	  0 },
	{ "json", KEY_JSON, 0, 0, "print JSON", 10 },
	{ 0 }
};

struct args {
	struct client_options client;
	struct submission submission;
};

static int take_array(struct args *a, const char *arg, struct error *err)
{
	Control__Submit *s = &a->submission.ask;

	free(s->tasks);
	s->tasks = NULL;
	s->n_tasks = 0;
	return tasks_of_array(arg, &s->tasks, &s->n_tasks, &s->tasks_at_once,
			      err);
}

static error_t parse_submit(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->submission;
		state->child_inputs[1] = &a->client;
		return 0;
	case KEY_ARRAY:
		return command_parsed(state, take_array(a, arg, &err), &err);
	case KEY_HOLD:
		a->submission.ask.held = true;
		return 0;
	case KEY_JSON:
		a->client.json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options,
	parse_submit,
	"PROGRAM [ARGUMENT...]",
	"Have a program run on hosts of the cluster, and print the number of its "
	"job, which is then on the controller's disk and needs nobody.\v"
	"What it prints is kept for `stint output`.  `stint wait` waits for its end, "
	"`stint attach` is its terminal.",
	submission_children,
	0,
	0
};

/* Who cannot see the number must not take it that there is no job. */
static int tell_number(bool json, uint64_t job, struct error *err)
{
	if (json)
		json_line(json_pack("{sI}", "job", (json_int_t)job), stdout);
	else
		printf("%" PRIu64 "\n", job);
	if (fflush(stdout))
		return error_sys(err, -errno,
				 "job %" PRIu64 " was taken, but its number "
				 "cannot be written to standard output",
				 job);
	return EXIT_OK;
}

static int submit(struct args *a, struct error *err)
{
	Control__Message *m;
	struct client *c;
	int r = submission_fill(&a->submission, err);

	if (!r)
		r = client_open(&a->client.conf, &c, err);
	if (r < 0)
		return r;
	client_insist(c); /* by its key it is known to be the same job */
	r = client_ask(c, MESSAGE_BODY(SUBMIT), &a->submission.ask,
		       MESSAGE_BODY(SUBMITTED), NULL, NULL, &m, err);
	client_close(c);
	if (r < 0)
		return r;
	r = tell_number(a->client.json, m->submitted->job, err);
	message_free(m);
	return r;
}

int cmd_submit(int argc, char **argv)
{
	struct args a = { .client = { .json = false } };
	struct error err;
	int r;

	submission_init(&a.submission);
	a.submission.ask.detached = true;
	command_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_LONG_ONLY, &a);
	r = submit(&a, &err);
	if (r < 0)
		r = command_fail("submit", command_code(r), &err);
	free(a.submission.ask.tasks);
	submission_clear(&a.submission);
	client_conf_clear(&a.client.conf);
	return r;
}
