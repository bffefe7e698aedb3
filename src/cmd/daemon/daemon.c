/* daemon.c - what the command lines of agent and controller share */
#include "cmd/daemon/daemon.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/kit/command.h"
#include "core/conf.h"
#include "core/log.h"
#include "core/units.h"
#include "core/xalloc.h"

enum { KEY_CONFIG = 512, KEY_READY, KEY_VERBOSE, KEY_LOG };

static const struct argp_option options[] = {
	{ "config", KEY_CONFIG, "FILE", 0,
	  "read settings from this program's section of FILE", 0 },
	{ "log", KEY_LOG, "FILE", 0,
	  "append the log to FILE, not stderr; at 8 MiB it becomes FILE.old",
	  0 },
	{ "ready-fd", KEY_READY, "FD", 0,
	  "write a newline there once it serves", 0 },
	{ "verbose", KEY_VERBOSE, 0, 0, "say more", 0 },
	{ 0 }
};

/* One file may serve several programs; a misspelt section is still told. */
static int on_setting(void *ctx, const char *section, const char *name,
		      const char *value, struct error *err)
{
	static const char *const known[] = { "agent", "controller", "client",
					     "owner" };
	struct daemon *d = ctx;

	if (!*section)
		return error_set(err, -EINVAL,
				 "'%s' stands before the first section: write "
				 "[%s] above it",
				 name, d->section);
	if (!strcmp(section, d->section))
		return d->set(d->conf, name, value, err);
	if (!strcmp(section, "owner") && d->set_owner)
		return d->set_owner(d->conf, name, value, err);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(section, known[i]))
			return 0;
	return error_set(err, -EINVAL,
			 "unknown section [%s]; there are [agent], "
			 "[owner], [controller] and [client]",
			 section);
}

static error_t parse_daemon(int key, char *arg, struct argp_state *state)
{
	struct daemon *d = state->input;
	struct error err;
	int64_t n;
	int r;

	switch (key) {
	case ARGP_KEY_INIT:
		d->ready_fd = -1;
		return 0;
	case KEY_CONFIG:
		d->config = arg;
		r = conf_read(arg, on_setting, d, &err);
		return command_parsed(state, r, &err);
	case KEY_READY:
		r = parse_int(arg, 0, 1 << 20, "--ready-fd", &n, &err);
		if (!r)
			d->ready_fd = (int)n;
		return command_parsed(state, r, &err);
	case KEY_LOG:
		d->log = arg;
		return 0;
	case KEY_VERBOSE:
		d->verbose = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp daemon_argp = { options, parse_daemon, 0, 0, 0, 0, 0 };
const struct argp_child daemon_children[] = { { &daemon_argp, 0, 0, 0 },
					      { 0 } };

error_t daemon_setting(const struct argp_state *state, struct daemon *d,
		       const struct argp_option *option, int key,
		       const char *arg)
{
	struct error err;

	for (; option->name; option++) {
		if (option->key != key)
			continue;
		return command_parsed(
			state, d->set(d->conf, option->name, arg, &err), &err);
	}
	return ARGP_ERR_UNKNOWN;
}

int daemon_begin(const struct daemon *d, struct error *err)
{
	char *prefix = xasprintf("stint %s", d->section);

	log_init(prefix, d->verbose ? LOG_L_DEBUG : LOG_L_INFO);
	free(prefix);
	log_count_repeats();
	return d->log ? log_to(d->log, LOG_MOST, err) : 0;
}
