/*
 * agent.c - stint agent: the daemon of a host
 */
#include "cluster/agent.h"

#include "cmd/command.h"
#include "cmd/daemon.h"

enum { KEY_SETTING = 256, KEY_CLEAN_UP = 300 };

struct args {
	struct daemon daemon;
	struct agent_conf *conf;
	bool clean_up;
};

static const struct argp_option options[] = {
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
	{ "net", KEY_SETTING + 5, "routed|bridge|none", 0,
	  "what network capsules have (routed for root); bridge: the uplink is "
	  "a bridge on the hosts' LAN, and capsules are its ports",
	  0 },
	{ "fast-path", KEY_SETTING + 9, "auto|no", 0,
	  "TCP of routed capsules past this host's forwarding (auto: while "
	  "no firewall or the like is there)",
	  0 },
	{ "cores", KEY_SETTING + 6, "N", 0, "ranks at full speed (all cores)",
	  0 },
	{ "score", KEY_SETTING + 7, "N", 0,
	  "speed of a core; measured once and remembered if not given", 0 },
	{ "report-every", KEY_SETTING + 8, "TIME", 0,
	  "how often to tell load and memory (1s)", 0 },
	{ "min-uid", KEY_SETTING + 10, "UID", 0,
	  "no rank here runs as a user below it, whatever the controller says "
	  "(UID_MIN of /etc/login.defs)",
	  0 },
	{ "min-gid", KEY_SETTING + 11, "GID", 0,
	  "nor in a group below it, but one in which this host has the user "
	  "itself (GID_MIN)",
	  0 },
	{ "memory-default", KEY_SETTING + 12, "SIZE|none", 0,
	  "memory of a rank that asks for nothing (none: no limit)", 0 },
	{ "memory-max", KEY_SETTING + 13, "SIZE|none", 0,
	  "... and of any rank (none)", 0 },
	{ "pids-default", KEY_SETTING + 14, "N|none", 0,
	  "processes and threads of a rank that asks for nothing (2048)", 0 },
	{ "pids-max", KEY_SETTING + 15, "N|none", 0,
	  "... and of any rank (none)", 0 },
	{ "clean-up", KEY_CLEAN_UP, 0, 0,
	  "instead: end all ranks that are here without an agent, remove what "
	  "they left in --run-dir and on this host",
	  0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->daemon;
		return 0;
	case KEY_CLEAN_UP:
		args->clean_up = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			return ARGP_ERR_UNKNOWN;
		args->conf->name = arg;
		return 0;
	default:
		return daemon_setting(state, &args->daemon, options, key, arg);
	}
}

static const struct argp argp = {
	options,
	parse,
	"[NAME]",
	"Offer this host to a cluster: start keepers, report load, memory and "
	"users.\v"
	"NAME is the one its key has, for lists of processes.  "
	"It can be killed at any time and started again; ranks run on.",
	daemon_children,
	0,
	0
};

static int set(void *conf, const char *name, const char *value,
	       struct error *err)
{
	return agent_conf_set(conf, name, value, err);
}

int cmd_agent(int argc, char **argv)
{
	struct agent_conf conf;
	struct args args = {
		.conf = &conf,
		.daemon = { .section = "agent", .set = set, .conf = &conf },
	};
	struct error err;
	int r;

	agent_conf_init(&conf);
	command_parse(&argp, argc, argv, 0, &args);
	r = daemon_begin(&args.daemon, &err);
	if (!r)
		r = args.clean_up
			    ? agent_clean_up(&conf, &err)
			    : agent_run(&conf, args.daemon.ready_fd, &err);
	agent_conf_clear(&conf);
	return r < 0 ? command_fail("agent", command_code(r), &err) : EXIT_OK;
}
