/*
 * needs.h - what sockets need that a destination may lack, found out before the freeze
 *
 * Privileges for options and ports, repair mode, interfaces, ways of congestion
 * control.  They are told along with the files that are to be opened early
 * (fdkit/early.c). The destination tries each on a socket that it throws away, in the
 * process that will make the sockets later.
 */
#ifndef MOVE_SOCK_NEEDS_H
#define MOVE_SOCK_NEEDS_H

#include "move/fdkit/source.h"

/* Tell the destination what file i of the scan, a socket, needs; as fd_kind.tell. */
void sock_needs_tell(struct fds_source *s, const struct fdscan *sc, size_t i);

/*
 * At the destination: 0, or one line about what is lacking; -EPROTO if the source sent
 * what is not a need of a socket.
 */
int sock_need_check(const Fds__Need *need, struct error *err) must_check;

#endif
