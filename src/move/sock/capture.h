/*
 * capture.h - capture of sockets
 */
#ifndef MOVE_SOCK_CAPTURE_H
#define MOVE_SOCK_CAPTURE_H

#include "move/fdkit/source.h"

/* Capture a socket; as struct fd_kind's capture (kind/kind.h). */
int sock_capture_socket(struct fdscan *sc, struct fdscan_file *f,
			struct error *err) must_check;
/* When all files are captured: connect the ends of unix sockets, and check them. */
int sock_capture_finish(struct fdscan *sc, struct error *err) must_check;

/*
 * Append all that can be read from fd to the list, one message for each packet, without
 * consuming it.  from: with the sender's address.
 */
int sockq_peek(int fd, bool from, Fds__Message ***ret, size_t *ret_n,
	       struct error *err) must_check;

#endif
