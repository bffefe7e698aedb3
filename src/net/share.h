/*
 * share.h - guests of a host have so much of its link, and no more
 *
 * By a table of nftables, which every distribution's kernel has (a queueing
 * discipline at the uplink would take the place of the owner's, and not every
 * kernel has those that divide).  It outlives who made it.  What is above the
 * rate is dropped, so that TCP slows down by itself; up to a second's worth may
 * have been saved up.  The fast path is off while there is such a table, as while
 * there is any (net/fast_path.h).
 */
#ifndef NET_SHARE_H
#define NET_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

struct net_share {
	const char *table;  /* its name, of its own */
	const char *guests; /* their links begin so, and no others */
	/* Packets that are forwarded between it and guests count; where it is a
	 * bridge, all that are forwarded from or to guests. */
	const char *uplink;
	bool bridge;
	uint64_t rate; /* bytes a second out, and as many in; 0: any */
};

/*
 * In the caller's network namespace.  As long as nothing has changed since
 * `before` (NULL: not known) it is only looked whether the table is still there:
 * who loads a firewall anew may flush it.
 */
int net_share_set(const struct net_share *share, const struct net_share *before,
		  struct error *err) must_check;

#endif
