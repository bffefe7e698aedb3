/*
 * packet.h - SOCK_SEQPACKET packets with descriptors
 */
#ifndef CORE_PACKET_H
#define CORE_PACKET_H

#include <stddef.h>
#include <sys/types.h>

#include "core/error.h"

#define PACKET_FDS 67 /* the most that go with one */

/* 0 or -errno; -EAGAIN where sock does not block and is full. */
int packet_send(int sock, const void *p, size_t n, const int *fds,
		unsigned nr_fds) must_check;

/*
 * One of up to n bytes: how many, -EPIPE at the end, -EBADMSG for a longer one,
 * or -errno.  At most *nr_fds descriptors, which close on exec, are kept in fds
 * and counted in *nr_fds, the others closed; also where -EBADMSG is returned.
 * Both may be NULL.
 */
ssize_t packet_receive_some(int sock, void *p, size_t n, int *fds,
			    unsigned *nr_fds, int flags) must_check;

/* The same for exactly n bytes, else -EBADMSG; 0 or -errno. */
int packet_receive(int sock, void *p, size_t n, int *fds, unsigned *nr_fds,
		   int flags) must_check;

#endif
