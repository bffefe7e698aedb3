/*
 * birth.c - from a keeper to a keeper with an init
 *
 * Birth takes two steps, because a time namespace takes its offsets before the
 * first process is in it, and because the maps of a user namespace are written
 * from outside.  The midwife enters the cgroups, makes the user namespace, waits
 * for the keeper to map the submitter's ids, sets the clocks, and clones init as
 * the keeper's own child; then it is gone.  Neither sends SIGCHLD, nor shows up
 * in a waitpid() that does not ask for clone children.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/capsule/priv.h"
#include "core/io.h"
#include "core/packet.h"
#include "core/units.h"
#include "net/net.h"

/* ---- the midwife ---- */

struct birth {
	const struct capsule_spec *spec;
	const struct init_args *init;
	int sync; /* SOCK_SEQPACKET to the keeper */
};

static void put_offset(char *buf, size_t n, const char *clock, int64_t ns)
{
	int64_t s = ns / NSEC_PER_SEC, rest = ns % NSEC_PER_SEC;

	if (rest < 0) {
		s--;
		rest += NSEC_PER_SEC;
	}
	snprintf(buf, n, "%s %lld %lld\n", clock, (long long)s,
		 (long long)rest);
}

/* Also makes the pid namespace; both namespaces apply to children only. */
static int set_clocks(const struct capsule_spec *spec, struct error *err)
{
	char text[160];
	size_t n;
	int r;

	if (unshare(CLONE_NEWPID | CLONE_NEWTIME) < 0)
		return error_sys(err, -errno,
				 "cannot make pid and time namespaces");
	put_offset(text, sizeof(text), "monotonic", spec->monotonic_offset);
	n = strlen(text);
	put_offset(text + n, sizeof(text) - n, "boottime",
		   spec->boottime_offset);
	r = io_write_file(AT_FDCWD, "/proc/self/timens_offsets", text);
	return r < 0 ? error_sys(err, r, "cannot set the capsule's clocks") : 0;
}

/* ---- where network namespaces are made ---- */

/* Of this program and what it forks; -1: each midwife makes one of its own. */
static int cradle = -1;

/*
 * A network namespace takes the size of its table of connections from the one
 * it is made in.  Without its own it shares the host's, of 2^18 buckets and
 * more, and each look for the capsule's connections, two in a freeze, walks
 * them all: half a millisecond a time.  Kernels before 6.1 have no such
 * setting.
 */
static int enter_new_cradle(void)
{
	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	(void)!net_sysctl("tcp_child_ehash_entries", "4096");
	return 0;
}

static int open_own_netns(void)
{
	return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
}

void capsule_prepare(void)
{
	fd_auto home = open_own_netns();

	if (cradle >= 0 || home < 0 || enter_new_cradle() < 0)
		return;
	cradle = open_own_netns();
	if (setns(home, CLONE_NEWNET) < 0)
		abort(); /* whoever calls cannot go on in there */
}

/* Before its user namespace, since the cradle is the host's. */
static int enter_cradle(struct error *err)
{
	return cradle >= 0 && setns(cradle, CLONE_NEWNET) < 0
		       ? error_sys(err, -errno,
				   "cannot enter a network namespace")
		       : 0;
}

static int need_cradle(struct error *err)
{
	int r = cradle >= 0 ? 0 : enter_new_cradle();

	return r < 0 ? error_sys(err, r, "cannot make a network namespace") : 0;
}

/*
 * Only the submitter's ids exist here.  Capabilities are kept, since a process
 * that was not uid 0 of this user namespace loses none by setuid().
 */
static int become_submitter(const struct capsule_spec *spec, struct error *err)
{
	/* Without root, setgroups() is forbidden, and nothing changes. */
	if (setgroups(spec->nr_groups, spec->groups) < 0 && errno != EPERM)
		return error_sys(err, -errno, "cannot set the groups");
	if (setresgid(spec->gid, spec->gid, spec->gid) < 0 ||
	    setresuid(spec->uid, spec->uid, spec->uid) < 0)
		return error_sys(err, -errno, "cannot become user %u",
				 spec->uid);
	return 0;
}

static pid_t clone_init(void)
{
	struct clone_args args = {
		.flags = CLONE_PARENT | CLONE_NEWNS | CLONE_NEWIPC |
			 CLONE_NEWUTS | CLONE_NEWNET | CLONE_NEWCGROUP,
	};

	return syscall(SYS_clone3, &args, sizeof(args));
}

struct newborn {
	int code; /* or -errno */
	pid_t pid;
	struct error error;
};

static _Noreturn void midwife_main(const struct birth *b)
{
	struct newborn word = { 0 };
	char go;
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* Groups first, as long as it may do what the keeper may. */
	word.code = cgroup_enter(b->init->cg, &word.error);
	if (!word.code)
		word.code = enter_cradle(&word.error);
	if (!word.code && unshare(CLONE_NEWUSER) < 0)
		word.code = error_sys(&word.error, -errno,
				      "cannot make a user namespace");
	/* The first word: ready to be mapped; the second: what was born. */
	if (packet_send(b->sync, &word, sizeof(word), NULL, 0) < 0 ||
	    word.code < 0 || read(b->sync, &go, 1) != 1)
		_exit(1);
	if (!(word.code = set_clocks(b->spec, &word.error)) &&
	    !(word.code = need_cradle(&word.error)))
		word.code = become_submitter(b->spec, &word.error);
	if (!word.code) {
		/*
		 * Without this the process's files in /proc would belong to
		 * root.
		 */
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		pid = clone_init();
		if (!pid)
			init_main(b->init);
		word.pid = pid;
		if (pid < 0)
			word.code = error_sys(&word.error, -errno,
					      "cannot make namespaces");
	}
	(void)!packet_send(b->sync, &word, sizeof(word), NULL, 0);
	_exit(0);
}

/* ---- the keeper's part of the birth ---- */

static int write_proc(pid_t pid, const char *file, const char *text,
		      struct error *err)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	r = io_write_file(AT_FDCWD, path, text);
	return r < 0 ? error_sys(err, r, "cannot write %s", path) : 0;
}

static bool has_gid(const struct capsule_spec *spec, size_t n, gid_t gid)
{
	for (size_t i = 0; i < n; i++)
		if (spec->groups[i] == gid)
			return true;
	return gid == spec->gid;
}

static int map_ids(pid_t pid, const struct capsule_spec *spec,
		   struct error *err)
{
	char text[4096];
	size_t n;
	int r;

	snprintf(text, sizeof(text), "%u %u 1\n", spec->uid, spec->uid);
	r = write_proc(pid, "uid_map", text, err);
	if (!r && geteuid())
		r = write_proc(pid, "setgroups", "deny", err);
	n = snprintf(text, sizeof(text), "%u %u 1\n", spec->gid, spec->gid);
	for (size_t i = 0; !r && !geteuid() && i < spec->nr_groups; i++) {
		if (has_gid(spec, i, spec->groups[i]))
			continue;
		if (n >= sizeof(text) - 32)
			return error_set(err, -E2BIG,
					 "a user in %zu groups: more than a "
					 "user namespace has room for",
					 spec->nr_groups);
		n += snprintf(text + n, sizeof(text) - n, "%u %u 1\n",
			      spec->groups[i], spec->groups[i]);
	}
	return r < 0 ? r : write_proc(pid, "gid_map", text, err);
}

/* What the other end says, or why it cannot say anything. */
static int hear(int sock, struct newborn *word, struct error *err)
{
	int r = packet_receive(sock, word, sizeof(*word), NULL, NULL, 0);

	if (r < 0)
		return error_sys(err, r,
				 "the process that creates a capsule died");
	if (word->code < 0 && err)
		*err = word->error;
	return word->code;
}

static int guide_birth(struct capsule *c, const struct capsule_spec *spec,
		       int sync, pid_t midwife, struct error *err)
{
	struct newborn word;
	int r;

	if ((r = hear(sync, &word, err)) < 0 ||
	    (r = map_ids(midwife, spec, err)) < 0)
		return r;
	r = io_write_full(sync, "g", 1);
	if (r < 0)
		return error_sys(err, r,
				 "the process that creates a capsule died");
	if ((r = hear(sync, &word, err)) < 0)
		return r;
	c->init_pid = word.pid;
	/* It is our child and not yet waited for: the pid is no stranger's. */
	c->init = pidfd_open(word.pid, 0);
	return c->init < 0 ? error_sys(err, -errno, "cannot hold init") : 0;
}

static pid_t fork_midwife(void)
{
	struct clone_args args = { 0 }; /* no exit signal */

	return syscall(SYS_clone3, &args, sizeof(args));
}

int birth_give(struct capsule *c, const struct capsule_spec *spec,
	       const struct init_args *init, struct error *err)
{
	struct birth b = { .spec = spec, .init = init };
	int pair[2], r;
	pid_t midwife;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, -errno, "cannot make a socket pair");
	b.sync = pair[1];
	midwife = fork_midwife();
	if (!midwife) {
		close(pair[0]);
		midwife_main(&b);
	}
	r = midwife < 0 ? error_sys(err, -errno, "cannot fork") : 0;
	close(pair[1]);
	if (!r)
		r = guide_birth(c, spec, pair[0], midwife, err);
	close(pair[0]);
	while (midwife > 0 && waitpid(midwife, NULL, __WALL) < 0 &&
	       errno == EINTR)
		;
	return r;
}
