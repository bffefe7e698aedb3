/*
 * multicast.h - the multicast groups that a UDP socket is a member of
 */
#ifndef MOVE_SOCK_MULTICAST_H
#define MOVE_SOCK_MULTICAST_H

#include <sys/types.h>

#include "core/error.h"
#include "move/wire/fds.pb-c.h"

/*
 * Append to m->inet the memberships of the socket fd, which is a copy of one
 * of process pid: of the groups that the interfaces of its network namespace
 * receive, those that it is asked to receive for this socket.
 */
int multicast_get(pid_t pid, int fd, Fds__Socket *m,
		  struct error *err) must_check;

/* Join them again, by the names of the interfaces. */
int multicast_join(int fd, const Fds__Socket *m, struct error *err) must_check;

#endif
