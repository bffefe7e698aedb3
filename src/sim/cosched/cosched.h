/*
 * cosched.h - parallel programs message by message, on nodes that run something
 * else now and then (Arpaci 1995 sections 3 and 4.1)
 *
 * One process a node.  It computes, sends a message, and so on, round by round;
 * at the end of a round all wait for each other.  A message is handled as soon
 * as its receiver's process runs; until then it lies in the receiver's buffer,
 * and where it does not fit the sender waits until the receiver runs.  A sender
 * that wants an answer waits for it.  Networks are not congested, and caches are
 * not cold (as in the paper).
 *
 * Times are nanoseconds.  The same seed gives the same times.
 */
#ifndef SIM_COSCHED_COSCHED_H
#define SIM_COSCHED_COSCHED_H

#include <stdbool.h>
#include <stdint.h>

typedef int64_t nsec_t;

#define COSCHED_MAX_NODES 1024

/* When a node runs our process: without end, or the first `on` of each `period`
 * from `phase` on; not while a daemon runs there. */
struct node {
	nsec_t period, on, phase;		      /* period 0: always */
	nsec_t daemon_each, daemon_for, daemon_phase; /* each 0: none */
};

struct program {
	const char *name;
	nsec_t compute; /* at the beginning of a round */
	nsec_t gap;	/* mean, of a message to the next; half to 1.5 of it */
	uint32_t messages; /* a round */
	uint32_t bytes;	   /* of a message */
	bool answer;	   /* the sender waits for one */
	bool together;	   /* all wait for all at the end of a round */
	uint32_t near;	   /* goes to the next so many nodes; 0: to any */
	/* Share by which nodes' rounds are shorter, drawn up to this; the first
	 * node's is as long as any (busy_first), or the shortest. */
	double imbalance;
	bool busy_first;
};

struct network {
	nsec_t latency;	 /* of a message */
	nsec_t overhead; /* of its receiver, to handle it */
	uint32_t buffer; /* bytes for a process that does not run */
};

struct cosched {
	const struct program *program;
	struct network network;
	const struct node *node; /* nr of them */
	uint32_t nr;
	uint32_t rounds;
	uint64_t seed, replication;
};

struct cosched_result {
	nsec_t time; /* until the last process ends */
	uint64_t messages;
	uint64_t buffered; /* of them, to a process that did not run */
	uint64_t stalled;  /* of them, whose sender waited for room */
};

/* em3d, connect, cholesky, column, sample (Arpaci 1995 section 2.1); NULL: there
 * is no n-th. */
const struct program *cosched_program(unsigned n);

/* What the paper's machine had, as far as it says. */
struct network cosched_network(void);

/* 1 <= nr <= COSCHED_MAX_NODES; nodes that never run a process are no input. */
void cosched_run(const struct cosched *c, struct cosched_result *ret);

/*
 * The earliest time from t on at which the node runs our process; of one at which
 * it does, until when (INT64_MAX: for good); and when, from t on, so much work is
 * done.
 */
nsec_t node_runs(const struct node *n, nsec_t t);
nsec_t node_stops(const struct node *n, nsec_t t);
nsec_t node_works(const struct node *n, nsec_t t, nsec_t work);

#endif
