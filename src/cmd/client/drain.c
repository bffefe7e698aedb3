/*
 * drain.c - stint drain and undrain: have all ranks leave hosts and no new ones
 * come, and the end of that
 */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "cmd/client/client_options.h"
#include "cmd/client/moved.h"
#include "core/plain.h"

enum { REASON_MAX = 200 }; /* the controller's, too */
enum { KEY_UNDO = 256, KEY_NO_WAIT, KEY_BY, KEY_REASON };

static const struct argp_option options[] = {
	{ "undo", KEY_UNDO, 0, 0, "the host may take ranks again", 0 },
	{ "by", KEY_BY, "TIME", 0,
	  "by then nothing shall be left there: 2min, 18:30, 2026-12-24 18:30",
	  0 },
	{ "reason", KEY_REASON, "TEXT", 0,
	  "shown to whoever asks what became of the host", 0 },
	{ "no-wait", KEY_NO_WAIT, 0, 0,
	  "do not wait until the last rank has left", 0 },
	{ 0 }
};

struct args {
	struct client_options client;
	Control__Drain ask;
	bool stuck; /* one of them has ranks that cannot leave */
};

static error_t parse_hosts(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_ARGS:
		a->ask.hosts = state->argv + state->next;
		a->ask.n_hosts = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		command_misuse(state, "which host?");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_drain(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct error err;
	int r;

	switch (key) {
	case KEY_BY:
		r = command_until(arg, "--by", &a->ask.by_usec, &err);
		return command_parsed(state, r, &err);
	case KEY_REASON:
		if (!*arg || strlen(arg) > REASON_MAX || !plain_is(arg))
			command_misuse(state,
				       "--reason: one line of 1 to %d bytes",
				       REASON_MAX);
		a->ask.reason = arg;
		return 0;
	case KEY_UNDO:
		a->ask.undo = true;
		return 0;
	case KEY_NO_WAIT:
		a->ask.wait = false;
		return 0;
	default:
		return parse_hosts(key, arg, state);
	}
}

static const struct argp argp = {
	options,   parse_drain,
	"HOST...", "Move all ranks off hosts, and start none there.",
	0,	   0,
	0
};
static const struct argp undo_argp = { 0,
				       parse_hosts,
				       "HOST...",
				       "Let hosts that were drained take ranks "
				       "again.",
				       0,
				       0,
				       0 };

static void show_moved(void *ctx, const Control__Message *m)
{
	struct args *a = ctx;

	if (m->body_case == MESSAGE_BODY(MOVED)) {
		moved_print(m->moved, a->client.json);
		fflush(stdout);
	} else if (m->body_case == MESSAGE_BODY(DRAINED) && *m->drained->why) {
		struct error why;

		error_set(&why, -EBUSY, "%s %s", m->drained->host,
			  m->drained->why);
		command_fail("drain", EXIT_FAILED, &why);
		a->stuck = true;
	}
}

static int ask_drain(struct client *c, void *args, struct error *err)
{
	struct args *a = args;
	int r = client_ask(c, MESSAGE_BODY(DRAIN), &a->ask, MESSAGE_BODY(OK),
			   show_moved, a, NULL, err);

	return r < 0 ? r : a->stuck ? EXIT_FAILED : EXIT_OK;
}

int cmd_drain(int argc, char **argv)
{
	struct args a = { .ask = CONTROL__DRAIN__INIT };

	a.ask.wait = true;
	return client_main("drain", &argp, CLIENT_JSON, argc, argv, ask_drain,
			   &a);
}

int cmd_undrain(int argc, char **argv)
{
	struct args a = { .ask = CONTROL__DRAIN__INIT };

	a.ask.undo = true;
	return client_main("undrain", &undo_argp, CLIENT_PLAIN, argc, argv,
			   ask_drain, &a);
}
