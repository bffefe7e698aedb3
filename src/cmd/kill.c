/*
 * kill.c - stint kill: end a job, or send it a signal
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/client_options.h"
#include "core/units.h"

static const struct argp_option options[] = {
	{ "signal", 's', "SIGNAL", 0,
	  "send this to every rank, by name or number, instead of ending the "
	  "job",
	  0 },
	{ 0 }
};

struct args {
	struct client_options client;
	Control__Signal ask;
	int code;
	struct error err;
};

static int parse_signal(const char *text, uint32_t *ret, struct error *err)
{
	const char *name = strncasecmp(text, "SIG", 3) ? text : text + 3;
	int64_t n;

	for (int i = 1; i < 32; i++) {
		const char *abbrev = sigabbrev_np(i);

		if (abbrev && !strcasecmp(abbrev, name)) {
			*ret = i;
			return 0;
		}
	}
	if (parse_int(text, 1, 64, "signal", &n, NULL) < 0)
		return error_set(err, -EINVAL,
				 "'%s' is no signal: write TERM, USR1, 9, ...",
				 text);
	*ret = n;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->client;
		return 0;
	case 's':
		if (!a->code)
			a->code = parse_signal(arg, &a->ask.signo, &a->err);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			argp_usage(state);
		if (!a->code)
			a->code = parse_job(arg, &a->ask.job, &a->err);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &client_argp, 0, 0, 0 },
					      { 0 } };
static const struct argp argp = {
	options,
	parse,
	"JOB",
	"End a job: SIGTERM to every rank, and SIGKILL some seconds later.",
	children,
	0,
	0
};

static int kill_main(int argc, char **argv)
{
	struct args a = { .ask = CONTROL__SIGNAL__INIT };
	struct client *c = NULL;
	Control__Message *m;
	int r;

	argp_parse(&argp, argc, argv, 0, 0, &a);
	r = a.code ? a.code : client_open(&a.client.conf, &c, &a.err);
	if (!r)
		r = client_ask(c, MESSAGE_BODY(SIGNAL), &a.ask,
			       MESSAGE_BODY(OK), NULL, NULL, &m, &a.err);
	if (!r)
		message_free(m);
	client_close(c);
	client_conf_clear(&a.client.conf);
	return r < 0 ? command_fail("kill", command_code(r), &a.err) : EXIT_OK;
}

const struct command cmd_kill = {
	.name = "kill",
	.summary = "end a job, or send it a signal",
	.run = kill_main,
};
