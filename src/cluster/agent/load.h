/*
 * load.h - how busy this host is, and how fast
 *
 * Numbers for the policies (model/host.h).  "Runnable" counts the host's
 * runnable threads except those in capsules and their keepers, with the engines
 * that move ranks: what a guest would have to share the host with.  The kernel
 * keeps the total (/proc/loadavg), so it is cheap with any number of processes;
 * only guests' threads are examined one by one, and only while something runs.
 * In a testbed, a host's threads are those of its control group; what no group
 * tells is the machine's.  Its memory is as memory.h has it.
 */
#ifndef CLUSTER_AGENT_LOAD_H
#define CLUSTER_AGENT_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/agent/large.h"
#include "core/units.h"

struct host_load;

struct host_sample {
	double runnable;      /* now, without the caller */
	double load;	      /* averaged (model/average.h) */
	uint64_t memory;      /* bytes, 0: not known */
	uint64_t memory_free; /* of it available */
	/* PSI some avg10, percent of the time; 0: this kernel has no PSI. */
	double pressure_cpu, pressure_memory, pressure_io;
	/* Major page faults a second; pages a second needed again after they were
	 * evicted. */
	double faults, refaults;
};

/* run_dir: the agent's, whose capsules hold the guests; over: of the average. */
struct host_load *host_load_create(const char *run_dir, usec_t over);
void host_load_destroy(struct host_load *l); /* NULL is allowed */

/* Measure; call it regularly. */
void host_load_sample(struct host_load *l, struct host_sample *ret);

/* The average of the last time. */
double host_load_now(const struct host_load *l);

/*
 * Threads that run now in capsules of this run directory and of their keepers,
 * or outside of the capsules alone.  Those of a large guest are as of the last look at it.
 */
unsigned host_guests_running(const char *run_dir, bool outside,
			     struct large *large);
/* The number of runnable threads in the text of /proc/loadavg. */
unsigned host_running(const char *loadavg);

uint32_t host_cores(void); /* this process may use */

/*
 * How fast a core is, in millions of steps a second of a fixed mixture of
 * integer, floating-point and cached memory work; takes about 0.2 s.
 */
double host_score(void);

#endif
