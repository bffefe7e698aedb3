/*
 * net.h - links, addresses, routes and neighbours, by rtnetlink
 *
 * Enough of IPv4 over Ethernet to give a capsule an address and to move that
 * address to another host.  No external program is run.
 *
 * A struct net is a socket in one network namespace and acts there while it is
 * open, even if its owner enters another namespace.  Links are identified by
 * index: a name can be taken over by another link, an index is not reused
 * before it wraps.
 *
 * Life cycle: net_open() or net_open_at(), any calls, net_close().  A forked
 * process may use its copy, provided that no two processes use it at the same
 * time.
 *
 * All calls return 0 (or an index) or a negative errno, with the kernel's own
 * explanation in *err where it gives one; outputs are untouched on failure.
 * "put" creates or replaces; "delete" succeeds also if there was nothing to
 * delete.  Packets sent after a call has returned see the change; packets
 * already under way on another CPU may not.
 */
#ifndef NET_NET_H
#define NET_NET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

#define NET_MAC_LEN  6
#define NET_NAME_LEN 16 /* of a link, with its NUL */

struct net;

/* In the namespace of the calling thread. */
int net_open(struct net **ret, struct error *err) must_check;
/*
 * In the namespace behind a descriptor (/proc/PID/ns/net); the thread visits
 * it for a moment, which takes CAP_SYS_ADMIN there and here.
 */
int net_open_at(int netns, struct net **ret, struct error *err) must_check;
void net_close(struct net *net); /* NULL is allowed */

/* ---- links ---- */

struct net_link {
	int index;
	char name[NET_NAME_LEN];
	uint8_t mac[NET_MAC_LEN];
	unsigned mtu;
	int peer;   /* index of the other end, in its namespace; 0: none */
	int master; /* the bridge it is a port of; 0: none */
	bool up;
	bool running; /* up, and the kernel has noticed that it has a carrier */
};

/* -ENODEV when there is no link of that name or index. */
int net_link_find(struct net *net, const char *name, struct net_link *ret,
		  struct error *err) must_check;
int net_link_get(struct net *net, int index, struct net_link *ret,
		 struct error *err) must_check;

/* One end of a pair; NULL members are left to the kernel. */
struct net_veth_end {
	const char *name;
	const uint8_t *mac;
	int netns; /* descriptor, or -1 for the socket's own */
};

/*
 * Both ends are down at first.  End a must have a name.  Returns the index of
 * a, or 0 if it is in another namespace.
 */
int net_veth_create(struct net *net, const struct net_veth_end *a,
		    const struct net_veth_end *b, unsigned mtu,
		    struct error *err) must_check;
/* Without spanning tree, so that a new port forwards at once. */
int net_bridge_create(struct net *net, const char *name,
		      struct error *err) must_check;
int net_link_delete(struct net *net, int index, struct error *err) must_check;
int net_link_up(struct net *net, int index, bool up,
		struct error *err) must_check;
int net_link_set_mac(struct net *net, int index, const uint8_t *mac,
		     struct error *err) must_check;
/*
 * Up, and packets that come in by it are forwarded, also those whose sender
 * would not be answered by it (rp_filter). Not by sysctls: a write to these does not
 * sleep while others change links, but is tried again and again by the processor.
 */
int net_link_up_forwarding(struct net *net, int index,
			   struct error *err) must_check;
/* Make it a port of a bridge (0: of none). */
int net_link_set_master(struct net *net, int index, int bridge,
			struct error *err) must_check;
/*
 * Let a bridge's port pass frames, or drop all frames in both directions
 * silently; the bridge keeps its learned addresses.  The port must be up to be
 * opened.
 */
int net_port_open(struct net *net, int index, bool open,
		  struct error *err) must_check;

/* ---- addresses, routes ---- */

int net_address_put(struct net *net, int index, struct in_addr addr,
		    unsigned prefix, struct error *err) must_check;
int net_address_delete(struct net *net, int index, struct in_addr addr,
		       unsigned prefix, struct error *err) must_check;

struct net_route {
	struct in_addr dst; /* with prefix 0: the default route */
	unsigned prefix;
	struct in_addr via; /* 0.0.0.0: directly on the link */
	struct in_addr src; /* preferred source, or 0.0.0.0 */
	int index;	    /* the link; 0 with blackhole */
	bool blackhole;	    /* forwarded packets vanish without any ICMP */
};
int net_route_put(struct net *net, const struct net_route *route,
		  struct error *err) must_check;
int net_route_delete(struct net *net, const struct net_route *route,
		     struct error *err) must_check;

/* ---- neighbours ---- */

/* A permanent entry: no ARP is ever made for it. */
int net_neighbour_put(struct net *net, int index, struct in_addr addr,
		      const uint8_t *mac, struct error *err) must_check;
int net_neighbour_delete(struct net *net, int index, struct in_addr addr,
			 struct error *err) must_check;
/*
 * Answer ARP requests for addr on this link (proxy ARP).  Needs forwarding on
 * the link and a route to addr over another link.
 */
int net_proxy_put(struct net *net, int index, struct in_addr addr,
		  struct error *err) must_check;
int net_proxy_delete(struct net *net, int index, struct in_addr addr,
		     struct error *err) must_check;

/*
 * Gratuitous ARP: tell everybody on a link that addr is at mac.  Hosts that
 * have an entry for addr update it at once, hosts that are resolving it have
 * their answer; nobody replies.  Sent as request and as reply, since some hosts
 * accept only one of them.  fd: net_packet_open().
 */
int net_packet_open(struct error *err) must_check;
int net_packet_open_at(int netns, struct error *err) must_check;
int net_arp_announce(int fd, int index, struct in_addr addr, const uint8_t *mac,
		     struct error *err) must_check;

/* An ARP frame of that operation (1 request, 2 reply), for tests. */
#define NET_ARP_FRAME 42
void net_arp_build(uint8_t frame[NET_ARP_FRAME], unsigned op,
		   struct in_addr addr, const uint8_t *mac);

/* ---- settings ---- */

/*
 * Set /proc/sys/net/ipv4/KEY in the namespace of the calling thread (through
 * proc, a descriptor of /proc, or AT_FDCWD).  -ENOENT where the kernel has
 * none.
 */
int net_sysctl(const char *key, const char *value) must_check;
/* The same for conf/LINK/KEY or neigh/LINK/KEY. */
int net_sysctl_link(const char *table, const char *link, const char *key,
		    const char *value) must_check;

/*
 * Prepare this host (the calling thread's namespace) for routed capsules: its
 * uplink forwards, answers proxied ARP without delay and sends no redirects,
 * and the pool's addresses are routed to the uplink's LAN.
 */
int net_host_prepare(struct net *net, const char *uplink, struct in_addr pool,
		     unsigned prefix, struct error *err) must_check;

/* ---- text ---- */

/* "10.77.0.0/16"; without "/n" it is 32.  Host bits may be set. */
int net_parse_cidr(const char *text, struct in_addr *ret, unsigned *ret_prefix,
		   struct error *err) must_check;
/* 02:53:a:b:c:d, locally administered: the MAC that belongs to IPv4 a.b.c.d. */
void net_mac_of(struct in_addr addr, uint8_t *ret);

#define NET_TEXT 20
/* Into buf of NET_TEXT bytes; returns buf. */
const char *net_addr_text(struct in_addr addr, char *buf);

/* Run fn(arg) in another network namespace, then come back. */
int net_visit(int netns, int (*fn)(void *arg, struct error *err), void *arg,
	      struct error *err);

#endif
