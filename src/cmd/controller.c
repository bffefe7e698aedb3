/*
 * controller.c - stint controller: serve a cluster, or enrol a party
 */
#include "cluster/controller.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cluster/keys.h"
#include "cmd/command.h"
#include "core/conf.h"
#include "core/log.h"
#include "core/xalloc.h"

enum { KEY_SETTING = 256, KEY_READY = 300, KEY_ENROL, KEY_CONFIG, KEY_VERBOSE };

/* Options that are settings; their keys count up from KEY_SETTING. */
static const char *const settings[] = { "state-dir",   "listen",
					"pool",	       "policy",
					"lost-after",  "kill-grace",
					"client-grace" };

static const struct argp_option options[] = {
	{ "config", KEY_CONFIG, "FILE", 0,
	  "read settings from the section [controller] of FILE", 0 },
	{ "state-dir", KEY_SETTING, "DIR", 0,
	  "keys and state (made if need be)", 0 },
	{ "listen", KEY_SETTING + 1, "ADDRESS", 0,
	  "HOST:PORT or unix:PATH; may be given several times", 0 },
	{ "pool", KEY_SETTING + 2, "A.B.C.D/N", 0,
	  "addresses of capsules (10.99.0.0/16)", 0 },
	{ "policy", KEY_SETTING + 3, "NAME:KEY=VALUE,...", 0,
	  "who runs where and when (spread); `stint policies` lists them", 0 },
	{ "lost-after", KEY_SETTING + 4, "TIME", 0,
	  "give up the ranks of a host that is silent for so long (60s)", 0 },
	{ "kill-grace", KEY_SETTING + 5, "TIME", 0,
	  "between SIGTERM and SIGKILL (5s)", 0 },
	{ "client-grace", KEY_SETTING + 6, "TIME", 0,
	  "end a job whose `stint run` is gone for so long (30s)", 0 },
	{ "enrol", KEY_ENROL, "IDENTITY", 0,
	  "print the key of host/NAME, user/NAME or admin/NAME, made if there "
	  "is none, and exit; works while a controller runs",
	  0 },
	{ "ready-fd", KEY_READY, "FD", 0,
	  "write a newline there once clients can connect", 0 },
	{ "verbose", KEY_VERBOSE, 0, 0, "say more", 0 },
	{ 0 }
};

struct args {
	struct controller_conf conf;
	const char *enrol;
	int ready_fd;
	bool verbose;
	int code;
	struct error err;
};

static int on_setting(void *ctx, const char *section, const char *name,
		      const char *value, struct error *err)
{
	struct args *a = ctx;

	if (strcmp(section, "controller"))
		return 0; /* of another program in the same file */
	return controller_conf_set(&a->conf, name, value, err);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	int64_t n;

	if (a->code)
		return 0;
	if (key >= KEY_SETTING &&
	    key < KEY_SETTING + (int)(sizeof(settings) / sizeof(*settings))) {
		a->code = controller_conf_set(
			&a->conf, settings[key - KEY_SETTING], arg, &a->err);
		return 0;
	}
	switch (key) {
	case KEY_CONFIG:
		a->code = conf_read(arg, on_setting, a, &a->err);
		return 0;
	case KEY_ENROL:
		a->enrol = arg;
		return 0;
	case KEY_READY:
		a->code = parse_int(arg, 0, 1 << 20, "ready-fd", &n, &a->err);
		a->ready_fd = a->code ? -1 : n;
		return 0;
	case KEY_VERBOSE:
		a->verbose = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options,
	parse,
	0,
	"Serve a cluster: jobs, hosts, placement, moves.\v"
	"The state directory holds the keys of everybody who may connect "
	"(--enrol) and state.db.  It can be killed at any time and started "
	"again.",
	0,
	0,
	0
};

static int enrol(const struct args *a, struct error *err)
{
	char *path, line[TLS_KEY_LINE];
	struct tls_key key;
	int r;

	if (!a->conf.state_dir)
		return error_set(err, -EINVAL,
				 "no state directory: give --state-dir=DIR");
	if (mkdir(a->conf.state_dir, 0700) < 0 && errno != EEXIST)
		return error_sys(err, -errno, "%s", a->conf.state_dir);
	path = xasprintf("%s/keys", a->conf.state_dir);
	r = keys_enrol(path, a->enrol, &key, err);
	free(path);
	if (r < 0)
		return r;
	tls_key_format(&key, line, sizeof(line));
	return fputs(line, stdout) < 0 || fflush(stdout)
		       ? error_sys(err, -errno, "writing the key")
		       : 0;
}

static int controller_main(int argc, char **argv)
{
	struct args a = { .ready_fd = -1 };
	int r;

	controller_conf_init(&a.conf);
	argp_parse(&argp, argc, argv, 0, 0, &a);
	log_init("stint controller", a.verbose ? LOG_L_DEBUG : LOG_L_INFO);
	r = a.code;
	if (!r)
		r = a.enrol ? enrol(&a, &a.err)
			    : controller_run(&a.conf, a.ready_fd, &a.err);
	controller_conf_clear(&a.conf);
	if (r < 0)
		return command_fail("controller",
				    r == -EINVAL ? EXIT_USAGE : EXIT_FAILED,
				    &a.err);
	return EXIT_OK;
}

const struct command cmd_controller = {
	.name = "controller",
	.summary = "serve a cluster, or enrol a host or user in it",
	.run = controller_main,
};
