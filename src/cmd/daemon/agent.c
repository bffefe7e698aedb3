/*
 * agent.c - stint agent: the daemon of a host
 */
#include "cluster/agent/agent.h"

#include "cmd/daemon/daemon.h"
#include "cmd/kit/command.h"

enum { KEY_CLEAN_UP = 256 };

struct args {
	struct daemon daemon;
	struct agent_conf *conf;
	bool clean_up;
};

static const struct argp_option options[] = {
	DAEMON_SETTING("controller", "ADDRESS", "HOST:PORT or unix:PATH"),
	DAEMON_SETTING(
		"key", "FILE",
		"this host's key, from `stint controller --enrol=host/NAME`"),
	DAEMON_SETTING("run-dir", "DIR",
		       "for what lives while the host does (made if need be)"),
	DAEMON_SETTING("state-dir", "DIR",
		       "for what survives a boot: what is owed to the owner "
		       "(the run directory)"),
	DAEMON_SETTING(
		"cgroup", "DIR",
		"group of cgroup v2 for those of ranks (the agent's own)"),
	DAEMON_SETTING("address", "A.B.C.D",
		       "of this host, for other hosts (the uplink's)"),
	DAEMON_SETTING(
		"uplink", "LINK",
		"network link towards other hosts; none: capsules reach only this "
		"host"),
	DAEMON_SETTING(
		"net", "routed|bridge|none",
		"what network capsules have (routed for root); bridge: the uplink is "
		"a bridge on the hosts' LAN, and capsules are its ports"),
	DAEMON_SETTING(
		"fast-path", "auto|no",
		"TCP of routed capsules past this host's forwarding (auto: while "
		"no firewall or the like is there)"),
	DAEMON_SETTING("cores", "N", "ranks at full speed (all cores)"),
	DAEMON_SETTING(
		"score", "N",
		"speed of a core; measured once and remembered if not given"),
	DAEMON_SETTING("report-every", "TIME",
		       "how often to look at load and memory, and tell what "
		       "has changed (1s)"),
	DAEMON_SETTING("load-average", "TIME",
		       "over which the load is averaged (10s); 0: as it is"),
	DAEMON_SETTING(
		"min-uid", "UID",
		"no rank here runs as a user below it, whatever the controller says "
		"(UID_MIN of /etc/login.defs)"),
	DAEMON_SETTING(
		"min-gid", "GID",
		"nor in a group below it, but one in which this host has the user "
		"itself (GID_MIN)"),
	DAEMON_SETTING(
		"memory-default", "SIZE|none",
		"memory of a rank that asks for nothing (none: no limit)"),
	DAEMON_SETTING("memory-max", "SIZE|none", "... and of any rank (none)"),
	DAEMON_SETTING(
		"pids-default", "N|none",
		"processes and threads of a rank that asks for nothing (2048)"),
	DAEMON_SETTING("pids-max", "N|none", "... and of any rank (none)"),
	DAEMON_SETTING(
		"cpus-default", "N|none",
		"processors of a rank that asks for nothing (none: no limit)"),
	DAEMON_SETTING("cpus-max", "N|none", "... and of any rank (none)"),
	DAEMON_SETTING(
		"prolog", "FILE",
		"program of root's that is run here before a job's first rank "
		"starts"),
	DAEMON_SETTING("epilog", "FILE",
		       "... and after its last rank here is gone"),
	DAEMON_SETTING("prolog-limit", "TIME",
		       "how long either may take (60s, which is the most)"),
	{ "clean-up", KEY_CLEAN_UP, 0, 0,
	  "instead: end all ranks that are here without an agent, remove what "
	  "they left in --run-dir and on this host",
	  0 },
	{ 0 }
};

static error_t parse_agent(int key, char *arg, struct argp_state *state)
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
	parse_agent,
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

static int set_owner(void *conf, const char *name, const char *value,
		     struct error *err)
{
	return agent_owner_set(conf, name, value, err);
}

int cmd_agent(int argc, char **argv)
{
	struct agent_conf conf;
	struct args args = {
		.conf = &conf,
		.daemon = { .section = "agent",
			    .set = set,
			    .set_owner = set_owner,
			    .conf = &conf },
	};
	struct error err;
	int r;

	agent_conf_init(&conf);
	command_parse(&argp, argc, argv, 0, &args);
	conf.config = args.daemon.config;
	r = daemon_begin(&args.daemon, &err);
	if (!r)
		r = args.clean_up
			    ? agent_clean_up(&conf, &err)
			    : agent_run(&conf, args.daemon.ready_fd, &err);
	agent_conf_clear(&conf);
	return r < 0 ? command_fail("agent", command_code(r), &err) : EXIT_OK;
}
