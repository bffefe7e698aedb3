/*
 * udp_make.h - making UDP sockets again
 */
#ifndef MOVE_SOCK_UDP_MAKE_H
#define MOVE_SOCK_UDP_MAKE_H

#include "core/error.h"
#include "move/wire/fds.pb-c.h"

/*
 * Bind and connect it, and have the datagrams that were queued arrive again, from their
 * senders' addresses.  A datagram that cannot be brought back is lost, as any datagram
 * may be.
 */
int udpmake_state(int fd, const Fds__Socket *m, struct error *err) must_check;

#endif
