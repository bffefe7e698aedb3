/*
 * tcp_make.h - making TCP sockets again (doc/design/21-descriptors.md)
 *
 * In three steps: a bare socket; when all of these exist, the state of listeners and
 * then of connections, in repair mode, in which nothing is sent; and when the network
 * is plugged in again, out of repair mode.
 */
#ifndef MOVE_SOCK_TCP_MAKE_H
#define MOVE_SOCK_TCP_MAKE_H

#include "core/error.h"
#include "move/wire/fds.pb-c.h"

/* For a listener: bind and listen. */
int tcp_make_listen(int fd, const Fds__Socket *m, struct error *err) must_check;

/* For any other socket: its state. fd may be replaced by another socket (dup3). */
int tcp_make_state(int fd, const Fds__Socket *m, struct error *err) must_check;

/* Once all connections are made: their FINs, and the states that these lead to. */
int tcp_make_ends(int fd, const Fds__Socket *m, struct error *err) must_check;

/* Once the network is plugged in: leave repair mode, and send the peer an ACK. */
int tcp_make_activate(int fd, const Fds__Socket *m,
		      struct error *err) must_check;

#endif
