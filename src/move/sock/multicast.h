/*
 * multicast.h - the multicast groups that a UDP socket is a member of
 */
#ifndef MOVE_SOCK_MULTICAST_H
#define MOVE_SOCK_MULTICAST_H

#include <sys/types.h>

#include "core/error.h"
#include "move/wire/fds.pb-c.h"

/*
 * Append to m->inet the groups of which the socket fd, a copy of a descriptor of
 * process pid, is a member.
 */
int multicast_get(pid_t pid, int fd, Fds__Socket *m,
		  struct error *err) must_check;

/* Join them again, on the interfaces of those names. */
int multicast_join(int fd, const Fds__Socket *m, struct error *err) must_check;

#endif
