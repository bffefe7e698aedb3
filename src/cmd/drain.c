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
		if (state->arg_num)
			command_misuse(state, "one host at a time");
		a->ask.host = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "which host?");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options,
	parse,
	"HOST",
	"Move all ranks off a host, and start none there.",
	client_json_children,
	0,
	0
};

static void show_move(void *ctx, const Control__Message *m)
{
	const struct args *a = ctx;

	if (m->body_case == MESSAGE_BODY(MOVED))
		moved_print(m->moved, a->client.json);
	fflush(stdout);
}

static int ask(struct client *c, void *args, struct error *err)
{
	struct args *a = args;

	return client_ask(c, MESSAGE_BODY(DRAIN), &a->ask, MESSAGE_BODY(OK),
			  show_move, a, NULL, err);
}

int cmd_drain(int argc, char **argv)
{
	struct args a = { .ask = CONTROL__DRAIN__INIT };

	a.ask.wait = true;
	return client_main("drain", &argp, argc, argv, ask, &a);
}
