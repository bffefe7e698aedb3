/*
 * net.c - the rtnetlink socket: send a request, find its answer
 *
 * The kernel processes a request within sendmsg(), so an answer is waiting when
 * that returns, and no timeout is needed. Answers to another process's request
 * (one that shared the socket and died) are recognized by their sequence
 * number.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "net/request.h"

struct net {
	struct mnl_socket *nl;
	uint32_t seq;
	char hint[160];
};

int net_open(struct net **ret, struct error *err)
{
	return net_open_family(NETLINK_ROUTE, ret, err);
}

int net_open_family(int family, struct net **ret, struct error *err)
{
	struct net *net = xcalloc(1, sizeof(*net));
	struct timespec now;
	int r, on = 1;

	net->nl = mnl_socket_open2(family, SOCK_CLOEXEC);
	if (!net->nl || mnl_socket_bind(net->nl, 0, MNL_SOCKET_AUTOPID) < 0) {
		r = error_sys(err, -errno, "cannot open a netlink socket");
		net_close(net);
		return r;
	}
	mnl_socket_setsockopt(net->nl, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(net->nl, NETLINK_CAP_ACK, &on, sizeof(on));
	clock_gettime(CLOCK_MONOTONIC, &now);
	net->seq = (uint32_t)now.tv_nsec ^ (uint32_t)getpid() << 16;
	*ret = net;
	return 0;
}

void net_close(struct net *net)
{
	if (!net)
		return;
	if (net->nl)
		mnl_socket_close(net->nl);
	free(net);
}

int net_visit(int netns, int (*fn)(void *arg, struct error *err), void *arg,
	      struct error *err)
{
	fd_auto home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int r;

	if (home < 0)
		return error_sys(err, -errno, "cannot open /proc/self/ns/net");
	if (setns(netns, CLONE_NEWNET) < 0)
		return error_sys(err, -errno,
				 "cannot enter the network namespace");
	r = fn(arg, err);
	/* To stay in the wrong namespace would make every later call wrong. */
	if (setns(home, CLONE_NEWNET) < 0)
		abort();
	return r;
}

static int open_here(void *arg, struct error *err)
{
	return net_open(arg, err);
}

int net_open_at(int netns, struct net **ret, struct error *err)
{
	return net_visit(netns, open_here, ret, err);
}

void *net_request_init(struct net_request *req, uint16_t type, uint16_t flags,
		       size_t n)
{
	memset(req->buf, 0, sizeof(req->buf));
	req->nlh = mnl_nlmsg_put_header(req->buf);
	req->nlh->nlmsg_type = type;
	req->nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	return mnl_nlmsg_put_extra_header(req->nlh, n);
}

static int take_hint(const struct nlattr *attr, void *data)
{
	struct net *net = data;

	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
	    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
		snprintf(net->hint, sizeof(net->hint), "%s",
			 mnl_attr_get_str(attr));
	return MNL_CB_OK;
}

/* The verdict is 0 or -errno; with a hint behind it where the kernel has one.
 */
static int read_verdict(struct net *net, const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	size_t skip = sizeof(*e);

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*e))
		return -EBADMSG;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += e->msg.nlmsg_len - MNL_NLMSG_HDRLEN;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS &&
	    mnl_nlmsg_get_payload_len(nlh) >= skip)
		mnl_attr_parse(nlh, skip, take_hint, net);
	return e->error;
}

int net_request_call(struct net *net, struct net_request *req, net_reply *cb,
		     void *data)
{
	_Alignas(16) char buf[16384];
	const struct nlmsghdr *nlh;
	ssize_t n;
	int left;

	net->hint[0] = 0;
	req->nlh->nlmsg_seq = ++net->seq;
	if (mnl_socket_sendto(net->nl, req->nlh, req->nlh->nlmsg_len) < 0)
		return -errno;
	for (;;) {
		n = mnl_socket_recvfrom(net->nl, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		left = n;
		for (nlh = (void *)buf; mnl_nlmsg_ok(nlh, left);
		     nlh = mnl_nlmsg_next(nlh, &left)) {
			if (nlh->nlmsg_seq != net->seq)
				continue;
			if (nlh->nlmsg_type == NLMSG_ERROR)
				return read_verdict(net, nlh);
			if (nlh->nlmsg_type == NLMSG_DONE)
				return 0; /* the end of a dump */
			if (cb)
				cb(nlh, data);
		}
	}
}

int net_request_do(struct net *net, struct net_request *req, struct error *err,
		   const char *fmt, ...)
{
	int r = net_request_call(net, req, NULL, NULL);
	char what[200];
	va_list ap;

	if (r >= 0)
		return 0;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (net->hint[0])
		return error_set(err, r, "%s: %s (%s)", what, strerror(-r),
				 net->hint);
	return error_sys(err, r, "%s", what);
}
