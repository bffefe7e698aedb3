/*
 * tcp_dead.h - TCP sockets whose connection is over
 */
#ifndef MOVE_SOCK_TCP_DEAD_H
#define MOVE_SOCK_TCP_DEAD_H

#include "core/error.h"
#include "move/wire/fds.pb-c.h"

/*
 * Put at number fd a socket whose connection has ended: what was received can
 * be read, then comes the end, or ECONNRESET if m says it failed (whatever
 * the error was: it cannot be read without taking it).
 */
int tcpdead_make(int fd, const Fds__Socket *m, struct error *err) must_check;

#endif
