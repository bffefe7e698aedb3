/*
 * traffic.h - how much a guest has sent to each of its peers
 *
 * From the connections of its network namespace (net/talks.h), from one look to
 * the next.  A connection that ended since the last look is not counted to its
 * end.  A guest that has no network of its own has no traffic.
 */
#ifndef CLUSTER_AGENT_TRAFFIC_H
#define CLUSTER_AGENT_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>

#include "cluster/capsule/record.h"
#include "net/talks.h"

/* Sent to one peer since it was last taken. */
struct sent {
	struct in_addr peer;
	uint64_t bytes, segments;
};

/* Of a guest; all 0 at first. */
struct traffic {
	struct net_talk *known; /* as they were at the last look */
	size_t nr_known;
	struct sent *sent; /* by peer */
	size_t nr_sent, cap_sent;
	uint64_t total; /* bytes that were counted so far, taken ones too */
};

/*
 * Look at its connections.  anew: a connection that was not seen by the last look
 * has begun since, and all that it sent counts.  Otherwise it may be older than
 * this agent, and only what it sends from now on counts.
 */
void traffic_look(struct traffic *t, const struct capsule_record *rec,
		  bool anew);
/* The same for one that is given: what traffic_look() found there. */
void traffic_feed(struct traffic *t, struct net_talk *talks, size_t nr,
		  bool anew);
/*
 * Take the counts of the `most` peers, at most, to which most was sent, and return
 * how many those are.  Their counts begin at 0 again; those of all others go on
 * growing until they are taken.
 */
size_t traffic_take(struct traffic *t, struct sent *ret, size_t most);
void traffic_clear(struct traffic *t);

#endif
