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
 * A listening socket, non-blocking; a stale Unix socket nobody listens on is
 * replaced (its path is then mode 0666: the key decides who may speak).
 * Returns the descriptor or -errno.
 */
int address_listen(const struct address *a, struct error *err) must_check;

/*
 * A socket that is connecting or connected, non-blocking: the descriptor or
 * -errno.
 */
int address_connect(const struct address *a, struct error *err) must_check;

/* Why a connection did not come about, r (also told later, by SO_ERROR), in
 * words; returns r. */
int address_failed(int r, struct error *err);

/*
 * For an accepted socket (the two above do it themselves): small messages
 * leave at once, and a host that vanished is noticed within 20 s.
 */
void address_tune(int fd);

#endif
