/*
 * testing.h - network namespaces for tests, joined by pairs of links
 *
 * A test begins with spaces_here(), which puts it into a user namespace of its own,
 * so that it needs no privilege and touches nothing.
 */
#ifndef NET_TESTING_H
#define NET_TESTING_H

#include <netinet/in.h>
#include <stdbool.h>

#include "core/error.h"
#include "net/net.h"

#define PORT 4242

/* A namespace, and a socket that works in it. */
struct space {
	int fd;
	struct net *net;
};

/* False where user namespaces are forbidden: that is said, and no test can run. */
bool spaces_here(void);

struct in_addr ip(const char *text);

void space_open(struct space *s);
void space_close(struct space *s);

/* A pair from a to b, up, with these addresses; returns the index in a. */
int cable(struct space *a, const char *a_name, const char *a_ip,
	  struct space *b, const char *b_name, const char *b_ip);

/* For net_visit(): a socket for datagrams. */
int make_udp(void *arg, struct error *err);
/* A socket in s that datagrams to `to` are for. */
int hears(struct space *s, const char *to);

/*
 * Does a datagram from a reach `to`, which b has?  Waits long enough only
 * for what is to arrive; `silence` is looked for a short while.
 */
bool reaches(struct space *a, struct space *b, const char *to, bool silence);

#endif
