/*
 * fast_path.h - a capsule's TCP past the forwarding of its host
 *
 * A packet between a capsule and another host is forwarded twice, at either
 * end, and that is half of what a small message pays more than without a
 * capsule.  Two BPF programs take the way off it (doc/design/10-capsule.md):
 *
 *	uplink, ingress:       to the capsule	-> into its eth0
 *	host's end, ingress:   of the capsule	-> out of the uplink
 *
 * They take a packet only where forwarding would do nothing else with it: TCP
 * over plain IPv4 from or to exactly this address, for this host's MAC, where
 * the host's own routes say that capsule and peer see each other by the
 * uplink, and not larger than that route allows.  Every other packet, and
 * every one while a door is shut, goes the ordinary way.
 *
 * There are two doors, both shut at first, and a packet takes the fast path
 * only where both are open:
 *  - fast_path_plug(): the capsule is plugged.  A store into shared memory, so
 *    it is good in every process forked after fast_path_create().
 *  - fast_path_allow(): nothing on the host wants to see forwarded packets;
 *    net_hooks_find() tells.
 * A packet that has passed the doors on another CPU when one is shut is
 * delivered within the same run of its softirq: into the capsule's TCP, or into
 * the uplink's queue.  It waits nowhere in between.
 *
 * The programs are held by descriptors: they end with the last process that
 * has one, however it ends.  Kernels before 6.6 cannot attach them.
 */
#ifndef NET_FAST_PATH_H
#define NET_FAST_PATH_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct fast_path_spec {
	int uplink;		/* index */
	int index;		/* of the host's end of the capsule's pair */
	struct in_addr address; /* the capsule's */
};

struct fast_path;

/* Only the doors; takes some microseconds. */
int fast_path_create(struct fast_path **ret, const struct fast_path_spec *spec,
		     struct error *err) must_check;
void fast_path_destroy(struct fast_path *f); /* NULL is allowed */

/*
 * Load the programs and attach them, in the caller's network namespace.  Waits
 * for two grace periods (some 10 ms).  Nothing is done the second time.
 */
int fast_path_attach(struct fast_path *f, struct error *err) must_check;

/* From the return on no packet takes it (false), or some may (true). */
void fast_path_plug(struct fast_path *f, bool plugged); /* NULL is allowed */
void fast_path_allow(struct fast_path *f, bool allowed);

/*
 * Is there something on this host (the caller's network namespace) that looks
 * at forwarded packets or at what comes in by the uplink, and that the fast
 * path would pass by: a table of nftables or iptables, an ingress qdisc or
 * somebody else's tcx program on the uplink, a BPF program at a hook of
 * netfilter (in any namespace), a service of IPVS, a policy of IPsec?  1 and the
 * first one's name, 0 if none, or -errno if it cannot be told.  Any table
 * counts, with rules or without: what hooks there are in it is not looked at.
 */
#define NET_HOOK_TEXT 80
int net_hooks_find(int uplink, char what[NET_HOOK_TEXT],
		   struct error *err) must_check;

/* What it found at an uplink (found: what it returned), to be handed on. */
struct net_hooks {
	int uplink;
	int found;
	char text[128]; /* what, or why it cannot be told; one line */
};
void net_hooks_look(int uplink, struct net_hooks *ret);

#endif
