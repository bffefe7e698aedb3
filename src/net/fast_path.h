/*
 * fast_path.h - a capsule's TCP bypasses the forwarding of its host
 *
 * A packet between a capsule and another host is forwarded once at each end,
 * which is half of the extra cost of a small message in a capsule.  Two BPF
 * programs avoid it (doc/design/10-capsule.md):
 *
 *	uplink, ingress:       to the capsule	-> into its eth0
 *	host's end, ingress:   of the capsule	-> out of the uplink
 *
 * They take a packet only if forwarding would have the same effect: TCP over
 * plain IPv4 from or to exactly this address, addressed to this host's MAC,
 * where the host's own routes lead between capsule and peer over the uplink,
 * and no larger than that route's MTU.  Every other packet, and every packet
 * while a door is shut, is forwarded as usual.
 * What the routes said holds for 0.2 ms for packets of the same connection.
 *
 * There are two switches ("doors"), both shut at first; a packet takes the fast
 * path only while both are open:
 *  - fast_path_plug(): the capsule is plugged.  It stores into shared memory, so it works in every process forked after fast_path_create().
 *  - fast_path_allow(): nothing on the host needs to see forwarded packets (net_hooks_find()).
 * A packet that has passed the doors on another CPU at the moment one is shut
 * is delivered within the same softirq run: to the capsule's TCP, or to the
 * uplink's queue.  It is queued nowhere in between.
 *
 * The programs are held by descriptors: they are detached when the last process
 * that has one exits, for whatever reason.  Kernels before 6.6 cannot attach
 * them.
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

/* Creates only the doors; takes some microseconds. */
int fast_path_create(struct fast_path **ret, const struct fast_path_spec *spec,
		     struct error *err) must_check;
void fast_path_destroy(struct fast_path *f); /* NULL is allowed */

/*
 * Load the programs and attach them, in the caller's network namespace.  Waits
 * for two RCU grace periods (some 10 ms).  A second call does nothing.
 */
int fast_path_attach(struct fast_path *f, struct error *err) must_check;
/* Is one of them? */
bool fast_path_attached(const struct fast_path *f);

/*
 * When it returns, no packet takes the fast path any more (false), or packets
 * may (true).
 */
void fast_path_plug(struct fast_path *f, bool plugged); /* NULL is allowed */
void fast_path_allow(struct fast_path *f, bool allowed);

/*
 * Does anything on this host (the caller's network namespace) inspect forwarded
 * packets or what comes in by the uplink, so that the fast path would bypass
 * it: a table of nftables or iptables, an ingress qdisc or somebody else's tcx
 * program on the uplink, a BPF program at a hook of netfilter (in any
 * namespace), a service of IPVS, a policy of IPsec?  Returns 1 and the name of
 * the first one, 0 if there is none, or -errno if it cannot be determined.  Any
 * table counts, even one without rules: its hooks are not examined.
 */
#define NET_HOOK_TEXT 80
int net_hooks_find(int uplink, char what[NET_HOOK_TEXT],
		   struct error *err) must_check;

/*
 * The result of net_hooks_find() for an uplink (found: its return value), to be
 * passed on.
 */
struct net_hooks {
	int uplink;
	int found;
	char text[128]; /* what, or why it cannot be told; one line */
};
void net_hooks_look(int uplink, struct net_hooks *ret);

#endif
