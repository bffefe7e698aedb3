/*
 * address.h - where a daemon listens: "HOST:PORT" or "unix:PATH"
 */
#ifndef CLUSTER_CONN_ADDRESS_H
#define CLUSTER_CONN_ADDRESS_H

#include <sys/socket.h>

#include "core/error.h"

struct address {
	struct sockaddr_storage sa;
	socklen_t len;
};

/* HOST is a name or an address; "[::1]:7077" for IPv6. */
int address_parse(const char *text, struct address *ret,
		  struct error *err) must_check;
/*
 * Its part for HOST and PORT, of text.  resolve.c asks the C library, which loads
 * others for that; the program that people call has its own (cmd/stint.c).
 */
int address_resolve(const char *text, const char *host, const char *port,
		    struct address *ret, struct error *err) must_check;
/* Whether it could be one, without a look-up of the name. */
int address_check(const char *text, struct error *err) must_check;

/*
 * A listening socket, non-blocking; a Unix socket left behind by a dead process
 * is replaced (its mode is 0666: keys decide who may connect).  Returns the
 * descriptor or -errno.
 */
int address_listen(const struct address *a, struct error *err) must_check;

/*
 * A non-blocking socket, connected or still connecting: the descriptor or
 * -errno; -EAGAIN: the queue of a Unix socket was full for half a second, for
 * which it blocks.
 */
int address_connect(const struct address *a, struct error *err) must_check;

/*
 * Set err to why connecting failed with r (returned by connect() or later by
 * SO_ERROR); returns r.
 */
int address_failed(int r, struct error *err);

/*
 * For an accepted socket (address_listen() and address_connect() do it
 * themselves): small messages are sent at once, and an unreachable peer is
 * noticed within 20 s.
 */
void address_tune(int fd);

#endif
