/* link.c - make, change and remove links, see net.h */
#include <errno.h>
#include <linux/if.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/veth.h>
#include <stdio.h>
#include <string.h>

#include "net/request.h"

static int read_attr(const struct nlattr *attr, void *data)
{
	struct net_link *link = data;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_IFNAME:
		snprintf(link->name, sizeof(link->name), "%s",
			 mnl_attr_get_str(attr));
		break;
	case IFLA_ADDRESS:
		if (mnl_attr_get_payload_len(attr) == NET_MAC_LEN)
			memcpy(link->mac, mnl_attr_get_payload(attr),
			       NET_MAC_LEN);
		break;
	case IFLA_MTU:
		link->mtu = mnl_attr_get_u32(attr);
		break;
	case IFLA_LINK:
		link->peer = mnl_attr_get_u32(attr);
		break;
	case IFLA_MASTER:
		link->master = mnl_attr_get_u32(attr);
		break;
	}
	return MNL_CB_OK;
}

static void read_link(const struct nlmsghdr *nlh, void *data)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	struct net_link *link = data;

	if (nlh->nlmsg_type != RTM_NEWLINK)
		return;
	link->index = ifi->ifi_index;
	link->up = ifi->ifi_flags & IFF_UP;
	link->running = ifi->ifi_flags & IFF_RUNNING;
	mnl_attr_parse(nlh, sizeof(*ifi), read_attr, link);
}

static int get_link(struct net *net, const char *name, int index,
		    struct net_link *ret)
{
	struct net_link link = { 0 };
	struct net_request req;
	struct ifinfomsg *ifi =
		net_request_init(&req, RTM_GETLINK, 0, sizeof(*ifi));
	int r;

	ifi->ifi_index = index;
	mnl_attr_put_u32(req.nlh, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	if (name)
		mnl_attr_put_strz(req.nlh, IFLA_IFNAME, name);
	r = net_request_call(net, &req, read_link, &link);
	if (r >= 0)
		*ret = link;
	return r;
}

int net_link_find(struct net *net, const char *name, struct net_link *ret,
		  struct error *err)
{
	int r = strlen(name) < NET_NAME_LEN ? get_link(net, name, 0, ret)
					    : -ENODEV;

	return r < 0 ? error_sys(err, r, "link %s", name) : 0;
}

int net_link_get(struct net *net, int index, struct net_link *ret,
		 struct error *err)
{
	int r = get_link(net, NULL, index, ret);

	return r < 0 ? error_sys(err, r, "link %d", index) : 0;
}

/*
 * Name, address and home of one end; goes into both halves of the request.  One
 * queue each way is what a pair has in use in any case; if it is not asked for, the
 * kernel makes one a processor, and waits for a grace period, with all changes of
 * links shut out, until only one is in use.
 */
static void put_end(struct nlmsghdr *nlh, const struct net_veth_end *end,
		    unsigned mtu)
{
	if (end->name)
		mnl_attr_put_strz(nlh, IFLA_IFNAME, end->name);
	if (end->mac)
		mnl_attr_put(nlh, IFLA_ADDRESS, NET_MAC_LEN, end->mac);
	if (end->netns >= 0)
		mnl_attr_put_u32(nlh, IFLA_NET_NS_FD, end->netns);
	if (mtu)
		mnl_attr_put_u32(nlh, IFLA_MTU, mtu);
	mnl_attr_put_u32(nlh, IFLA_NUM_TX_QUEUES, 1);
	mnl_attr_put_u32(nlh, IFLA_NUM_RX_QUEUES, 1);
}

int net_veth_create(struct net *net, const struct net_veth_end *a,
		    const struct net_veth_end *b, unsigned mtu,
		    struct error *err)
{
	struct net_request req;
	struct nlattr *info, *data, *peer;
	struct net_link made;
	int r;

	net_request_init(&req, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL,
			 sizeof(struct ifinfomsg));
	put_end(req.nlh, a, mtu);
	info = mnl_attr_nest_start(req.nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(req.nlh, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(req.nlh, IFLA_INFO_DATA);
	peer = mnl_attr_nest_start(req.nlh, VETH_INFO_PEER);
	mnl_nlmsg_put_extra_header(req.nlh, sizeof(struct ifinfomsg));
	put_end(req.nlh, b, mtu);
	mnl_attr_nest_end(req.nlh, peer);
	mnl_attr_nest_end(req.nlh, data);
	mnl_attr_nest_end(req.nlh, info);
	r = net_request_do(net, &req, err, "cannot create link %s", a->name);
	if (r < 0 || a->netns >= 0)
		return r;
	r = net_link_find(net, a->name, &made, err);
	return r < 0 ? r : made.index;
}

int net_bridge_create(struct net *net, const char *name, struct error *err)
{
	struct net_request req;
	struct nlattr *info, *data;
	struct net_link made;
	int r;

	net_request_init(&req, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL,
			 sizeof(struct ifinfomsg));
	mnl_attr_put_strz(req.nlh, IFLA_IFNAME, name);
	info = mnl_attr_nest_start(req.nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(req.nlh, IFLA_INFO_KIND, "bridge");
	data = mnl_attr_nest_start(req.nlh, IFLA_INFO_DATA);
	mnl_attr_put_u32(req.nlh, IFLA_BR_FORWARD_DELAY, 0);
	mnl_attr_put_u32(req.nlh, IFLA_BR_STP_STATE, 0);
	mnl_attr_nest_end(req.nlh, data);
	mnl_attr_nest_end(req.nlh, info);
	r = net_request_do(net, &req, err, "cannot create link %s", name);
	if (!r)
		r = net_link_find(net, name, &made, err);
	return r < 0 ? r : made.index;
}

static struct ifinfomsg *begin_change(struct net_request *req, uint16_t type,
				      int index)
{
	struct ifinfomsg *ifi = net_request_init(req, type, 0, sizeof(*ifi));

	ifi->ifi_index = index;
	return ifi;
}

int net_link_delete(struct net *net, int index, struct error *err)
{
	struct net_request req;
	int r;

	begin_change(&req, RTM_DELLINK, index);
	r = net_request_do(net, &req, err, "cannot delete link %d", index);
	return r == -ENODEV ? 0 : r;
}

int net_link_up(struct net *net, int index, bool up, struct error *err)
{
	struct net_request req;
	struct ifinfomsg *ifi = begin_change(&req, RTM_NEWLINK, index);

	ifi->ifi_change = IFF_UP;
	ifi->ifi_flags = up ? IFF_UP : 0;
	return net_request_do(net, &req, err, "cannot set link %d %s", index,
			      up ? "up" : "down");
}

int net_link_set_mac(struct net *net, int index, const uint8_t *mac,
		     struct error *err)
{
	struct net_request req;

	begin_change(&req, RTM_NEWLINK, index);
	mnl_attr_put(req.nlh, IFLA_ADDRESS, NET_MAC_LEN, mac);
	return net_request_do(net, &req, err, "cannot give link %d its address",
			      index);
}

int net_link_up_forwarding(struct net *net, int index, struct error *err)
{
	struct net_request req;
	struct ifinfomsg *ifi = begin_change(&req, RTM_NEWLINK, index);
	struct nlattr *families, *inet, *conf;

	ifi->ifi_change = ifi->ifi_flags = IFF_UP;
	families = mnl_attr_nest_start(req.nlh, IFLA_AF_SPEC);
	inet = mnl_attr_nest_start(req.nlh, AF_INET);
	conf = mnl_attr_nest_start(req.nlh, IFLA_INET_CONF);
	mnl_attr_put_u32(req.nlh, IPV4_DEVCONF_FORWARDING, 1);
	mnl_attr_put_u32(req.nlh, IPV4_DEVCONF_RP_FILTER, 0);
	mnl_attr_nest_end(req.nlh, conf);
	mnl_attr_nest_end(req.nlh, inet);
	mnl_attr_nest_end(req.nlh, families);
	return net_request_do(net, &req, err, "cannot let link %d forward",
			      index);
}

int net_link_set_master(struct net *net, int index, int bridge,
			struct error *err)
{
	struct net_request req;

	begin_change(&req, RTM_NEWLINK, index);
	mnl_attr_put_u32(req.nlh, IFLA_MASTER, bridge);
	return net_request_do(net, &req, err,
			      "cannot make link %d a port of bridge %d", index,
			      bridge);
}

int net_port_open(struct net *net, int index, bool open, struct error *err)
{
	struct net_request req;
	struct ifinfomsg *ifi = begin_change(&req, RTM_SETLINK, index);
	struct nlattr *info;

	ifi->ifi_family = AF_BRIDGE;
	info = mnl_attr_nest_start(req.nlh, IFLA_PROTINFO | NLA_F_NESTED);
	mnl_attr_put_u8(req.nlh, IFLA_BRPORT_STATE,
			open ? BR_STATE_FORWARDING : BR_STATE_DISABLED);
	mnl_attr_nest_end(req.nlh, info);
	return net_request_do(net, &req, err, "cannot %s port %d of its bridge",
			      open ? "open" : "close", index);
}
