/*
 * needs.h - what sockets take that a destination may lack, known before the freeze
 *
 * Privileges for options and ports, repair mode, interfaces, ways of congestion
 * control.  Told with the files that are to be opened early (fdkit/early.c); who
 * makes the sockets later tries each on a socket that is thrown away.
 */
#ifndef MOVE_SOCK_NEEDS_H
#define MOVE_SOCK_NEEDS_H

#include "move/fdkit/source.h"

/* Tell what file i of the scan, a socket, needs: fd_kind.tell. */
void sock_needs_tell(struct fds_source *s, const struct fdscan *sc, size_t i);

/* At the destination: one line about what is lacking; -EPROTO if it is no need. */
int sock_need_check(const Fds__Need *need, struct error *err) must_check;

#endif
