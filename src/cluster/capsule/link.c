/*
 * link.c - a capsule's address, where it is and where it is not
 *
 * Routed: the capsule's eth0 has ADDRESS/32 and knows only a gateway, the same
 * for every capsule on every host (169.254.1.1, one fixed MAC), so nothing
 * inside changes by a move.  Both ends of the pair know each other by permanent
 * neighbour entries; no ARP is made on it.  The host has a /32 route to it and
 * answers ARP for it on the uplink.
 *
 *	 capsule                     host                       LAN
 *	eth0 ADDRESS ---- pair ---- GATEWAY MAC    uplink ---- other hosts
 *	 gateway is at MAC      ADDRESS is at MAC   "ADDRESS is at uplink"
 *
 * TCP between the capsule and other hosts need not be forwarded at all: see
 * net/fast_path.h, whose one door is opened after and shut before all else
 * here.
 *
 * Unplugged, both neighbour entries name a MAC that nobody has: frames are
 * still sent, and ignored on arrival, which no protocol takes for an error.  Two
 * messages to the kernel, no grace period.
 *
 * Bridged: the host's end is a port of the bridge, which unplugged is closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cluster/capsule/bounds.h"
#include "cluster/capsule/priv.h"
#include "core/io.h"
#include "core/units.h"

#define CARRIER_TRIES 10000 /* of half a millisecond */
#define GONE_MS	      5000  /* for the pair to die with its namespace */

static const uint8_t gateway_mac[NET_MAC_LEN] = { 0x02, 0x53, 0x74,
						  0x69, 0x6e, 0x74 };
static const uint8_t nobody_mac[NET_MAC_LEN] = { 0x02, 0x53, 0x00,
						 0x00, 0x00, 0x00 };

static struct in_addr gateway(void)
{
	return (struct in_addr){ .s_addr = htonl(0xa9fe0101) };
}

static struct net_route host_route(const struct capsule_link *l)
{
	return (struct net_route){
		.dst = l->address,
		.prefix = 32,
		.index = l->index,
	};
}

int link_plan(struct capsule_link *l, const struct capsule_spec *spec,
	      struct error *err)
{
	static const uint8_t none[NET_MAC_LEN];
	static unsigned count;

	memset(l, 0, sizeof(*l));
	l->mode = spec->net;
	l->address = spec->address;
	l->packet = l->spare.netns = -1;
	if (l->mode == CAPSULE_NET_NONE)
		return 0;
	if (!spec->address.s_addr)
		return error_set(err, -EINVAL, "a capsule needs an address");
	if (l->mode == CAPSULE_NET_BRIDGE &&
	    (!spec->uplink || !spec->prefix || spec->prefix > 32))
		return error_set(
			err, -EINVAL,
			"bridge mode needs a bridge and a prefix length");
	memcpy(l->mac, spec->mac, NET_MAC_LEN);
	if (!memcmp(l->mac, none, NET_MAC_LEN))
		net_mac_of(spec->address, l->mac);
	/* Unique while we live; afterwards it is gone with its namespace. */
	snprintf(l->name, sizeof(l->name), "%s%dx%u",
		 spec->bound ? BOUNDS_LINKS : "sto", getpid(), count++ % 10000);
	if (spec->uplink) {
		if (strlen(spec->uplink) >= sizeof(l->uplink))
			return error_set(err, -ENODEV, "no link %s",
					 spec->uplink);
		snprintf(l->uplink, sizeof(l->uplink), "%s", spec->uplink);
	}
	return 0;
}

/* ---- making it ---- */

int link_make_pair(struct capsule_link *l, int netns, struct error *err)
{
	struct net_veth_end host = { .name = l->name, .netns = -1 };
	struct net_veth_end inside = {
		.name = "eth0",
		.mac = l->mac,
		.netns = netns,
	};
	uint8_t port_mac[NET_MAC_LEN];
	struct net_link eth0;
	int r;

	/*
	 * A bridge that was given no address has the lowest of its ports', and who
	 * talks to the host would lose it when that changes: ours is above any card's.
	 */
	memcpy(port_mac, l->mac, NET_MAC_LEN);
	port_mac[0] = 0xfe;
	host.mac = l->mode == CAPSULE_NET_ROUTED ? gateway_mac : port_mac;
	r = net_veth_create(l->host, &host, &inside, l->mtu, err);
	if (r < 0)
		return r;
	l->index = r;
	r = net_link_find(l->inside, "eth0", &eth0, err);
	if (!r)
		l->eth0 = eth0.index;
	return r;
}

static int set_up_inside(const struct capsule_link *l,
			 const struct capsule_spec *spec, struct error *err)
{
	struct net_route out = { .via = gateway(), .src = l->address };
	bool routed = l->mode == CAPSULE_NET_ROUTED;
	int r;

	out.index = l->eth0;
	if ((r = net_address_put(l->inside, l->eth0, l->address,
				 routed ? 32 : spec->prefix, err)) < 0 ||
	    (l->spare.netns < 0 &&
	     (r = net_link_up(l->inside, l->eth0, true, err)) < 0) ||
	    !routed ||
	    (!spec->plugs &&
	     (r = net_neighbour_put(l->inside, l->eth0, gateway(), nobody_mac,
				    err)) < 0))
		return r;
	return net_route_put(l->inside, &out, err);
}

static int set_up_host(const struct capsule_link *l,
		       const struct capsule_spec *spec, struct error *err)
{
	int r;

	if (l->mode == CAPSULE_NET_BRIDGE)
		return net_link_up(l->host, l->index, true, err);
	/* The route back is there only while plugged. */
	r = l->spare.netns < 0 ? net_link_up_forwarding(l->host, l->index, err)
			       : 0;
	if (r < 0 || spec->plugs)
		return r;
	return net_neighbour_put(l->host, l->index, l->address, nobody_mac,
				 err);
}

/*
 * The kernel tells that a link has its carrier some time after both ends are
 * up, on a busy host some milliseconds; until then UCX does not see the device,
 * and MPI_Init of the peers says "Destination is unreachable".
 */
int link_await(const struct capsule_link *l, struct error *err)
{
	const struct timespec pause = { .tv_nsec = 500000 };
	struct net_link eth0;

	if (l->mode == CAPSULE_NET_NONE)
		return 0;
	for (int i = 0; i < CARRIER_TRIES; i++) {
		int r = net_link_get(l->inside, l->eth0, &eth0, err);

		if (r < 0 || eth0.running)
			return r;
		nanosleep(&pause, NULL);
	}
	return error_set(err, -ENETDOWN, "eth0 of the capsule gets no carrier");
}

/* Of this program and what it forks; negative: each link has one of its own. */
static int announcer = -1;

/* To close the last descriptor of one waits for a grace period. */
void link_prepare(void)
{
	if (announcer < 0)
		announcer = net_packet_open(NULL);
}

static int open_announcer(struct error *err)
{
	int fd;

	if (announcer < 0)
		return net_packet_open(err);
	fd = fcntl(announcer, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? error_sys(err, -errno, "descriptors") : fd;
}

static int look_at_uplink(struct capsule_link *l, int netns, struct error *err)
{
	struct net_link up;
	int r = net_link_find(l->host, l->uplink, &up, err);

	if (r < 0)
		return r;
	l->uplink_index = up.index;
	memcpy(l->uplink_mac, up.mac, NET_MAC_LEN);
	if (!l->mtu)
		l->mtu = up.mtu;
	/* A bridge learns from what the capsule itself sends. */
	r = l->mode == CAPSULE_NET_BRIDGE ? net_packet_open_at(netns, err)
					  : open_announcer(err);
	if (r >= 0)
		l->packet = r;
	return r < 0 ? r : 0;
}

/*
 * The fast path's doors are in memory that engines share, so they are there before one is
 * forked.  What begins here needs them when it moves, or has lived for a while:
 * most are over by then.
 */
void link_need_doors(struct capsule_link *l, bool plugged)
{
	struct fast_path_spec spec = {
		.uplink = l->uplink_index,
		.index = l->index,
		.address = l->address,
	};

	if (l->doors_tried || l->mode != CAPSULE_NET_ROUTED || !l->uplink_index)
		return;
	l->doors_tried = true;
	if (fast_path_create(&l->fast, &spec, &l->why_slow) < 0)
		l->fast = NULL;
	else
		fast_path_plug(l->fast, plugged);
}

int link_look_at_host(struct capsule_link *l, const struct capsule_spec *spec,
		      int netns, struct error *err)
{
	int r = l->host ? 0 : net_open(&l->host, err);

	if (r < 0 || l->uplink_index)
		return r;
	l->mtu = spec->mtu;
	return l->uplink[0] ? look_at_uplink(l, netns, err) : 0;
}

/* A spare has them, and the last capsule's address as its MAC. */
static int make_ends(struct capsule_link *l, int netns, struct error *err)
{
	if (l->spare.netns < 0)
		return link_make_pair(l, netns, err);
	return l->spare.new ? 0
			    : net_link_set_mac(l->inside, l->eth0, l->mac, err);
}

int link_make(struct capsule_link *l, const struct capsule_spec *spec,
	      int netns, struct error *err)
{
	int r;

	if (l->mode == CAPSULE_NET_NONE) {
		error_set(&l->why_slow, -ENODEV, "it has no network");
		return 0;
	}
	error_set(&l->why_slow, -EOPNOTSUPP, "it is not routed to an uplink");
	if ((r = link_look_at_host(l, spec, netns, err)) < 0 ||
	    (!l->inside && (r = net_open_at(netns, &l->inside, err)) < 0) ||
	    (r = make_ends(l, netns, err)) < 0 ||
	    (r = set_up_inside(l, spec, err)) < 0)
		return r;
	if (spec->lands)
		link_need_doors(l, false);
	return set_up_host(l, spec, err);
}

int link_init_inside(struct error *err)
{
	struct net_link lo;
	struct net *net;
	int r = net_open(&net, err);

	if (r < 0)
		return r;
	r = net_link_find(net, "lo", &lo, err);
	if (!r)
		r = net_link_up(net, lo.index, true, err);
	net_close(net);
	/*
	 * A restored socket has no smoothed round-trip time and starts with the
	 * longest timeout; the least one bounds how fast it recovers.
	 * Kernels before 6.10 have no such setting.
	 */
	(void)!net_sysctl("tcp_rto_min_us", "5000");
	/*
	 * One LAN, and nothing learned of the path survives a move: control
	 * by pacing (BBR) would begin at a crawl each time.  A host may not
	 * offer cubic to namespaces; it always has reno.
	 */
	if (net_sysctl("tcp_congestion_control", "cubic") < 0)
		(void)!net_sysctl("tcp_congestion_control", "reno");
	/* No router and no duplicate is ever looked for on eth0. */
	(void)!net_sysctl("../ipv6/conf/default/disable_ipv6", "1");
	return r;
}

/* ---- taking it down: each step whether or not the one before it worked ---- */

void link_cut(struct capsule_link *l, bool plugged)
{
	struct net_route route = host_route(l);

	if (!l->host || !l->index)
		return;
	if (l->mode == CAPSULE_NET_BRIDGE) {
		if (plugged)
			(void)!net_port_open(l->host, l->index, false, NULL);
		return;
	}
	fast_path_plug(l->fast, false);
	if (l->inside) /* else it could not be entered */
		(void)!net_neighbour_put(l->inside, l->eth0, gateway(),
					 nobody_mac, NULL);
	/* From then on nothing goes there that would ask for the neighbour. */
	(void)!net_route_delete(l->host, &route, NULL);
	l->cut = !net_neighbour_delete(l->host, l->index, l->address, NULL);
	if (plugged && l->uplink_index)
		(void)!net_proxy_delete(l->host, l->uplink_index, l->address,
					NULL);
}

void link_close(struct capsule_link *l, bool kept)
{
	fast_path_destroy(l->fast);
	l->fast = NULL;
	net_close(l->inside);
	l->inside = NULL;
	io_close(&l->packet);
	if (!kept)
		store_let_go(&l->spare);
}

/*
 * To delete a pair the kernel waits for grace periods, 50 ms with all changes of
 * links on the machine shut out; the pairs of all namespaces that died meanwhile
 * it deletes as one.  It is looked for by what takes no lock.
 */
static bool is_gone(const struct capsule_link *l)
{
	long ms = 4;

	for (long waited = 0; if_nametoindex(l->name) == (unsigned)l->index;
	     waited += ms, ms = ms < 64 ? 2 * ms : ms) {
		if (waited >= GONE_MS)
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = ms * NSEC_PER_MSEC },
			  NULL);
	}
	return true;
}

void link_remove(struct capsule_link *l)
{
	/* Somebody may hold the namespace open from outside. */
	if (l->host && l->index && !is_gone(l))
		(void)!net_link_delete(l->host, l->index, NULL);
}

void link_forget(struct capsule_link *l)
{
	store_let_go(&l->spare);
	net_close(l->host);
	l->host = NULL;
}

/* ---- plug, unplug, yield ---- */

static int plug_routed(const struct capsule_link *l, struct error *err)
{
	struct net_route route = host_route(l);
	int r;

	if ((r = net_neighbour_put(l->host, l->index, l->address, l->mac,
				   err)) < 0 ||
	    (r = net_route_put(l->host, &route, err)) < 0 ||
	    (r = net_neighbour_put(l->inside, l->eth0, gateway(), gateway_mac,
				   err)) < 0 ||
	    !l->uplink_index)
		return r;
	fast_path_plug(l->fast, true);
	if ((r = net_proxy_put(l->host, l->uplink_index, l->address, err)) < 0)
		return r;
	return net_arp_announce(l->packet, l->uplink_index, l->address,
				l->uplink_mac, err);
}

static int plug_bridged(const struct capsule_link *l, struct error *err)
{
	struct net_link now;
	int r = net_link_get(l->host, l->index, &now, err);

	if (r < 0)
		return r;
	r = now.master == l->uplink_index
		    ? net_port_open(l->host, l->index, true, err)
		    : net_link_set_master(l->host, l->index, l->uplink_index,
					  err);
	return r < 0 ? r
		     : net_arp_announce(l->packet, l->eth0, l->address, l->mac,
					err);
}

int capsule_plug(struct capsule *c, struct error *err)
{
	const struct capsule_link *l = &c->link;
	int r;

	if (l->mode == CAPSULE_NET_NONE)
		return 0;
	c->shared->plugged = true;
	r = l->mode == CAPSULE_NET_ROUTED ? plug_routed(l, err)
					  : plug_bridged(l, err);
	return r < 0 ? error_prefix(err, r, "capsule %s", c->name) : 0;
}

static int unplug_routed(const struct capsule_link *l, struct error *err)
{
	int r;

	fast_path_plug(l->fast, false);
	if ((r = net_neighbour_put(l->inside, l->eth0, gateway(), nobody_mac,
				   err)) < 0 ||
	    (r = net_neighbour_put(l->host, l->index, l->address, nobody_mac,
				   err)) < 0 ||
	    !l->uplink_index)
		return r;
	return net_proxy_delete(l->host, l->uplink_index, l->address, err);
}

int capsule_unplug(struct capsule *c, struct error *err)
{
	const struct capsule_link *l = &c->link;
	int r;

	if (l->mode == CAPSULE_NET_NONE || !c->shared->plugged)
		return 0;
	c->shared->disturbed = true;
	r = l->mode == CAPSULE_NET_ROUTED
		    ? unplug_routed(l, err)
		    : net_port_open(l->host, l->index, false, err);
	if (r < 0)
		return error_prefix(err, r, "capsule %s", c->name);
	c->shared->plugged = false;
	return 0;
}

int capsule_yield(struct capsule *c, struct error *err)
{
	struct net_route route = host_route(&c->link);
	int r = capsule_unplug(c, err);

	if (r < 0 || c->link.mode != CAPSULE_NET_ROUTED)
		return r;
	return net_route_delete(c->link.host, &route, err);
}

/* ---- the fast path ---- */

int capsule_fast_path(struct capsule *c, const struct net_hooks *seen,
		      struct error *why)
{
	struct capsule_link *l = &c->link;
	struct net_hooks own;
	int r;

	link_need_doors(l, c->shared->plugged);
	if (!l->fast) {
		*why = l->why_slow;
		return l->mode == CAPSULE_NET_NONE ? -ENODEV : -EOPNOTSUPP;
	}
	if (!seen || seen->uplink != l->uplink_index) {
		net_hooks_look(l->uplink_index, &own);
		seen = &own;
	}
	if (seen->found) {
		error_set(why, -EBUSY, "%s", seen->text);
		fast_path_allow(l->fast, false);
		return 0;
	}
	if ((r = fast_path_attach(l->fast, why)) < 0)
		return r;
	fast_path_allow(l->fast, true);
	return 1;
}
