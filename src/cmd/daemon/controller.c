/*
 * controller.c - stint controller: serve a cluster, or enrol a party
 */
#include "cluster/controller/controller.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/conn/keys.h"
#include "cluster/host/identity.h"
#include "cmd/daemon/daemon.h"
#include "cmd/kit/command.h"
#include "core/xalloc.h"

enum { KEY_ENROL = 256, KEY_KEYS, KEY_REVOKE };

static const struct argp_option options[] = {
	DAEMON_SETTING("state-dir", "DIR", "keys and state (made if need be)"),
	DAEMON_SETTING("listen", "ADDRESS",
		       "HOST:PORT or unix:PATH; may be given several times"),
	DAEMON_SETTING("pool", "A.B.C.D/N",
		       "addresses of capsules (10.99.0.0/16)"),
	DAEMON_SETTING(
		"policy", "NAME[:k=v,...]",
		"who runs where and when (spread); `stint policies` lists them"),
	DAEMON_SETTING("calendar", "FILE",
		       "when hosts are maintained: they are drained in time"),
	DAEMON_SETTING(
		"lost-after", "TIME",
		"give up the ranks of a host that is silent for so long (60s)"),
	DAEMON_SETTING("kill-grace", "TIME",
		       "between SIGTERM and SIGKILL (5s)"),
	DAEMON_SETTING("client-grace", "TIME",
		       "end a job whose `stint run` is gone for so long (30s)"),
	DAEMON_SETTING(
		"record", "LINES",
		"keep at least so many lines of what the policy was told and planned, "
		"for `stint record` and `stint why` (200000; 0: none)"),
	DAEMON_SETTING(
		"keep-output", "SIZE",
		"of what each job without a client prints, the last of it "
		"(1M)"),
	DAEMON_SETTING("accounts", "JOBS",
		       "keep those of the last so many for `stint history` "
		       "(100000)"),
	DAEMON_SETTING("accounts-for", "TIME",
		       "and those for so long after the job's end (0: any "
		       "time)"),
	DAEMON_SETTING("history", "JOBS",
		       "remember the last so many jobs that are over (1000)"),
	DAEMON_SETTING(
		"min-uid", "UID",
		"users below it run no jobs (UID_MIN of /etc/login.defs); 0: root "
		"does, too"),
	DAEMON_SETTING("admin-submits", "own|others",
		       "whose jobs an administrator's key may submit (own)"),
	DAEMON_SETTING("user-jobs", "N",
		       "jobs that are not over, of one user (1000)"),
	DAEMON_SETTING("user-ranks", "N",
		       "ranks of jobs that are not over, of one user (65536)"),
	DAEMON_SETTING("user-connections", "N",
		       "connections of one user (256)"),
	DAEMON_SETTING(
		"show-arguments", "own|all",
		"whose jobs' arguments and error texts users and logs are shown (own: "
		"administrators see all)"),
	{ "enrol", KEY_ENROL, "IDENTITY", 0,
	  "print the key of host/NAME, user/NAME or admin/NAME, made if there "
	  "is none, and exit; works while a controller runs",
	  0 },
	{ "keys", KEY_KEYS, 0, 0, "list who has a key, and exit", 0 },
	{ "revoke", KEY_REVOKE, "IDENTITY", 0,
	  "remove that key, and exit; a controller that runs ends its "
	  "connections at once",
	  0 },
	{ 0 }
};

struct args {
	struct daemon daemon;
	struct controller_conf conf;
	const char *enrol, *revoke;
	bool keys;
};

static error_t parse_controller(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = &a->daemon;
	else if (key == KEY_ENROL)
		a->enrol = arg;
	else if (key == KEY_REVOKE)
		a->revoke = arg;
	else if (key == KEY_KEYS)
		a->keys = true;
	else
		return daemon_setting(state, &a->daemon, options, key, arg);
	return 0;
}

static const struct argp argp = {
	options,
	parse_controller,
	0,
	"Serve a cluster: jobs, hosts, placement, moves.\v"
	"The state directory holds the keys of everybody who may connect "
	"(--enrol) and state.db.  It can be killed at any time and started "
	"again.",
	daemon_children,
	0,
	0
};

static int set(void *conf, const char *name, const char *value,
	       struct error *err)
{
	return controller_conf_set(conf, name, value, err);
}

/* `>key` makes a file that others can read, which Stint then refuses to use. */
static void keep_private(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_mode & 077)
		(void)!fchmod(fd, st.st_mode & 0700);
}

/*
 * A key for a user that does not exist would belong to any later user of that
 * name.
 */
static int check_known(const char *identity, struct error *err)
{
	struct identity id;
	const char *name;
	int r;

	if (role_of(identity, &name) != ROLE_USER)
		return 0;
	r = identity_by_name(name, &id, err);
	if (!r)
		identity_clear(&id);
	return r;
}

static int enrol(const char *path, const char *identity, struct error *err)
{
	char line[TLS_KEY_LINE];
	struct tls_key key;
	int r = check_known(identity, err);

	if (!r)
		r = keys_enrol(path, identity, &key, err);
	if (r < 0)
		return r;
	keep_private(STDOUT_FILENO);
	tls_key_format(&key, line, sizeof(line));
	return fputs(line, stdout) < 0 || fflush(stdout)
		       ? error_sys(err, -errno, "writing the key")
		       : 0;
}

static void print_identity(void *ctx, const struct tls_key *key)
{
	puts(key->identity);
}

/* What is asked of the file of keys instead of serving. */
static int with_keys(const struct args *a, struct error *err)
{
	const char *identity = a->enrol ? a->enrol : a->revoke;
	char *path;
	int r;

	if (!a->conf.state_dir)
		return error_set(err, -EINVAL,
				 "no state directory: give --state-dir=DIR");
	r = identity ? keys_check_identity(identity, err) : 0;
	if (r < 0)
		return r;
	if (a->enrol && mkdir(a->conf.state_dir, 0700) < 0 && errno != EEXIST)
		return error_sys(err, -errno, "%s", a->conf.state_dir);
	path = xasprintf("%s/keys", a->conf.state_dir);
	r = a->enrol ? enrol(path, a->enrol, err)
	    : access(path, F_OK) < 0
		    ? error_sys(err, -errno, "%s: nobody is enrolled there",
				path)
	    : a->revoke ? keys_revoke(path, a->revoke, err)
			: keys_each(path, print_identity, NULL, err);
	free(path);
	return r;
}

int cmd_controller(int argc, char **argv)
{
	struct args a = {
		.daemon = { .section = "controller", .set = set },
	};
	struct error err;
	int r;

	a.daemon.conf = &a.conf;
	controller_conf_init(&a.conf);
	command_parse(&argp, argc, argv, 0, &a);
	r = daemon_begin(&a.daemon, &err);
	if (!r)
		r = a.enrol || a.revoke || a.keys
			    ? with_keys(&a, &err)
			    : controller_run(&a.conf, a.daemon.ready_fd, &err);
	controller_conf_clear(&a.conf);
	return r < 0 ? command_fail("controller", command_code(r), &err)
		     : EXIT_OK;
}
