/*
 * make.h - making sockets again
 */
#ifndef MOVE_SOCK_MAKE_H
#define MOVE_SOCK_MAKE_H

#include "move/fdkit/restored.h"

/*
 * Make file i, a socket; *ret is its descriptor.  May make its other end as well, and
 * leave that in r->at, at a high number (fdkit/lift.h).
 */
int sock_make_socket(struct fds_restored *r, size_t i, int *ret,
		     struct error *err) must_check;

/* When all files are made: finish what concerns several sockets. */
int sock_make_finish(struct fds_restored *r, struct error *err) must_check;

/* See fds_activate(). */
int sock_make_activate(struct fds_restored *r, struct error *err) must_check;

/* Send these messages through fd, a unix socket, without waiting. */
int sock_make_fill(int fd, Fds__Message *const *m, size_t n,
		   struct error *err) must_check;

#endif
