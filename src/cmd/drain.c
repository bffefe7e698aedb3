/*
 * drain.c - stint drain: have all ranks leave a host, and no new ones come
 */
#include <argp.h>
#include <stdio.h>

#include "cmd/client_options.h"
#include "cmd/moved.h"

enum { KEY_UNDO = 256, KEY_NO_WAIT };

static const struct argp_option options[] = {
	{ "undo", KEY_UNDO, 0, 0, "the host may take ranks again", 0 },
	{ "no-wait", KEY_NO_WAIT, 0, 0,
	  "do not wait until the last rank has left", 0 },
	{ 0 }
};

struct args {
	struct client_options client;
	Control__Drain ask;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->client;
		return 0;
	case KEY_UNDO:
		a->ask.undo = true;
		return 0;
	case KEY_NO_WAIT:
		a->ask.wait = false;
		return 0;
	case ARGP_KEY_ARG:
		if (*a->ask.host)
			argp_usage(state);
		a->ask.host = arg;
		return 0;
	case ARGP_KEY_END:
		if (!*a->ask.host)
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &client_json_argp, 0, 0, 0 },
					      { 0 } };
static const struct argp argp = {
	options,  parse,
	"HOST",	  "Move all ranks off a host, and start none there.",
	children, 0,
	0
};

static void show_move(void *ctx, const Control__Message *m)
{
	const struct args *a = ctx;

	if (m->body_case == MESSAGE_BODY(MOVED))
		moved_print(m->moved, a->client.json);
	fflush(stdout);
}

static int drain_main(int argc, char **argv)
{
	struct args a = { .ask = CONTROL__DRAIN__INIT };
	struct client *c = NULL;
	Control__Message *m;
	struct error err;
	int r;

	a.ask.wait = true;
	argp_parse(&argp, argc, argv, 0, 0, &a);
	r = client_open(&a.client.conf, &c, &err);
	if (!r)
		r = client_ask(c, MESSAGE_BODY(DRAIN), &a.ask, MESSAGE_BODY(OK),
			       show_move, &a, &m, &err);
	if (!r)
		message_free(m);
	client_close(c);
	client_conf_clear(&a.client.conf);
	return r < 0 ? command_fail("drain", command_code(r), &err) : EXIT_OK;
}

const struct command cmd_drain = {
	.name = "drain",
	.summary = "have all ranks leave a host",
	.run = drain_main,
};
