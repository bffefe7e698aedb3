/*
 * capture.h - capture of sockets
 */
#ifndef MOVE_SOCK_CAPTURE_H
#define MOVE_SOCK_CAPTURE_H

#include "move/fdkit/source.h"

/* As kind/kind.h has it of other descriptions. */
int sock_capture_socket(struct fdscan *sc, struct fdscan_file *f,
			struct error *err) must_check;
/* When all are there: unix sockets find their other ends. */
int sock_capture_finish(struct fdscan *sc, struct error *err) must_check;

/*
 * All that can be read from fd, not consuming it; a message a packet, appended
 * to the list.  from: with who sent it.
 */
int sockq_peek(int fd, bool from, Fds__Message ***ret, size_t *ret_n,
	       struct error *err) must_check;

#endif
