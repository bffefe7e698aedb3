/*
 * udpmake.h - making UDP sockets again
 */
#ifndef MOVE_UDPMAKE_H
#define MOVE_UDPMAKE_H

#include "core/error.h"
#include "move/wire/fds.pb-c.h"

/*
 * Bind, connect, and have what was queued come in again, from who sent it.
 * A datagram that cannot be brought back is lost, as datagrams may be.
 */
int udpmake_state(int fd, const Fds__Socket *m, struct error *err) must_check;

#endif
