/*
 * guests.h - who is a guest on this host, and how much they may claim of it
 *
 * A guest is what runs in a capsule of the run directory, unless its user is one
 * of the host's owners: their own jobs are no guests of theirs.
 */
#ifndef CLUSTER_AGENT_GUESTS_H
#define CLUSTER_AGENT_GUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/agent/large.h"
#include "cluster/capsule/record.h"
#include "core/units.h"

/* For a capsule, whose name is JOB.RANK or JOB.RANK.EPOCH. */
typedef void guest_fn(const char *name, const struct capsule_record *rec,
		      void *arg);

/* Call fn for each that there is, but for the owners' own (below). */
void guests_each(const char *run_dir, const char *owners, guest_fn *fn,
		 void *arg);

struct guests {
	uint32_t nr;	  /* capsules in which something lives, */
	uint32_t running; /* ... and is not frozen, */
	uint32_t
		held; /* ... of which engines have stopped so many to move them */
};

/* owners: users with commas between them; NULL: nobody's own jobs are known. */
void guests_count(const char *run_dir, const char *owners, struct guests *ret);

/*
 * Whose is the capsule of that name?  0: an owner's; 1: a guest's; -EAGAIN: it
 * cannot be told yet; -ENOENT: it is gone, and cannot be told any more.
 */
int guest_is(const char *run_dir, const char *owners,
	     const char *name) must_check;

/* Is there a rank of that job in the capsule that this epoch's keeper made? */
bool guest_lives(const char *run_dir, const char *job, uint32_t rank,
		 uint64_t epoch);

/*
 * Give all their threads the lowest claim (core/claim.h), or take it back: those
 * that run in capsules, whose control groups come after others as well
 * (cgroup_claim()), and their keepers with the engines that move them, unless these have
 * been lowered before: what they may take then is said by movers.h.  A rank that an engine
 * has just stopped is left alone, as its threads work for the engine.
 * Returns how many threads it changed.  Threads that are created meanwhile have
 * it from those that create them.  Of large guests the groups come first, and then the threads of
 * one of them; large->more: call it again soon.
 */
unsigned guests_claim(const char *run_dir, const char *owners, bool low,
		      struct large *large);
/*
 * The same, again and again: but for newcomers, who have to be set *at to 0 for, a look that
 * finds nobody is followed by none until a 500th part of a processor is enough for it.  Guests may
 * have thousands of threads.
 */
unsigned guests_reclaim(const char *run_dir, const char *owners, bool low,
			struct large *large, usec_t *at);

#endif
