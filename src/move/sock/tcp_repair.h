/*
 * tcp_repair.h - in and out of repair mode (doc/design/21-descriptors.md)
 */
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
/* Silently, and with SO_REUSEADDR, which repair mode clears, as it was. */
int tcp_repair_off(int fd, bool reuseaddr);
/* By one of TCP_REPAIR_OFF and TCP_REPAIR_OFF_NO_WP, as that socket was. */
int tcp_repair_leave(int fd, const Fds__Socket *m, int how);

/*
 * Whether the connection takes no reset any more: until it lives there may be
 * nobody at the other end.  Others' filters are refused, so this is the only one.
 */
int tcp_ignore_resets(int fd, bool on) must_check;

/* End the connection of fd without a packet. */
int tcp_capture_kill(int fd) must_check;
/* Leave repair mode, if it was left on. */
int tcp_capture_heal(int fd) must_check;

#endif
