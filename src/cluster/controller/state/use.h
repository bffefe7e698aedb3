/*
 * use.h - what ranks use of hosts, and of each other
 */
#ifndef CLUSTER_CONTROLLER_STATE_USE_H
#define CLUSTER_CONTROLLER_STATE_USE_H

#include <stddef.h>
#include <stdint.h>

#include "cluster/controller/state/late.h"
#include "core/units.h"

/* What a rank has used so far, in all its runs and on all hosts. */
struct rank_account {
	uint64_t cpu_usec, max_rss, held_usec;
	uint64_t stood_usec, moved_bytes; /* costs of its moves */
	/* owners' returns while it was their guest, and until these had their hosts
	 * back */
	uint64_t returns, give_back_usec;
	/* by how much that was more than the owners allow, where it was still there when
	 * the time was over, and why it was the last time */
	uint64_t late_usec;
	enum late late;
};

/* What a rank uses on its host, as last reported. */
struct rank_use {
	/* processors in use, and threads that wait for one */
	double share, waits;
	double faults;	 /* major page faults per second */
	uint64_t memory; /* bytes */
	/* used on this host; 0 once it is in its account */
	uint64_t cpu_usec;
};

/* How much a rank has sent to another rank of its job. */
struct rank_sent {
	uint32_t rank;
	uint64_t bytes, segments;
};

/* By rank.  Not stored: only rates are computed from it, which need no beginning. */
struct rank_traffic {
	struct rank_sent *to;
	size_t nr, cap;
};

/* How much two number of ranks have sent each other so far. */
struct pair_sent {
	uint32_t a, b; /* a < b */
	uint64_t bytes, segments;
};

/* These of a whole job at one instant: sched/talk.c's. */
struct talk_sums {
	usec_t at; /* 0: none yet */
	struct pair_sent *pair;
	size_t nr, cap;
};

#endif
