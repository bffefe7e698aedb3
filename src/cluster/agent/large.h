/*
 * large.h - guests of so many threads that it takes long to look at each
 *
 * Whoever has thousands of them would keep the agent, for seconds at a time, from all else
 * that it does: from its owner, who has just come, and from other people's ranks.  So
 * guests above GUEST_LARGE are looked at one in a round, in turn, and then none for some
 * times as long as that took.
 */
#ifndef CLUSTER_AGENT_LARGE_H
#define CLUSTER_AGENT_LARGE_H

#include <stdbool.h>
#include <stddef.h>

#include "cluster/capsule/record.h"
#include "core/units.h"

#define GUEST_LARGE 256 /* threads */

struct large_guest {
	struct process_id init;
	usec_t at; /* it was looked at; 0: never */
	int value; /* what came of it, for who looks; 0 at first */
	bool seen; /* in this round */
};

struct large {
	struct large_guest *guest;
	size_t nr, cap;
	usec_t rest; /* until then */
	bool taken;  /* the round has had its one */
	bool more;   /* ... and others could not wait (large_must()) */
};

/* A round over all guests; at its end those that were not asked for are forgotten. */
void large_begin(struct large *l);
void large_end(struct large *l);

/* NULL if that guest is not large: one may look at it at any time. */
struct large_guest *large_guest(struct large *l,
				const struct capsule_record *rec);

/* Is it this one's turn, and no time to rest? */
bool large_may(const struct large *l, const struct large_guest *g) must_check;
/* The same for who cannot wait for the end of that; else there is more to do. */
bool large_must(struct large *l) must_check;
/* Somebody has looked, from then until now. */
void large_looked(struct large *l, struct large_guest *g, usec_t from);

void large_clear(struct large *l);

#endif
