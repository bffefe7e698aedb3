/* request.h - one rtnetlink request, inside the room only */
#ifndef NET_REQUEST_H
#define NET_REQUEST_H

#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>

#include "net/net.h"

/* net_open() for another netlink family with the same kind of messages.
 */
int net_open_family(int family, struct net **ret, struct error *err) must_check;

/* A message being built: header, then attributes by mnl_attr_put_*(). */
struct net_request {
	_Alignas(16) char buf[1024];
	struct nlmsghdr *nlh;
};

/* Begin a message; returns its extra header of n zeroed bytes. */
void *net_request_init(struct net_request *req, uint16_t type, uint16_t flags,
		       size_t n);

/*
 * Send it and wait for the final acknowledgement; cb gets the messages before
 * that.
 */
typedef void net_reply(const struct nlmsghdr *nlh, void *data);
int net_request_call(struct net *net, struct net_request *req, net_reply *cb,
		     void *data);

/*
 * As above without replies; on failure *err is the formatted text, ": ", the
 * reason, and the kernel's own explanation.
 */
int net_request_do(struct net *net, struct net_request *req, struct error *err,
		   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
