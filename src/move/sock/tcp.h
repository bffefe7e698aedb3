/*
 * tcp.h - capture of TCP connections (doc/design/21-descriptors.md)
 */
#ifndef MOVE_SOCK_TCP_H
#define MOVE_SOCK_TCP_H

#include "core/error.h"
#include "core/units.h"
#include "move/fdkit/source.h"

/* Fill in f's Inet message, which has its addresses already. */
int tcp_capture_socket(struct fdscan *sc, struct fdscan_file *f,
		       struct error *err) must_check;

/*
 * Read those connections again that packets have changed meanwhile, until a whole round
 * shows no change.  Packets may still come from the host's own queues, and both ends of
 * a connection may be in the process.
 */
int tcp_capture_settle(struct fdscan *sc, struct error *err) must_check;

/* See fds_drain(). */
int tcp_capture_drain(struct fds_source *s, usec_t limit,
		      struct error *err) must_check;

/*
 * While the process runs: -EAGAIN, with the reason, if a connection is in a state that
 * draining does not end.
 */
int tcp_capture_check_soon(struct fds_source *s, struct error *err) must_check;

/*
 * With the network unplugged: -EAGAIN if a connection is half-made or waits to be
 * accepted.  The destination, which does not know of it, would reset its peer.
 */
int tcp_capture_check_making(struct fds_source *s,
			     struct error *err) must_check;

/* TCP_ESTABLISHED ..., or -errno. */
int tcp_capture_state(int fd);

#endif
