/*
 * tcp_make.h - making TCP sockets again (doc/design/21-descriptors.md)
 *
 * Three steps: a bare socket; when all are there, listeners before
 * connections, its state, still in repair mode and silent; and when the
 * network is plugged, life.
 */
#ifndef MOVE_SOCK_TCP_MAKE_H
#define MOVE_SOCK_TCP_MAKE_H

#include "core/error.h"
#include "move/wire/fds.pb-c.h"

/* bind and listen, for a listener. */
int tcp_make_listen(int fd, const Fds__Socket *m, struct error *err) must_check;

/* Anything else; fd may be replaced (by dup3) by another socket. */
int tcp_make_state(int fd, const Fds__Socket *m, struct error *err) must_check;

/*
 * Once all connections are made, what of one has ended: FINs, and the states
 * that they lead to.
 */
int tcp_make_ends(int fd, const Fds__Socket *m, struct error *err) must_check;

/* The network is plugged: out of repair mode, and an ACK that says so. */
int tcp_make_activate(int fd, const Fds__Socket *m,
		      struct error *err) must_check;

#endif
