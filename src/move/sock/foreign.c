/* foreign.c - does a network namespace have an address? */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "move/sock/diag.h"

static int parse_route(const struct nlmsghdr *nlh, void *arg)
{
	const struct rtmsg *m = mnl_nlmsg_get_payload(nlh);

	*(unsigned char *)arg = m->rtm_type;
	return MNL_CB_OK;
}

/*
 * The type of the route that the kernel there would take to that address (RTN_LOCAL
 * ...).
 */
static int route_type(int route, const void *address, unsigned char *ret)
{
	char buf[256] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	const struct sockaddr_in *in = address;
	const struct sockaddr_in6 *in6 = address;
	bool v6 = in->sin_family == AF_INET6;
	struct rtmsg *m;

	nlh->nlmsg_type = RTM_GETROUTE;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	m = mnl_nlmsg_put_extra_header(nlh, sizeof(*m));
	m->rtm_family = v6 ? AF_INET6 : AF_INET;
	m->rtm_dst_len = v6 ? 128 : 32;
	if (v6)
		mnl_attr_put(nlh, RTA_DST, 16, &in6->sin6_addr);
	else
		mnl_attr_put(nlh, RTA_DST, 4, &in->sin_addr);
	if (v6 && in6->sin6_scope_id)
		mnl_attr_put_u32(nlh, RTA_OIF, in6->sin6_scope_id);
	return sock_diag_ask(route, nlh, parse_route, ret);
}

static bool needs_no_host(const void *address)
{
	const struct sockaddr_in *in = address;
	const struct sockaddr_in6 *in6 = address;

	if (in->sin_family == AF_INET)
		return in->sin_addr.s_addr == htonl(INADDR_ANY) ||
		       IN_MULTICAST(ntohl(in->sin_addr.s_addr));
	return IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr) ||
	       IN6_IS_ADDR_MULTICAST(&in6->sin6_addr);
}

int sock_diag_foreign(int route, const void *address, bool *ret,
		      struct error *err)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	const struct sockaddr_in6 *in6 = address;
	unsigned char type = RTN_UNSPEC;
	int r;

	if (in6->sin6_family == AF_INET6 &&
	    IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
		memcpy(&v4.sin_addr, &in6->sin6_addr.s6_addr[12], 4);
		address = &v4;
	}
	*ret = false;
	if (needs_no_host(address))
		return 0;
	r = route_type(route, address, &type);
	/* without any route to it, it is not an address of that network */
	if (r < 0 && r != -ENETUNREACH && r != -EHOSTUNREACH)
		return error_sys(err, r, "asking for the way to an address");
	*ret = type != RTN_LOCAL && type != RTN_BROADCAST &&
	       type != RTN_ANYCAST;
	return 0;
}
