/* route.c - addresses, routes, neighbours, forwarding entries, see net.h */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <string.h>

#include "net/request.h"

static void address_request(struct net_request *req, uint16_t type,
			    uint16_t flags, int index, struct in_addr addr,
			    unsigned prefix)
{
	struct ifaddrmsg *ifa =
		net_request_init(req, type, flags, sizeof(*ifa));

	ifa->ifa_family = AF_INET;
	ifa->ifa_prefixlen = prefix;
	ifa->ifa_index = index;
	mnl_attr_put_u32(req->nlh, IFA_LOCAL, addr.s_addr);
	mnl_attr_put_u32(req->nlh, IFA_ADDRESS, addr.s_addr);
}

int net_address_put(struct net *net, int index, struct in_addr addr,
		    unsigned prefix, struct error *err)
{
	struct net_request req;
	char text[NET_TEXT];

	address_request(&req, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, index,
			addr, prefix);
	return net_request_do(net, &req, err,
			      "cannot give link %d the address %s/%u", index,
			      net_addr_text(addr, text), prefix);
}

int net_address_delete(struct net *net, int index, struct in_addr addr,
		       unsigned prefix, struct error *err)
{
	struct net_request req;
	char text[NET_TEXT];
	int r;

	address_request(&req, RTM_DELADDR, 0, index, addr, prefix);
	r = net_request_do(net, &req, err,
			   "cannot take the address %s/%u from link %d",
			   net_addr_text(addr, text), prefix, index);
	return r == -EADDRNOTAVAIL ? 0 : r;
}

static void route_request(struct net_request *req, uint16_t type,
			  uint16_t flags, const struct net_route *route)
{
	struct rtmsg *rtm = net_request_init(req, type, flags, sizeof(*rtm));

	rtm->rtm_family = AF_INET;
	rtm->rtm_dst_len = route->prefix;
	rtm->rtm_table = RT_TABLE_MAIN;
	rtm->rtm_protocol = RTPROT_STATIC;
	rtm->rtm_type = route->blackhole ? RTN_BLACKHOLE : RTN_UNICAST;
	rtm->rtm_scope = route->via.s_addr || route->blackhole
				 ? RT_SCOPE_UNIVERSE
				 : RT_SCOPE_LINK;
	if (type == RTM_DELROUTE)
		rtm->rtm_scope = RT_SCOPE_NOWHERE;
	if (route->prefix)
		mnl_attr_put_u32(req->nlh, RTA_DST, route->dst.s_addr);
	if (route->index)
		mnl_attr_put_u32(req->nlh, RTA_OIF, route->index);
	if (route->via.s_addr) {
		rtm->rtm_flags |= RTNH_F_ONLINK;
		mnl_attr_put_u32(req->nlh, RTA_GATEWAY, route->via.s_addr);
	}
	if (route->src.s_addr)
		mnl_attr_put_u32(req->nlh, RTA_PREFSRC, route->src.s_addr);
}

int net_route_put(struct net *net, const struct net_route *route,
		  struct error *err)
{
	struct net_request req;
	char text[NET_TEXT];

	route_request(&req, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, route);
	return net_request_do(net, &req, err, "cannot route %s/%u",
			      net_addr_text(route->dst, text), route->prefix);
}

int net_route_delete(struct net *net, const struct net_route *route,
		     struct error *err)
{
	struct net_request req;
	char text[NET_TEXT];
	int r;

	route_request(&req, RTM_DELROUTE, 0, route);
	r = net_request_do(net, &req, err, "cannot remove the route to %s/%u",
			   net_addr_text(route->dst, text), route->prefix);
	return r == -ESRCH ? 0 : r;
}

static void neighbour_request(struct net_request *req, uint16_t type, int index,
			      struct in_addr addr, const uint8_t *mac)
{
	uint16_t flags =
		type == RTM_NEWNEIGH ? NLM_F_CREATE | NLM_F_REPLACE : 0;
	struct ndmsg *ndm = net_request_init(req, type, flags, sizeof(*ndm));

	ndm->ndm_family = AF_INET;
	ndm->ndm_ifindex = index;
	ndm->ndm_state = NUD_PERMANENT;
	mnl_attr_put_u32(req->nlh, NDA_DST, addr.s_addr);
	if (mac)
		mnl_attr_put(req->nlh, NDA_LLADDR, NET_MAC_LEN, mac);
}

int net_neighbour_put(struct net *net, int index, struct in_addr addr,
		      const uint8_t *mac, struct error *err)
{
	struct net_request req;
	char text[NET_TEXT];

	neighbour_request(&req, RTM_NEWNEIGH, index, addr, mac);
	return net_request_do(net, &req, err, "cannot set the neighbour %s",
			      net_addr_text(addr, text));
}

static int delete_neighbour(struct net *net, struct net_request *req,
			    struct in_addr addr, struct error *err)
{
	char text[NET_TEXT];
	int r = net_request_do(net, req, err, "cannot remove the neighbour %s",
			       net_addr_text(addr, text));

	return r == -ENOENT || r == -ENODEV ? 0 : r;
}

int net_neighbour_delete(struct net *net, int index, struct in_addr addr,
			 struct error *err)
{
	struct net_request req;

	neighbour_request(&req, RTM_DELNEIGH, index, addr, NULL);
	return delete_neighbour(net, &req, addr, err);
}

/*
 * A proxy entry is a neighbour without a MAC address: requests are answered
 * with ours.
 */
static void proxy_request(struct net_request *req, uint16_t type, int index,
			  struct in_addr addr)
{
	struct ndmsg *ndm;

	neighbour_request(req, type, index, addr, NULL);
	ndm = mnl_nlmsg_get_payload(req->nlh);
	ndm->ndm_flags = NTF_PROXY;
}

int net_proxy_put(struct net *net, int index, struct in_addr addr,
		  struct error *err)
{
	struct net_request req;
	char text[NET_TEXT];

	proxy_request(&req, RTM_NEWNEIGH, index, addr);
	return net_request_do(net, &req, err, "cannot answer ARP for %s",
			      net_addr_text(addr, text));
}

int net_proxy_delete(struct net *net, int index, struct in_addr addr,
		     struct error *err)
{
	struct net_request req;

	proxy_request(&req, RTM_DELNEIGH, index, addr);
	return delete_neighbour(net, &req, addr, err);
}
