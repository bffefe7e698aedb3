/*
 * tcp_dead.h - TCP sockets whose connection is over
 */
#ifndef MOVE_SOCK_TCP_DEAD_H
#define MOVE_SOCK_TCP_DEAD_H

#include "core/error.h"
#include "move/wire/fds.pb-c.h"

/*
 * Put a socket whose connection has ended at number fd: what was received can be read,
 * and then comes the end of the stream, or ECONNRESET if m says that the connection
 * failed (whatever the error was: reading it would have consumed it).
 */
int tcpdead_make(int fd, const Fds__Socket *m, struct error *err) must_check;

#endif
