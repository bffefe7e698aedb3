/*
 * fds.h - capture and restore all file descriptors of one process
 *
 * Known to the engine alone.  The source side looks at the process from
 * outside (pidfd_getfd, /proc, kcmp, sock_diag) and injects nothing; what it
 * reads it reads without consuming, so giving up costs nothing.  The
 * destination side is ordinary C in a process F inside the new capsule whose
 * descriptor table the landing process L shares (CLONE_FILES).
 *
 *   source                                destination
 *   fds_check()      process runs
 *   fds_prepare()    process runs
 *   fds_paths()  ------------------->     fds_check_dest()
 *   fds_look()  ----- rounds -------->    fds_check_dest(), fds_open_early(),
 *                                         fds_check_needs()
 *   [freeze]
 *   fds_drain()      still plugged
 *   [unplug]
 *   fds_capture()  ----------------->     fds_restore()  in F, not plugged
 *   [commit record]  <- - - - - - - -     [READY]
 *   fds_finish()   ----------------->     [plug] fds_activate() in F, F exits
 *
 * Any time before the commit record: fds_release() or fds_source_destroy(),
 * and the source goes on.  Should the source's engine die, whoever thaws the
 * process calls move_heal() first.
 *
 * Errors: -ENOTSUP is a refusal (err names the descriptor and the reason);
 * -EAGAIN passes by itself (let the process run on a little, try again), such
 * as a connection that waits to be accepted; others are faults.
 *
 * Shared open file descriptions are shared again.  Refused are: io_uring,
 * inotify, fanotify, other anonymous inodes, namespaces but the network one
 * that the process is in, devices but mem(4)'s, ptys,
 * deleted files that another process has open too and ones above 64 MiB (others
 * move with their content), files that are another file at the destination,
 * files of /proc about another process,
 * named pipes of which an end is open elsewhere (in a tree that moves nobody
 * can), leases, exclusive fcntl(F_SETLK) locks that stay, of files that another
 * process has open, or that other hosts may (other locks move; one that is
 * given back within 0.2 s is waited for), pipes and unix
 * sockets whose other end is outside and not external, unix sockets bound to a
 * path, SCM_RIGHTS in flight, netlink, raw, packet and other sockets, kTLS,
 * ports shared with a socket of another process (SO_REUSEPORT),
 * more than 960 MiB in the queues of TCP connections (-EAGAIN, by fds_look()),
 * socket filters, secret memory, POSIX message queues, watched directories.
 */
#ifndef MOVE_FD_FDS_H
#define MOVE_FD_FDS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"
#include "core/units.h"
#include "move/fdkit/restore_ops.h"
#include "move/move.h"

/* ---- source ---- */

struct fds_source;
struct tree_set;

/*
 * May this process move, as far as its descriptors go?  Touches nothing; a
 * few microseconds a descriptor.  0, or an error as above.  trees may be NULL.
 */
int fds_check(pid_t pid, const struct move_external *ext, size_t nr_ext,
	      const struct tree_set *trees, struct error *err) must_check;

/*
 * While the process runs: the check above, and whatever does not depend on
 * the instant.  pid and pidfd name the thread group leader and stay the
 * caller's; pidfd must stay open and ext[] unchanged while *ret lives, as must
 * trees (NULL: none), with which files go that lie in them.
 * Forks a short-lived child, which enters the capsule's user and network
 * namespaces to open a sock_diag socket there.
 */
int fds_prepare(pid_t pid, int pidfd, const struct move_external *ext,
		size_t nr_ext, const struct tree_set *trees,
		struct fds_source **ret, struct error *err) must_check;

/*
 * Bytes in queues, pipes, memfds and deleted files as of fds_prepare(), all of
 * which travel while the process stands still.
 */
size_t fds_content(const struct fds_source *s);

/*
 * As of fds_prepare(), is a file open for reading by direct I/O?  What a device
 * writes into memory does not show as a write: a page that is being filled may
 * be sent, and protected, before its content comes.
 */
bool fds_reads_direct(const struct fds_source *s);
/* From now on such a file is an obstacle: -EAGAIN. */
void fds_forbid_direct(struct fds_source *s);

/*
 * While the process runs, soon before it is frozen: look again.  What
 * fds_prepare() does not mind, because it will have passed, is -EAGAIN here.
 * 1 if files have been opened since the last look, or are not what they were, or
 * sockets need what they did not: then *ret, malloc'd, is for fds_check_dest() and,
 * with early, which is always or never, for fds_open_early() and fds_check_needs();
 * 0 if there is nothing to tell.
 */
int fds_look(struct fds_source *s, bool early, uint8_t **ret, size_t *ret_n,
	     struct error *err) must_check;
/*
 * The same for files opened between that and fds_capture(): returns how many;
 * for fds_check_dest() alone.
 */
size_t fds_untold(struct fds_source *s, uint8_t **ret, size_t *ret_n);
/*
 * The destination's answer to these: all files are there; or not, and then
 * those are told again that have been told since the last answer and are still
 * open.
 */
void fds_confirm(struct fds_source *s, bool there);

/* For fds_check_dest(): the files as of fds_prepare(); malloc'd. */
void fds_paths(struct fds_source *s, uint8_t **ret, size_t *ret_n);
/* Is this one of them, and still what it was, under the process's root? */
bool fds_path_stays(int root, const void *paths, size_t n, const char *path);

/*
 * All threads stand still and the network is still plugged: wait until no
 * connection has bytes under way, at most for limit (5 ms is good).  Bytes
 * still under way then are no error: they are sent again, later.  -EAGAIN if
 * a connection is just being made or a closed one has not yet been emptied;
 * fds_capture() says so as well, of what has come since.
 */
int fds_drain(struct fds_source *s, usec_t limit, struct error *err) must_check;

/*
 * All threads stand still and the network is unplugged.  *ret is malloc'd.
 * Leaves the process as it was, so it can simply be thawed again, and may be
 * called again.
 */
int fds_capture(struct fds_source *s, uint8_t **ret, size_t *ret_n,
		struct error *err) must_check;

/*
 * The bytes of queues that the set of the last capture only counts, in the
 * order in which fds_restore() asks for them; once.
 */
int fds_queues(struct fds_source *s, fds_put_fn *put, void *ctx,
	       struct error *err) must_check;

/*
 * The locks of the last capture that are to be handed over: no more than fit in
 * one list of calls (send/handover.c).
 */
#define FDS_HANDED_MOST 200
struct fds_lock;
size_t fds_handed(const struct fds_source *s, struct fds_lock **ret);

/*
 * The capture is given up for now: drop the copies of descriptors that it
 * holds, before the process is thawed. fds_source_destroy() does so too.
 */
void fds_release(struct fds_source *s); /* NULL is allowed */

/*
 * After the commit record, once: the source's copy shall end.  Connections
 * are closed without a packet and locks released, so that the destination can
 * take them.  Call before COMMIT is sent.  A fault leaves the rest done.
 */
int fds_finish(struct fds_source *s, struct error *err) must_check;

void fds_source_destroy(struct fds_source *s); /* NULL is allowed */

/* ---- destination ---- */

/*
 * Before the freeze: are the files of fds_paths() there, and the same, and the
 * kinds of descriptors ones that this version of the engine knows?  root
 * is an open directory, the capsule's root ("/proc/PID/root").
 *
 * The same: type alone in procfs and sysfs; inode number and birth time for
 * what is open for writing, and for directories that are being read; size and
 * time of change of content suffice for what is only read.
 *
 * *ret_lack, which may be NULL, becomes the name of one that is not, malloc'd.
 */
int fds_check_dest(int root, const void *paths, size_t n, char **ret_lack,
		   struct error *err) must_check;

/*
 * In F, before the freeze, with the same list as fds_open_early(): does the
 * destination have what the sockets need (Need in wire/fds.proto)?
 */
int fds_check_needs(const void *paths, size_t n, struct error *err) must_check;

/*
 * In F: unpack what fds_capture() made, which is not trusted; -EPROTO if it is
 * invalid.
 */
struct fds_restored;
int fds_unpack(const void *blob, size_t n, struct fds_restored **ret,
	       struct error *err) must_check;
void fds_restored_destroy(struct fds_restored *r); /* NULL is allowed */

/*
 * The smallest number above all descriptors of the set: at and above it the
 * engine keeps what it needs in the shared table (reserved, and F and L must
 * know nothing below).
 */
int fds_first_free(const struct fds_restored *r);

/*
 * Locks by fcntl(F_SETLK), which the process itself must take: L takes them
 * after fds_restore(), when nobody will close a descriptor of such a file any
 * more. *ret is malloc'd, NULL if there are none.
 */
struct fds_lock {
	int fd;
	struct flock range;
	bool handed; /* handed over by turns, see send/handover.c */
};
int fds_locks(const void *blob, size_t n, struct fds_lock **ret, size_t *ret_n,
	      struct error *err) must_check;
/* The lock's first byte, and the rest, if there is any. */
struct flock fds_lock_first(const struct fds_lock *k);
bool fds_lock_rest(const struct fds_lock *k, struct flock *ret);

/*
 * In F, once: close all but reserved[], and make every descriptor of the set.
 * Wants: capabilities over the capsule's user and network namespace; /proc
 * mounted; loopback up; the capsule's addresses and routes set and its link
 * up (packets just get nowhere); L alive under the source's pid; the soft
 * RLIMIT_NOFILE a few above fds_first_free() and reserved[] (raised here if
 * the hard one allows).  On failure the
 * table is left in an undefined state: end F and L.
 */
int fds_restore(struct fds_restored *r, const struct fds_restore_ops *ops,
		void *ctx, const int *reserved, size_t nr_reserved,
		struct error *err) must_check;

/*
 * Is there anything left that can be made only when all threads of L exist?
 * Then call fds_restore_late(), in the same process, before READY: it makes
 * files of /proc about its own threads and descriptors.
 */
bool fds_is_late(const struct fds_restored *r);
int fds_restore_late(struct fds_restored *r, struct error *err) must_check;

/*
 * In the same process, after plug, with all threads of L made and none
 * released: connections come alive, what was unsent is sent, locks are taken,
 * F_SETOWN is set.  Goes on after a fault and returns the first.  So F must
 * live until then; what it has to send is in its memory alone.
 */
int fds_activate(struct fds_restored *r, struct error *err) must_check;
/* Would fds_activate() do anything? */
bool fds_dormant(const struct fds_restored *r);

#endif
