/*
 * capsule.h - what a rank lives in: namespaces, a cgroup, an address
 *
 * A capsule has its own user, pid, mount, ipc, uts, net, cgroup and time
 * namespace, and in them an init (pid 1), which is forked from the caller and
 * runs no program: it starts processes, reaps them and tells of their end.
 * Its keeper is the process that created it.  See doc/design/10-capsule.md.
 *
 * Invariants:
 *  - A struct capsule holds descriptors, not pids or names, so no call ever
 *    affects an unrelated process or link.
 *  - When the keeper dies, everything in the capsule ends.  A frozen copy
 *    executes no further instruction: processes are killed first and thawed
 *    after that.  Links go with them; directories and proxy entries that
 *    remain are removed by capsule_sweep(), which the agent calls at its
 *    start and after a keeper's death.
 *  - The only uid in the capsule is the submitter's.  "Capsule root" is that
 *    uid with all capabilities inside the namespaces, and none outside: init
 *    and landing helpers have it, programs never do.
 *  - At first the network is unplugged: capsule_plug() makes it reachable.
 *
 * Life cycle: capsule_create(), then either capsule_exec() (a fresh program)
 * or capsule_spawn() (a landing copy); plug; events until the rank has ended;
 * capsule_end(), where its end is to be told soon; capsule_destroy().
 *
 * A process forked from the keeper (an engine) may use its copy of the struct
 * for everything but capsule_next_event() and capsule_destroy(); requests of
 * several processes do not interfere.
 *
 * All calls: 0, or a negative errno and one line in *err; outputs are
 * untouched on failure.  None is thread-safe.  A capsule that an error of
 * capsule_create() left half-made is already removed.
 */
#ifndef CLUSTER_CAPSULE_CAPSULE_H
#define CLUSTER_CAPSULE_CAPSULE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "cluster/host/limit.h"
#include "core/error.h"

enum capsule_net {
	CAPSULE_NET_ROUTED, /* a /32 route here, proxy ARP on the uplink */
	CAPSULE_NET_BRIDGE, /* a port of a bridge that is on the LAN */
	CAPSULE_NET_NONE,   /* loopback only; what an agent without root has */
};

#define CAPSULE_PATIENCE 60000

struct capsule_spec {
	/*
	 * Names the capsule on this host: letters, digits, "._-", at most 48;
	 * by convention "JOB.RANK", or "JOB.RANK.EPOCH" while two may exist on
	 * one host.  -EEXIST when it is in use by a live keeper.
	 */
	const char *name;
	/* The agent's run directory; the capsule's is RUN_DIR/capsules/NAME. */
	const char *run_dir;

	uid_t uid; /* the submitter; must be the caller's own without root */
	gid_t gid;
	const gid_t *groups; /* supplementary; ignored without root */
	size_t nr_groups;

	const char *hostname; /* NULL: the name */
	const char *hosts;    /* more lines for /etc/hosts, or NULL */
	/*
	 * Paths below /tmp that must be seen inside as well (the capsule's
	 * /tmp is its own and empty): working directory, program.  NULL-ended
	 * array or NULL; those not below /tmp are ignored.
	 */
	const char *const *keep_tmp;
	/*
	 * A rank lands in it: links of keep_tmp that lead out of /tmp are part
	 * of the tree that comes with the rank.
	 */
	bool lands;

	/*
	 * Files of its user's are waited for no longer than this, in ms, while
	 * it is made and while a program starts (0: CAPSULE_PATIENCE): a file
	 * server may not answer, and nothing else is done meanwhile.
	 */
	int patience;

	enum capsule_net net;
	struct in_addr address; /* the virtual address, kept for life */
	unsigned prefix;	/* of the LAN; bridge mode only */
	uint8_t mac[6];		/* kept too; all 0: made from the address */
	unsigned mtu;		/* 0: as the uplink's */
	const char *uplink;	/* routed: the link towards other hosts, or
				   NULL for this host alone; bridge: the bridge */
	bool plugs; /* capsule_plug() follows at once, before anything runs */

	/*
	 * For all that runs in it together; creation fails if the host cannot
	 * enforce them.
	 */
	struct limits limits;
	unsigned cpu_weight; /* 1 ... 10000; 0: 100, an equal share */
	bool bound;	     /* by what the host's owner keeps (bounds.h) */

	/*
	 * What CLOCK_MONOTONIC and CLOCK_BOOTTIME show inside is the host's
	 * plus these, in ns; for a landing rank they are chosen so that its
	 * clocks do not jump back.
	 */
	int64_t monotonic_offset, boottime_offset;
};

/*
 * The capsule's private directories, initially empty but for keep_tmp.
 * NULL-ended, static.
 */
const char *const *capsule_own_dirs(const char *const *keep_tmp);

struct capsule;

/*
 * What capsules of this process and of those that it forks need alike, made
 * once: for a program that is to make, or fork who makes, many; again before each
 * fork, for what may have changed.  Without it, and where it fails (it takes root),
 * each capsule makes it for itself.  The caller has one thread.  True if something has
 * changed that those forked before still have as it was.
 */
bool capsule_prepare(void);
/*
 * Keep networks that capsules of processes forked from here can hand on to the next
 * (spare.c): a descriptor on which something comes to be served, or -errno; and what
 * those processes call first.
 */
int capsule_store_open(void) must_check;
void capsule_store_serve(void);
void capsule_store_leave(void);

/*
 * From now on network and groups of a capsule of this process are kept for its next,
 * where the next cannot tell that it has them (kept.c); give them up; and at the
 * process's end.
 */
void capsule_keep(const char *run_dir);
void capsule_keep_nothing(void);
void capsule_keep_end(void);

int capsule_create(const struct capsule_spec *spec, struct capsule **ret,
		   struct error *err) must_check;

/*
 * The first half of capsule_destroy(): kill what runs in it and give up its
 * address, in this order as seen from outside: nobody hears of the killed.
 * True when nothing runs in it any more, so that its end may be told; what takes
 * the kernel its time, links and groups, is left to capsule_destroy().  Nothing
 * but that may be called afterwards.
 */
bool capsule_end(struct capsule *c) must_check;
/*
 * Kill what runs in it and remove everything, without waiting for programs.
 * NULL is allowed.  Returns no error, as the caller could do nothing about it:
 * what cannot be removed now (a process in uninterruptible sleep) is left to
 * capsule_sweep().
 */
void capsule_destroy(struct capsule *c);

/*
 * Remove what dead capsules of this run directory left behind.  Capsules with a
 * living keeper are not touched.  Returns how many others could not be removed
 * yet, or -errno.
 */
int capsule_sweep(const char *run_dir, struct error *err) must_check;
/*
 * Kill all keepers of this run directory, also those that rest.  How many there were, or
 * -errno.
 */
int capsule_end_keepers(const char *run_dir, struct error *err) must_check;

/* ---- processes ---- */

struct capsule_fd {
	int fd; /* the caller's, and stays open */
	int as; /* its number in the program */
};

/* Made if need be, and appended to; see capsule/file.c. */
struct capsule_file {
	int as; /* its number in the program */
	const char *folder, *path;
};

enum { CAPSULE_RLIMITS = 16 };
struct capsule_rlimit {
	int resource;
	struct rlimit limit; /* as far as ours allows */
};

struct capsule_program {
	const char *const *argv; /* argv[0] is searched in PATH of env */
	const char *const *env;
	const char *cwd; /* NULL: "/"; refused if it cannot be entered */
	const struct capsule_fd *fds;
	size_t nr_fds;
	const struct capsule_file *files;
	size_t nr_files; /* at most 2 */
	const struct capsule_rlimit *limits;
	size_t nr_limits;
	unsigned umask; /* with 01000 added; 0: as it is */
	pid_t ns_pid;	/* pid inside; 0: the next free one. By convention 2 */
	bool own_group; /* a session and process group of its own */
};

#define CAPSULE_RANK_PID 2

/*
 * Start a program: as the submitter, no capability, no_new_privs, address
 * space not randomized, default signal dispositions, no signal blocked.
 * Returns when execve() has succeeded (or its error); -E2BIG for more arguments
 * and environment than any program can have (cluster/host/arguments.h); -ETIMEDOUT
 * where it has not come to that within the spec's patience, and may yet: the
 * capsule is of no more use.  *ret: its pid here.
 */
int capsule_exec(struct capsule *c, const struct capsule_program *prog,
		 pid_t *ret, struct error *err) must_check;
/* After it has failed: is it certain that no instruction of the program has run? */
bool capsule_not_begun(const struct capsule *c);

/*
 * Fork a landing helper from init: it runs entry(arg, n, fds, nr_fds) as
 * capsule root, where arg is a copy of those n bytes and fds[] are copies of
 * the given descriptors at numbers of the kernel's choice; what entry returns
 * is its exit status.  entry must be a function of this very program.  All
 * children of the helper that it makes with CLONE_PARENT are init's, and
 * reported by capsule_next_event().  The helper's pid inside is high, so that
 * it does not collide with the pids of a landing process.
 */
typedef int capsule_entry(const void *arg, size_t n, const int *fds,
			  size_t nr_fds);
int capsule_spawn(struct capsule *c, capsule_entry *entry, const void *arg,
		  size_t n, const int *fds, size_t nr_fds, pid_t *ret,
		  struct error *err) must_check;

/* Send a signal to a process by its pid inside; 0: to all but init. */
int capsule_kill(struct capsule *c, pid_t ns_pid, int sig,
		 struct error *err) must_check;

struct capsule_event {
	enum {
		CAPSULE_EXIT, /* a child of init has ended */
		CAPSULE_GONE, /* init itself has ended: nothing runs any more */
	} what;
	pid_t ns_pid; /* inside */
	int status;   /* as of waitpid() */
	struct rusage usage;
	int64_t at; /* this host's CLOCK_REALTIME, in microseconds */
};

/* Readable when capsule_next_event() has an event. */
int capsule_event_fd(const struct capsule *c);
/* 1 and *ret, 0 when there is nothing now, or -errno.  Never blocks. */
int capsule_next_event(struct capsule *c, struct capsule_event *ret);

/* ---- network ---- */

/*
 * Disconnect silently: once it returns, packets from peers and from the capsule
 * are dropped, without any ICMP error or reset.  Takes some microseconds.
 * Packets already being processed on another CPU may still be delivered (for
 * some 100 microseconds), so callers read TCP state until it is stable.
 */
int capsule_unplug(struct capsule *c, struct error *err) must_check;
/* Reachable here; announced to the LAN by gratuitous ARP.  Idempotent. */
int capsule_plug(struct capsule *c, struct error *err) must_check;
/*
 * After a commit: this host gives up the address, so that peers on this host
 * also reach its new place.  Included in capsule_destroy().
 */
int capsule_yield(struct capsule *c, struct error *err) must_check;

/*
 * Let TCP between the capsule and other hosts bypass this host's forwarding
 * (net/fast_path.h) unless something on the host inspects forwarded packets.
 * Call it when the capsule is plugged for the first time, which takes some 10
 * ms, and then every second, as that may change.  seen: a recent result of
 * net_hooks_look() for the same uplink, or NULL to look now, which is slow with
 * many BPF links.  Returns 1: it does; 0: not now, with the reason; negative:
 * never, with the reason (-ENODEV: no network).
 */
struct net_hooks;
int capsule_fast_path(struct capsule *c, const struct net_hooks *seen,
		      struct error *why) must_check;

/* ---- standing still ---- */

/*
 * Freeze everything but init, and wait until it is frozen.  Outlives the caller
 * (the cgroup freezer; SIGSTOP where there is none: capsule_freezer()).
 * Processes stopped by ptrace count as frozen, and stay frozen when their
 * tracer dies.
 */
int capsule_freeze(struct capsule *c, struct error *err) must_check;
int capsule_thaw(struct capsule *c, struct error *err) must_check;
/*
 * Where the host's owner goes before guests (core/claim.h): let threads that were
 * stirred get a processor, so that they stop (on), or put all behind others again.
 */
void capsule_stir(struct capsule *c, bool on);
/* All in it was killed, or is about to be: its end does not wait for the owner's work. */
void capsule_hasten(struct capsule *c);
/* "v1", "v2" or "signals", for messages. */
const char *capsule_freezer(const struct capsule *c);

/* ---- limits ---- */

/*
 * Raise the limits a little for the processes that take part in a move (move), and
 * let these be quick; or lower them again.  Where a rank lands they are raised from
 * capsule_create() on.  -EBUSY when the rank uses so much that they cannot be lowered.
 */
int capsule_ease(struct capsule *c, bool move, struct error *err) must_check;
/* How often its limits were hit so far. */
void capsule_met(const struct capsule *c, struct limits_met *ret);

/* ---- looking at it ---- */

pid_t capsule_init_pid(const struct capsule *c); /* as seen by the caller */

#endif
