/*
 * birth.c - from a keeper to a keeper with an init
 *
 * Init is cloned with its user and pid namespace, and enters the groups by doors
 * that the keeper has opened.  Then the keeper maps the submitter's ids, and init
 * sets the clocks and becomes the submitter.  A time namespace takes its offsets
 * before the first process is in it, so where there are any init makes one for its
 * children and enters it, too.
 *
 * It does not send SIGCHLD, nor shows up in a waitpid() that does not ask for
 * clone children.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cluster/capsule/priv.h"
#include "cluster/host/process.h"
#include "core/claim.h"
#include "core/io.h"
#include "core/packet.h"
#include "core/units.h"
#include "net/net.h"

/* ---- the clocks ---- */

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

static int write_offsets(const struct capsule_spec *spec)
{
	char text[160];
	size_t n;

	put_offset(text, sizeof(text), "monotonic", spec->monotonic_offset);
	n = strlen(text);
	put_offset(text + n, sizeof(text) - n, "boottime",
		   spec->boottime_offset);
	return io_write_file(AT_FDCWD, "/proc/self/timens_offsets", text);
}

static int set_clocks(const struct capsule_spec *spec, struct error *err)
{
	fd_auto ns = -1;
	int r;

	if (unshare(CLONE_NEWTIME) < 0)
		return error_sys(err, -errno, "cannot make a time namespace");
	r = write_offsets(spec);
	if (r < 0)
		return error_sys(err, r, "cannot set the capsule's clocks");
	ns = open("/proc/self/ns/time_for_children", O_RDONLY | O_CLOEXEC);
	if (ns < 0 || setns(ns, CLONE_NEWTIME) < 0)
		return error_sys(err, -errno, "cannot enter a time namespace");
	return 0;
}

/* ---- where network namespaces are made ---- */

/* Of this program and what it forks; -1: each init makes one of its own. */
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

static void make_cradle(void)
{
	fd_auto home = open_own_netns();

	if (home < 0 || enter_new_cradle() < 0)
		return;
	cradle = open_own_netns();
	if (setns(home, CLONE_NEWNET) < 0)
		abort(); /* whoever calls cannot go on in there */
}

bool capsule_prepare(void)
{
	char boot[PROCESS_BOOT_LEN];
	bool changed;

	(void)!process_boot_id(boot, NULL); /* which it keeps */
	/* What comes to be later cannot be hidden from who is there by then. */
	(void)!mkdir(CAPSULE_SESSIONS, 0755);
	changed = cgroup_know_mounts();
	link_prepare();
	if (cradle < 0)
		make_cradle();
	return changed;
}

/* A network that nobody has used, as init would make it ready. */
static int make_netns(void *arg, struct error *err)
{
	int *ret = arg;
	int fd;

	if (unshare(CLONE_NEWNET) < 0 || (fd = open_own_netns()) < 0)
		return error_sys(err, -errno,
				 "cannot make a network namespace");
	*ret = fd;
	return link_init_inside(err);
}

int birth_netns(int *ret, struct error *err)
{
	return net_visit(cradle, make_netns, ret, err);
}

bool birth_has_cradle(void)
{
	return cradle >= 0;
}

/*
 * Only the submitter's ids exist here, and that of an init that lasts.  Capabilities are kept, since a process
 * that was not uid 0 of this user namespace loses none by setuid().
 */
static int become(const struct capsule_spec *spec, uid_t uid, struct error *err)
{
	/* Where the submitter is root itself, one would. */
	if (uid != spec->uid &&
	    prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) < 0)
		return error_sys(err, -errno, "cannot keep capabilities");
	/* Without root, setgroups() is forbidden, and nothing changes. */
	if (setgroups(spec->nr_groups, spec->groups) < 0 && errno != EPERM)
		return error_sys(err, -errno, "cannot set the groups");
	if (setresgid(spec->gid, spec->gid, spec->gid) < 0 ||
	    setresuid(uid, uid, uid) < 0)
		return error_sys(err, -errno, "cannot become user %u", uid);
	return 0;
}

/* ---- init, before it is one ---- */

struct birth {
	const struct capsule *c;
	const struct capsule_spec *spec;
	struct init_args *init;
	bool has_clocks; /* it is cloned with its time namespace */
	pid_t pid;
	int pidfd;
};

static int await_ids(int ctl, struct error *err)
{
	char go;
	int r = packet_receive(ctl, &go, 1, NULL, NULL, 0);

	return r < 0 ? error_sys(err, r, "the keeper died") : 0;
}

/* Those that take the groups, or a cradle, from the process that makes them. */
static int make_late_namespaces(bool lasting, struct error *err)
{
	/* What lasts is in no groups of the capsule's; programs make theirs. */
	int flags = lasting ? 0 : CLONE_NEWCGROUP;

	if (cradle < 0) {
		int r = enter_new_cradle();

		if (r < 0)
			return error_sys(err, r,
					 "cannot make a network namespace");
		flags |= CLONE_NEWNET;
	}
	return flags && unshare(flags) < 0
		       ? error_sys(err, -errno, "cannot make namespaces")
		       : 0;
}

static _Noreturn void newborn_main(const struct birth *b)
{
	struct answer word = { 0 };
	bool lasting = b->init->lasting;

	/* The keeper's may be higher while it works for a guest's leaving (agent/movers.h). */
	claim_leave_step(0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* It must hear if the keeper was dead by then. */
	close(b->c->ctl);
	close(b->c->events);
	/* First of all, so that what it does counts there. */
	word.code = lasting ? cgroup_enter_joined(b->init->cg, &word.error)
			    : cgroup_enter(b->init->cg, &word.error);
	if (word.code < 0 || (word.code = ids_leave_keys(&word.error)) < 0 ||
	    (word.code = await_ids(b->init->ctl, &word.error)) < 0 ||
	    (!b->has_clocks &&
	     (word.code = set_clocks(b->spec, &word.error)) < 0) ||
	    (word.code = make_late_namespaces(lasting, &word.error)) < 0 ||
	    (word.code = become(b->spec, lasting ? LASTING_UID : b->spec->uid,
				&word.error)) < 0) {
		(void)!packet_send(b->init->ctl, &word, sizeof(word), NULL, 0);
		_exit(1);
	}
	/* Without this the process's files in /proc would belong to root. */
	if (!lasting)
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	init_main(b->init);
}

/* ---- the keeper's part of the birth ---- */

static pid_t clone_with(struct birth *b, uint64_t more)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD | CLONE_NEWUSER | CLONE_NEWPID |
			 CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | more,
		.pidfd = (uintptr_t)&b->pidfd,
	};
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	if (!pid)
		newborn_main(b);
	return pid;
}

/* No exit signal.  Kernels before 6.3 do not take a time namespace here. */
static int clone_init(struct birth *b, uint64_t network, struct error *err)
{
	b->has_clocks = !b->spec->monotonic_offset && !b->spec->boottime_offset;
	b->pid = clone_with(b, network | (b->has_clocks ? CLONE_NEWTIME : 0));
	if (b->pid < 0 && errno == EINVAL && b->has_clocks) {
		b->has_clocks = false;
		b->pid = clone_with(b, network);
	}
	return b->pid < 0 ? error_sys(err, -errno, "cannot make namespaces")
			  : 0;
}

static int clone_in_cradle(void *arg, struct error *err)
{
	return clone_init(arg, CLONE_NEWNET, err);
}

/* Only whoever owns a network may mount its sysfs, and init does not. */
static int clone_in_spare(void *arg, struct error *err)
{
	struct birth *b = arg;
	int r = mount_sysfs(&b->init->sysfs, err);

	return r < 0 ? r : clone_init(b, 0, err);
}

static int clone_somewhere(struct birth *b, struct error *err)
{
	int spare = b->c->link.spare.netns;

	if (spare >= 0)
		return net_visit(spare, clone_in_spare, b, err);
	return cradle >= 0 ? net_visit(cradle, clone_in_cradle, b, err)
			   : clone_init(b, 0, err);
}

static int give(struct capsule *c, const struct capsule_spec *spec,
		struct init_args *init, struct error *err)
{
	struct birth b = { .c = c, .spec = spec, .init = init };
	int r = c->cg.nr_doors ? 0 : cgroup_open_doors(&c->cg, err);

	if (!r)
		r = clone_somewhere(&b, err);
	io_close(&init->sysfs);
	if (r < 0)
		return r;
	c->init_pid = b.pid;
	c->init = b.pidfd;
	r = ids_map(b.pid, spec, init->lasting, err);
	/* If it has died, it has said why, which is heard next. */
	if (!r)
		(void)!packet_send(c->ctl, "g", 1, NULL, 0);
	return r;
}

/* Let init be born; it sets up the capsule's inside and answers. */
int birth_init(struct capsule *c, const struct capsule_spec *spec,
	       struct error *err)
{
	fd_auto self = pidfd_open(getpid(), 0);
	int ctl[2], events[2], r;
	struct init_args init = {
		.spec = spec,
		.keeper = self,
		.cg = &c->cg,
		.in_spare = c->link.spare.netns >= 0,
		.lasting = c->lasting,
		.sysfs = -1,
	};

	if (self < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ctl) < 0)
		return error_sys(err, -errno, "cannot make a socket pair");
	c->ctl = ctl[0];
	init.ctl = ctl[1];
	r = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, events);
	if (r < 0) {
		close(init.ctl);
		return error_sys(err, -errno, "cannot make a socket pair");
	}
	c->events = events[0];
	init.events = events[1];
	r = give(c, spec, &init, err);
	close(init.ctl);
	close(init.events);
	if (!r) /* All that is started in the capsule is init's child. */
		process_spare_no_more(c->init_pid);
	return r;
}

/* The next of its two words (init_main()). */
int birth_hear(const struct capsule *c, struct error *err)
{
	struct answer answer;
	int r = request_await(c->ctl, c->patience, err);

	if (r < 0)
		return error_prefix(err, r, "the capsule is not made");
	r = packet_receive(c->ctl, &answer, sizeof(answer), NULL, NULL, 0);
	if (r < 0)
		return error_sys(err, r,
				 "the capsule's init died while starting");
	if (answer.code < 0 && err)
		*err = answer.error;
	return answer.code;
}
