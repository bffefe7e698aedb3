/*
 * tcp.h - capture of TCP connections (doc/design/21-descriptors.md)
 */
#ifndef MOVE_SOCK_TCP_H
#define MOVE_SOCK_TCP_H

#include "core/error.h"
#include "core/units.h"
#include "move/fdkit/source.h"

/* Fill in f's Inet message, whose addresses are there already. */
int tcp_capture_socket(struct fdscan *sc, struct fdscan_file *f,
		       struct error *err) must_check;

/*
 * Read again what packets changed meanwhile, until a whole round shows no
 * change: packets may still come out of the machine's own queues, and both
 * ends of a connection may be in the process.
 */
int tcp_capture_settle(struct fdscan *sc, struct error *err) must_check;

/* See fds_drain(). */
int tcp_capture_drain(struct fds_source *s, usec_t limit,
		      struct error *err) must_check;

/*
 * While the process runs: -EAGAIN if there is what a drain does not make go
 * away, which it says by itself.
 */
int tcp_capture_check_soon(struct fds_source *s, struct error *err) must_check;

/*
 * Unplugged: -EAGAIN if a connection is half-made or waits to be accepted.
 * Its peer would be reset at the destination, where nobody knows of it.
 */
int tcp_capture_check_making(struct fds_source *s,
			     struct error *err) must_check;

/* TCP_ESTABLISHED ..., or -errno. */
int tcp_capture_state(int fd);

#endif
