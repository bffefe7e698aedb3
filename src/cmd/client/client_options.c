/* client_options.c - what commands that ask the controller share */
#include "cmd/client/client_options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/units.h"
#include "core/xalloc.h"

enum { KEY_CONTROLLER = 512, KEY_KEY, KEY_JSON };

static const struct argp_option options[] = {
	{ "controller", KEY_CONTROLLER, "ADDRESS", 0,
	  "HOST:PORT or unix:PATH (else STINT_CONTROLLER, STINT_TESTBED, or a "
	  "client.conf)",
	  10 },
	{ "key", KEY_KEY, "FILE", 0, "your key file (else STINT_KEY, ...)",
	  10 },
	{ 0 }
};

static const struct argp_option json_options[] = {
	{ "json", KEY_JSON, 0, 0, "print JSON", 10 }, { 0 }
};

static void set_text(char **to, const char *text)
{
	free(*to);
	*to = xstrdup(text);
}

static error_t parse_client(int key, char *arg, struct argp_state *state)
{
	struct client_options *o = state->input;

	switch (key) {
	case KEY_CONTROLLER:
		set_text(&o->conf.controller, arg);
		return 0;
	case KEY_KEY:
		set_text(&o->conf.key, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp client_argp = { options, parse_client, 0, 0, 0, 0, 0 };

static error_t parse_json(int key, char *arg, struct argp_state *state)
{
	struct client_options *o = state->input;

	(void)arg;
	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = o;
	else if (key == KEY_JSON)
		o->json = true;
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp_child json_rest[] = { { &client_argp, 0, NULL, 0 },
					       { 0 } };
static const struct argp json_argp = { json_options, parse_json, 0, 0,
				       json_rest,    0,		 0 };

/* The command's parser and ours get the same. */
static error_t hand_on(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->child_inputs[1] = state->input;
	return 0;
}

int client_main(const char *name, const struct argp *argp,
		enum client_form form, int argc, char **argv,
		client_main_fn ask, void *args)
{
	const struct argp_child children[] = {
		{ argp, 0, NULL, 0 },
		{ form == CLIENT_JSON ? &json_argp : &client_argp, 0, NULL, 0 },
		{ 0 }
	};
	const struct argp whole = { .parser = hand_on, .children = children };
	struct client_options *o = args;
	struct client *c = NULL;
	struct error err;
	int r;

	command_parse(&whole, argc, argv, 0, args);
	r = client_open(&o->conf, &c, &err);
	if (!r)
		r = ask(c, args, &err);
	client_close(c);
	client_conf_clear(&o->conf);
	return r < 0 ? command_fail(name, command_code(r), &err) : r;
}

int client_each(const char *name, struct client *c, size_t n,
		int (*ask)(struct client *c, void *args, size_t i,
			   struct error *err),
		void *args, struct error *err)
{
	int r, code = EXIT_OK;

	for (size_t i = 0; i < n; i++) {
		r = ask(c, args, i, err);
		if (r < 0 && client_lost(c))
			return r;
		if (r < 0)
			code = command_fail(name, command_code(r), err);
	}
	return code;
}

void client_unhurried(void *ctx, const Control__Message *m)
{
	(void)ctx;
	(void)m;
}

const char *state_name(int state)
{
	static const char *const names[] = {
		[CONTROL__STATE__STATE_NONE] = "unknown",
		[CONTROL__STATE__WAITING] = "waiting",
		[CONTROL__STATE__STARTING] = "starting",
		[CONTROL__STATE__RUNNING] = "running",
		[CONTROL__STATE__ENDING] = "ending",
		[CONTROL__STATE__DONE] = "done",
		[CONTROL__STATE__MOVING] = "moving",
		[CONTROL__STATE__LOST] = "lost",
		[CONTROL__STATE__UNDECIDED] = "undecided",
		[CONTROL__STATE__SILENT] = "silent",
	};

	if (state < 0 || state >= (int)(sizeof(names) / sizeof(*names)))
		return "unknown";
	return names[state];
}

static const char *show_scaled(double v, double step, const char *const *units)
{
	static char ring[8][24];
	static unsigned at;
	char *buf = ring[at++ % 8];

	while (v >= step && units[1]) {
		v /= step;
		units++;
	}
	snprintf(buf, sizeof(ring[0]), "%.*f %s",
		 v >= 100 || v == (int)v ? 0
		 : v >= 10		 ? 1
					 : 2,
		 v, *units);
	return buf;
}

const char *show_bytes(uint64_t bytes)
{
	static const char *const units[] = {
		"B", "kB", "MB", "GB", "TB", NULL
	};

	return show_scaled(bytes, 1000, units);
}

const char *show_usec(uint64_t usec)
{
	static const char *const units[] = { "us", "ms", "s", NULL };

	return show_scaled(usec, 1000, units);
}

int parse_signal(const char *text, uint32_t *ret, struct error *err)
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
		return error_set(
			err, -EINVAL,
			"'%s' is not a signal: write TERM, USR1, 9, ...", text);
	*ret = n;
	return 0;
}
