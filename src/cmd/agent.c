/*
 * agent.c - stint agent: the daemon of a host
 */
#include "cluster/agent.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "core/conf.h"
#include "core/log.h"

enum { KEY_SETTING = 256, KEY_READY = 300, KEY_CONFIG, KEY_VERBOSE };

static const char *const settings[] = {
	"controller", "key",   "run-dir", "address",	 "uplink",
	"net",	      "cores", "score",	  "report-every"
};

static const struct argp_option options[] = {
	{ "config", KEY_CONFIG, "FILE", 0,
	  "read settings from the section [agent] of FILE", 0 },
	{ "controller", KEY_SETTING, "ADDRESS", 0, "HOST:PORT or unix:PATH",
	  0 },
	{ "key", KEY_SETTING + 1, "FILE", 0,
	  "this host's key, from `stint controller --enrol=host/NAME`", 0 },
	{ "run-dir", KEY_SETTING + 2, "DIR", 0,
	  "for what lives while the host does (made if need be)", 0 },
	{ "address", KEY_SETTING + 3, "A.B.C.D", 0,
	  "of this host, for other hosts (the uplink's)", 0 },
	{ "uplink", KEY_SETTING + 4, "LINK", 0,
	  "network link towards other hosts; none: capsules reach only this "
	  "host",
	  0 },
	{ "net", KEY_SETTING + 5, "routed|none", 0,
	  "what network capsules have (routed for root)", 0 },
	{ "cores", KEY_SETTING + 6, "N", 0, "ranks at full speed (all cores)",
	  0 },
	{ "score", KEY_SETTING + 7, "N", 0,
	  "speed of a core; measured once and remembered if not given", 0 },
	{ "report-every", KEY_SETTING + 8, "TIME", 0,
	  "how often to tell load and memory (1s)", 0 },
	{ "ready-fd", KEY_READY, "FD", 0,
	  "write a newline there at the first connection", 0 },
	{ "verbose", KEY_VERBOSE, 0, 0, "say more", 0 },
	{ 0 }
};

struct args {
	struct agent_conf conf;
	int ready_fd;
	bool verbose;
	int code;
	struct error err;
};

static int on_setting(void *ctx, const char *section, const char *name,
		      const char *value, struct error *err)
{
	struct args *a = ctx;

	if (strcmp(section, "agent"))
		return 0; /* of another program in the same file */
	return agent_conf_set(&a->conf, name, value, err);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	int64_t n;

	if (a->code)
		return 0;
	if (key >= KEY_SETTING &&
	    key < KEY_SETTING + (int)(sizeof(settings) / sizeof(*settings))) {
		a->code = agent_conf_set(&a->conf, settings[key - KEY_SETTING],
					 arg, &a->err);
		return 0;
	}
	switch (key) {
	case KEY_CONFIG:
		a->code = conf_read(arg, on_setting, a, &a->err);
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
	"Offer this host to a cluster: start keepers, report load, memory and "
	"users.\v"
	"It can be killed at any time and started again; ranks run on.",
	0,
	0,
	0
};

static int agent_main(int argc, char **argv)
{
	struct args a = { .ready_fd = -1 };
	int r;

	agent_conf_init(&a.conf);
	argp_parse(&argp, argc, argv, 0, 0, &a);
	log_init("stint agent", a.verbose ? LOG_L_DEBUG : LOG_L_INFO);
	r = a.code ? a.code : agent_run(&a.conf, a.ready_fd, &a.err);
	agent_conf_clear(&a.conf);
	if (r < 0)
		return command_fail("agent",
				    r == -EINVAL ? EXIT_USAGE : EXIT_FAILED,
				    &a.err);
	return EXIT_OK;
}

const struct command cmd_agent = {
	.name = "agent",
	.summary = "offer this host to a cluster",
	.run = agent_main,
};
