/*
 * move.h - move one running process to another host
 *
 * A move has two ends.  move_send() runs where the process is and must be able
 * to ptrace it; move_receive() runs at the destination.  They talk over one
 * channel. What surrounds the process (its network, the freezer that outlives
 * an engine, the durable record, the far ends of its stdio) is reached through
 * the two ops tables, so the engine knows nothing of jobs, capsules or
 * clusters.  Ops may be NULL where they are not needed.
 *
 * Invariants
 *   - At most one copy can run at any instant, whichever process dies at
 *     whatever time.
 *   - Nothing is changed at either end before both have agreed that the process
 *     can be moved; a refusal has a reason.
 *   - Until the source has recorded the commit, the process can go on at the
 *     source, and does when anything fails.  From then on only the
 *     destination's copy may run.
 *
 * Both functions block until the move is over, and say in report->outcome
 * how it ended; run each in a process of its own.  It may be killed at any
 * time, and is killed if it hangs while the moved process is frozen
 * (proc/watch.h).
 *
 * A move in short (examples/moveone.c is one, in a page of code)
 *   - The destination makes an init in a new pid namespace, in which the
 *     process keeps its pid; then move_prepare_socket(), listen, accept,
 *     channel_tls_server(), move_receive().  When its spawn() is called, init
 *     forks a child that calls move_land().
 *   - The source: move_prepare_socket(), connect, channel_tls_client(),
 *     move_send().
 *   - After MOVE_DONE the process is a child of that init, which waits for it.
 *     At the source it has been killed, and is its parent's to reap.
 *
 * Needs
 *   - x86-64 Linux, the same or another kernel at the other end; from 6.7 on
 *     for a short downtime.  The destination's CPU must have all features of
 *     the source's.
 *   - Root at both ends, or all capabilities in the user namespace that the
 *     process and its other namespaces belong to.
 *   - Files of the same paths and content at both ends.
 * What cannot be moved is refused with a message that names it; stint-move(1)
 * has the list.
 *
 * Linked as `pkg-config --cflags --libs stint-move` says; within Stint as
 * move_dep.  Times are in microseconds (usec_t); descriptors stay the caller's
 * unless stated otherwise; strings and arrays are only borrowed.
 */
#ifndef MOVE_MOVE_H
#define MOVE_MOVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/channel.h"
#include "core/error.h"
#include "core/units.h"

/*
 * A descriptor of the process whose other end is held outside its capsule:
 * stdio pipes, the PMI socket.  Known by (dev, ino) of the process's end; at
 * the destination move_dest_ops.external() supplies a new one of that name.
 * Bytes that the process has not read yet move with it; bytes that it wrote and
 * the source's keeper has not read stay with the source's keeper.
 */
struct move_external {
	char name[16]; /* "stdin", "stdout", "stderr", "pmi" */
	dev_t dev;
	ino_t ino;
};

enum move_outcome {
	/*
	 * Source: refused or given up, the process runs on here.
	 * Destination: nothing is left here.
	 */
	MOVE_ABORTED,
	/* Source: it runs there, and is gone here.  Destination: it runs. */
	MOVE_DONE,
	/*
	 * The link was lost between the record and RUNNING.  Source: its copy
	 * is held frozen and must not be thawed; once it is known that the
	 * destination runs, kill it.  Destination: its copy waits; find out
	 * from the source or its record whether it has committed, then
	 * move_release() or kill it.
	 */
	MOVE_UNDECIDED,
};

struct move_source_ops {
	/*
	 * All threads are stopped.  Disconnect the capsule's network: nothing
	 * may arrive or leave, and peers must see silence, not errors.
	 */
	int (*unplug)(void *ctx, struct error *err);
	/* Given up: undo unplug. */
	int (*replug)(void *ctx, struct error *err);
	/*
	 * Freeze (on) or thaw the capsule with something that outlives this
	 * process, such as the cgroup freezer.  NULL: SIGSTOP and SIGCONT.
	 */
	int (*hold)(void *ctx, bool on, struct error *err);
	/*
	 * The process is frozen (on), or continues: other processes that take
	 * part may be given real-time priority. Without this op the moved
	 * process's threads do not get it, since nothing would end it if the
	 * engine died; with it, a process that outlives the engine must call
	 * move_calm().
	 */
	void (*hurry)(void *ctx, bool on);
	/*
	 * Its threads are to stop (on), or run on: the group they are in may be let run
	 * as any other meanwhile, as nobody stops who is never scheduled.  NULL: there
	 * is nothing to do.
	 */
	void (*stir)(void *ctx, bool on);
	/* The keeper's own state of the rank (PMI, stdio); malloc'd. */
	int (*save)(void *ctx, void **ret, size_t *ret_n, struct error *err);
	/*
	 * Record durably: this epoch now belongs to the destination.  On
	 * failure it must be certain that nothing was recorded.
	 */
	int (*commit)(void *ctx, uint64_t epoch, struct error *err);
};

struct move_dest_ops {
	/*
	 * Have the new capsule's init fork a child that does
	 *	_exit(move_land(arg, n, fds, nr_fds))
	 * with copies of these descriptors.  n <= MOVE_LAND_ARG.  Init keeps
	 * fds[0]: with it, move_release() works when this process is dead.
	 */
	int (*spawn)(void *ctx, const void *arg, size_t n, const int *fds,
		     size_t nr_fds, struct error *err);
	/*
	 * The process's end of a new external of that name, which the engine
	 * closes; -ENOENT when there is none.  *ret_far becomes a duplicate of
	 * the other end, also the engine's, through which it puts back what
	 * the process had not read at the source; -1 if it is not available;
	 * then only a pipe can get its bytes.  Nobody else may write to the far
	 * end until the process runs.
	 */
	int (*external)(void *ctx, const char *name, int *ret_far,
			struct error *err);
	/* As move_source_ops.hurry(). */
	void (*hurry)(void *ctx, bool on);
	/* What move_source_ops.save() gave. */
	int (*load)(void *ctx, const void *p, size_t n, struct error *err);
	/* Make the capsule's address reachable here, and announce it. */
	int (*plug)(void *ctx, struct error *err);
	/*
	 * The copy is complete and waits: READY is about to be sent.  From here
	 * on it must be kept even if this process dies.  ns_pid is its pid in
	 * the capsule.
	 */
	int (*landed)(void *ctx, uint64_t epoch, pid_t ns_pid,
		      struct error *err);
	/* COMMIT has come: record it, the copy is about to be released. */
	int (*committed)(void *ctx, uint64_t epoch, struct error *err);
};

#define MOVE_LAND_ARG 256

/* What happened, for people and benchmarks; times in microseconds. */
struct move_report {
	enum move_outcome outcome;
	pid_t pid; /* destination: the process, as seen from here */
	unsigned rounds, threads;
	uint64_t pages_sent; /* pages of 4096 bytes, repetitions included */
	uint64_t pages_last; /* of these, sent while it stood still */
	uint64_t bytes_held; /* memory of the process */
	/*
	 * Destination: it runs, but not all of its connections could be
	 * activated; the err of move_receive() says what went wrong.
	 */
	bool flawed;
	bool tracked; /* pre-copy; false: stop-and-copy */
	/*
	 * Freezes that were undone because of a passing obstacle (a short-lived
	 * child, a file that was just deleted), and how long the process was
	 * stopped in all of them.  Not part of downtime.
	 */
	unsigned retries;
	usec_t stalled;
	/*
	 * How long it was stopped before any freeze, to be able to track it:
	 * its main thread for the landing area, all threads for new mappings.
	 * Not part of downtime either.
	 */
	usec_t paused;
	usec_t total;	  /* from HELLO to RUNNING */
	usec_t downtime;  /* source: freeze, or the stop for a deadline, to
			     RUNNING received */
	usec_t predicted; /* what the downtime was expected to be */
	/*
	 * Of its memory: bytes that it wrote while it ran in pre-copy, a page that was
	 * written twice between two looks once; and how long that was.  0: not seen.
	 */
	uint64_t written;
	usec_t written_in;
	/* The parts of the downtime, in this order. */
	usec_t freeze;	/* all threads stopped */
	usec_t last;	/* last dirty pages found and sent */
	usec_t capture; /* registers, signals, timers, descriptors */
	usec_t restore; /* until READY */
	usec_t commit;	/* record, COMMIT, RUNNING */
};

struct move_source {
	pid_t pid;	/* as seen from here */
	uint64_t epoch; /* never used before for this process */
	usec_t budget;	/* longest downtime wanted; 0: as short as possible */
	/* If the budget cannot be met: slow the process down. */
	bool throttle;
	/*
	 * It should have left so long after the call; 0: no matter.  As soon as it
	 * would not, it stands still while the rest is sent: that host is free
	 * sooner, and the downtime longer.  Not together with a budget.
	 */
	usec_t deadline;
	const struct move_external *external;
	size_t nr_externals;
	/*
	 * Directories that only the process sees, such as its capsule's /tmp:
	 * their content moves along (except devices and mounts; at most 1 GiB
	 * and 16384 names).  NULL-ended, or NULL.
	 */
	const char *const *trees;
	const struct move_source_ops *ops;
	void *ctx;
	/* Called with one line of news a round; NULL: silence. */
	void (*progress)(void *ctx, const char *line);
	/*
	 * Called in another process if the engine dies before it returns: what
	 * is known of the outcome, and why.  NULL: the caller finds out itself.
	 */
	void (*ended)(void *ctx, enum move_outcome outcome, const char *why);
};

struct move_dest {
	const char *root; /* of the capsule, "/proc/PID/root"; NULL: "/" */
	/* Its own directories, empty still, as in struct move_source. */
	const char *const *trees;
	const struct move_dest_ops *ops;
	void *ctx;
	/* As in struct move_source, once something lands. */
	void (*ended)(void *ctx, enum move_outcome outcome, const char *why);
};

/*
 * Prepare a TCP socket for a move, before connect() or listen(): use loss-based
 * congestion control, whatever the host's default is. BBR slows a stream down
 * to a tenth when its ends wait for a processor, and a connection that began
 * with it stays paced by timers (0.3 of the 1.1 s of CPU time that sending 1 GB
 * took).
 */
void move_prepare_socket(int fd);

/*
 * Both own ch from now on.  0 when outcome is MOVE_DONE, otherwise a negative
 * errno with the reason in err.  -EINVAL and the like before the freeze;
 * -EDQUOT: over budget; -ENOTSUP: the process has something that cannot be
 * moved; -ESRCH: it has exited; -ECANCELED: the other side refused.
 */
int move_send(const struct move_source *src, struct channel *ch,
	      struct move_report *ret, struct error *err) must_check;
int move_receive(const struct move_dest *dst, struct channel *ch,
		 struct move_report *ret, struct error *err) must_check;

/* What a child of the capsule's init runs, see move_dest_ops.spawn. */
int move_land(const void *arg, size_t n, const int *fds, size_t nr_fds);

/*
 * Let a landed copy run; fd is the fds[0] of spawn.  Called when the engine has
 * died and it is known that the source has committed.  May be repeated.
 */
int move_release(int fd, struct error *err) must_check;

/*
 * End what hurry() and stir() ops did to pid's threads, after the source's engine has
 * died.
 */
void move_calm(pid_t pid);

/*
 * After the source's engine has died at an unknown point before the record:
 * undo what it left half done in the process (TCP_REPAIR).  pidfd refers to
 * pid.  Harmless at any other time before the record.
 */
int move_heal(pid_t pid, int pidfd, struct error *err) must_check;

/* The pid that a process has in its own pid namespace; -1: it is gone. */
pid_t move_pid_inside(pid_t pid);

/*
 * Does the data arriving at fd begin like a source's?  Waits at most `patience`
 * and consumes nothing; for a listener, before move_receive().
 */
int move_peek(int fd, usec_t patience, struct error *err) must_check;

/*
 * Can it be moved at all?  0, or the reason why not.  The process is stopped
 * for less than a millisecond, for what only it can find out, and continues.
 */
int move_check(pid_t pid, const struct move_external *external,
	       size_t nr_externals, struct error *err) must_check;

#endif
