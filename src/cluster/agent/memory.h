/*
 * memory.h - how much memory this host has, and whether it is short of it
 *
 * It is the machine's, unless the agent's control group or one around it has a limit
 * below that (an agent in a container or a slice, a host of a testbed): then the host's
 * memory is that group's, and so are its faults.  Available is what guests can
 * have without anybody's paging: MemAvailable of the machine; of a group its limit less
 * its working set, which is what it uses less the files not used lately (as Kubernetes
 * counts it).
 *
 * Major page faults alone do not say that memory is short: a program that starts has
 * them, too.  Refaults do: the kernel remembers which pages it has taken from whom
 * (workingset_refault_*, Linux 3.15), and counts those that are needed again.
 */
#ifndef CLUSTER_AGENT_MEMORY_H
#define CLUSTER_AGENT_MEMORY_H

#include <stdint.h>

#include "core/units.h"

struct host_memory;

/* group: the agent's, a directory of cgroup v1's memory or of v2; it or one around it
 * may have a limit.  NULL: there is none. */
struct host_memory *host_memory_create(const char *group);
/* For this process. */
struct host_memory *host_memory_own(void);
void host_memory_destroy(struct host_memory *m); /* NULL is allowed */

struct memory_sample {
	uint64_t all, available; /* bytes; 0: not known */
	/* Major page faults a second; 0 at first, and until there is time enough to
	 * tell. */
	double faults;
	double refaults; /* likewise: pages needed again after they were evicted */
};
/* Measure, at that time of CLOCK_MONOTONIC; call it regularly. */
void host_memory_sample(struct host_memory *m, usec_t now,
			struct memory_sample *ret);

#endif
