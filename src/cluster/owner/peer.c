/*
 * peer.c - who is at the other end of a socket, and is it a person's process?
 *
 * Guests share the host's file system, so that they can reach its sockets; what
 * owners say is not for them to say.  They live in pid namespaces of their own,
 * which is looked up and not told.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/host/process.h"
#include "cluster/owner/priv.h"
#include "core/io.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/*
 * A pidfd of the process that connected.  Kernels before 6.5 tell its number
 * alone: a guest would have to have ended, and the numbers to have gone all
 * round to one outside, before we look.
 */
static int peer_pidfd(int fd, pid_t pid)
{
	socklen_t n = sizeof(int);
	int pidfd;

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &n))
		return pidfd;
	if (errno != ENOPROTOOPT)
		return -errno;
	pidfd = pidfd_open(pid, 0);
	return pidfd < 0 ? -errno : pidfd;
}

static int same_pids(pid_t pid)
{
	struct stat ours, theirs;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	if (stat("/proc/self/ns/pid", &ours) < 0 || stat(path, &theirs) < 0)
		return -errno;
	return ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

int owner_peer(int fd, uid_t *ret_uid, struct error *err)
{
	struct ucred cred;
	fd_auto pidfd = -1;
	int64_t pid;
	int r;

	r = io_peer_cred(fd, &cred);
	if (r < 0)
		return error_sys(err, r, "cannot tell which process asks");
	/* 0: it is in a namespace that ours does not see. */
	pidfd = cred.pid > 0 ? peer_pidfd(fd, cred.pid) : -ESRCH;
	r = pidfd < 0 ? pidfd : process_fdinfo(pidfd, "Pid", &pid);
	if (!r)
		r = pid > 0 ? same_pids((pid_t)pid) : -ESRCH;
	/* It was the one all the time. */
	if (r >= 0 && pidfd_send_signal(pidfd, 0, NULL, 0) < 0 &&
	    errno != EPERM)
		r = -errno;
	if (r < 0)
		return error_sys(err, r, "cannot tell which process asks");
	if (!r)
		return error_set(err, -EPERM,
				 "only processes of the host itself speak for "
				 "its owner: this one is in a capsule, or in "
				 "another container");
	*ret_uid = cred.uid;
	return 0;
}
