/* tcp_repair.h - enter and leave TCP repair mode (doc/design/21-descriptors.md) */
#ifndef MOVE_SOCK_TCP_REPAIR_H
#define MOVE_SOCK_TCP_REPAIR_H

#include <stdbool.h>

#include "core/error.h"
#include "move/sock/tcp_compat.h"
#include "move/wire/fds.pb-c.h"

bool tcp_is(int fd);
int tcp_info_of(int fd, struct tcp_info *ret) must_check;

int tcp_repair_set(int fd, int how);
int tcp_repair_on(int fd) must_check;
/*
 * Leave it without sending anything, and with SO_REUSEADDR, which repair mode clears,
 * as it was.
 */
int tcp_repair_off(int fd, bool reuseaddr);
/*
 * Leave it by TCP_REPAIR_OFF (which sends a probe) or TCP_REPAIR_OFF_NO_WP;
 * SO_REUSEADDR as m has it.
 */
int tcp_repair_leave(int fd, const Fds__Socket *m, int how);

/*
 * Have the connection ignore resets (on), by a filter: until it is live its other end
 * may not exist yet.  Sockets with filters of their own are refused, so this is the
 * only one.
 */
int tcp_ignore_resets(int fd, bool on) must_check;

/* End the connection of fd without sending anything. */
int tcp_capture_kill(int fd) must_check;
/* Leave repair mode, if an engine that died has left the socket in it. */
int tcp_capture_heal(int fd) must_check;

#endif
