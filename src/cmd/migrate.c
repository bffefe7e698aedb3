/*
 * migrate.c - stint migrate: one running rank to another host
 */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/client_options.h"
#include "cmd/moved.h"
#include "core/units.h"

static const struct argp_option options[] = {
	{ "budget", 'b', "TIME", 0,
	  "it must not stand still for longer; the move is given up otherwise",
	  0 },
	{ 0 }
};

struct args {
	struct client_options client;
	Control__Migrate ask;
	unsigned nr_args;
	int code;
	struct error err;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	usec_t budget;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->client;
		return 0;
	case 'b':
		if (!a->code)
			a->code = parse_usec(arg, &budget, &a->err);
		a->ask.budget_usec = a->code ? 0 : budget;
		return 0;
	case ARGP_KEY_ARG:
		if (a->nr_args == 0 && !a->code)
			a->code = parse_job_rank(arg, &a->ask.job, &a->ask.rank,
						 &a->err);
		else if (a->nr_args == 1)
			a->ask.host = arg;
		else if (a->nr_args > 1)
			argp_usage(state);
		a->nr_args++;
		return 0;
	case ARGP_KEY_END:
		if (a->nr_args != 2)
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &client_json_argp, 0, 0, 0 },
					      { 0 } };
static const struct argp argp = {
	options,
	parse,
	"JOB.RANK HOST",
	"Move a running rank to another host and show how it went.",
	children,
	0,
	0
};

/* How far it is, on a terminal only. */
static void show_progress(void *ctx, const Control__Message *m)
{
	if (m->body_case != MESSAGE_BODY(PROGRESS) || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%s\033[K", m->progress->text);
}

static int migrate_main(int argc, char **argv)
{
	struct args a = { .ask = CONTROL__MIGRATE__INIT };
	struct client *c = NULL;
	Control__Message *m;
	bool moved = false;
	int r;

	argp_parse(&argp, argc, argv, 0, 0, &a);
	r = a.code ? a.code : client_open(&a.client.conf, &c, &a.err);
	if (!r)
		r = client_ask(c, MESSAGE_BODY(MIGRATE), &a.ask,
			       MESSAGE_BODY(MOVED), show_progress, NULL, &m,
			       &a.err);
	if (!r) {
		if (isatty(STDERR_FILENO))
			fputs("\r\033[K", stderr);
		moved = m->moved->ok;
		moved_print(m->moved, a.client.json);
		message_free(m);
	}
	client_close(c);
	client_conf_clear(&a.client.conf);
	if (r < 0)
		return command_fail("migrate", command_code(r), &a.err);
	return moved ? EXIT_OK : EXIT_FAILED;
}

const struct command cmd_migrate = {
	.name = "migrate",
	.summary = "move a running rank to another host",
	.run = migrate_main,
};
