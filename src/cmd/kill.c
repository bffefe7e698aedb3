/*
 * kill.c - stint kill: end a job, or send it a signal
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
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
	struct error err;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->client;
		return 0;
	case 's':
		return command_parsed(
			state, parse_signal(arg, &a->ask.signo, &err), &err);
	case ARGP_KEY_ARG:
		if (state->arg_num)
			command_misuse(state, "one job at a time");
		return command_parsed(state, parse_job(arg, &a->ask.job, &err),
				      &err);
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "which job?");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options,
	parse,
	"JOB",
	"End a job: SIGTERM to every rank, and SIGKILL some seconds later.",
	client_children,
	0,
	0
};

static int ask(struct client *c, void *args, struct error *err)
{
	struct args *a = args;

	return client_ask(c, MESSAGE_BODY(SIGNAL), &a->ask, MESSAGE_BODY(OK),
			  NULL, NULL, NULL, err);
}

int cmd_kill(int argc, char **argv)
{
	struct args a = { .ask = CONTROL__SIGNAL__INIT };

	return client_main("kill", &argp, argc, argv, ask, &a);
}
