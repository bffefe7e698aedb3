/*
 * use.h - what each guest gets of this host
 *
 * By what the kernel counts of its processes, whatever the program is: their
 * time on a processor, and the time in which they were ready for one and did not
 * get it (/proc/PID/task/TID/schedstat; 0 where the kernel does not count it).
 * The kernel counts a wait when it ends: of a thread that gets nothing for
 * seconds both are 0 meanwhile.
 * Time of a thread that has ended since the last look is not counted.  Guests of many threads
 * are looked at less often than others, so that all together take a thousandth of a
 * processor; until then what is told of them is as it was.
 */
#ifndef CLUSTER_AGENT_USE_H
#define CLUSTER_AGENT_USE_H

#include <stddef.h>
#include <stdint.h>

#include "cluster/agent/traffic.h"

struct guest_use {
	uint64_t job;
	uint32_t rank;
	double share;  /* processors that it computes on, 0.5: half of one */
	double waits;  /* threads of it that wait for one */
	double faults; /* major page faults a second */
	/* Bytes resident or swapped out; what processes share counts for each. */
	uint64_t memory;
	uint64_t cpu_usec;	/* that its processes had so far */
	struct traffic traffic; /* for who tells it to take from */
};

struct uses;

/* run_dir: the agent's. */
struct uses *uses_create(const char *run_dir);
void uses_destroy(struct uses *u); /* NULL is allowed */

/*
 * Look at all guests.  Rates need two looks at a guest, half a second apart or
 * more: a look that comes sooner leaves its rates as they were.  Where it takes long
 * to look at traffic, that is done less often, so that it costs at most a
 * thousandth of a processor.  memory: of this host, in bytes; a guest counts for its
 * share of it when it runs out (burden.h).
 */
void uses_look(struct uses *u, uint64_t memory);

/* As of the last look, until the next. */
struct guest_use *uses_all(struct uses *u, size_t *ret_nr);

#endif
