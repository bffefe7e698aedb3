/*
 * talks.h - with whom the TCP connections of a network namespace talk
 *
 * By the kernel's own count of each connection (TCP_INFO, through sock_diag), so
 * whatever way its packets take, the fast path included, and without the help of
 * the program.  A look costs a walk over the machine's table of connections,
 * however few there are in the namespace: a millisecond where that is large.
 */
#ifndef NET_TALKS_H
#define NET_TALKS_H

#include <netinet/in.h>
#include <stdint.h>

#include "core/error.h"

/* A connection; IPv4, also over a socket of IPv6. */
struct net_talk {
	uint64_t cookie; /* the kernel's name of the socket, never used twice */
	struct in_addr peer;
	uint64_t bytes;	   /* of data that the peer has acknowledged, */
	uint64_t segments; /* and segments with data sent, repeated ones too */
};

typedef void net_talk_fn(const struct net_talk *talk, void *arg);

/*
 * Call fn for each that there is now in the namespace behind that descriptor
 * (/proc/PID/ns/net); the thread visits it as in net_open_at().
 */
int net_talks_each(int netns, net_talk_fn *fn, void *arg,
		   struct error *err) must_check;

#endif
