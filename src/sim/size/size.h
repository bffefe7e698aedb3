/*
 * size.h - how many hosts that belong to people does a workload need?
 *
 * (Arpaci 1995 section 5.4: for each combination of workloads, the number of
 * workstations that keeps delays of owners and response times of jobs within
 * bounds.)  Delays are kept within theirs by the hosts' terms; asked for is the
 * number of hosts with which jobs are slowed down by no more than so much.
 *
 * More hosts are taken never to slow jobs down: the answer is looked for by halving.
 * All numbers of hosts meet the same days, so that they differ by the hosts alone.
 */
#ifndef SIM_SIZE_SIZE_H
#define SIM_SIZE_SIZE_H

#include "sim/report/stats.h"
#include "sim/size/days.h"

struct size_question {
	struct days days;
	double slowdown; /* ratio of mean responses, at most */
	double level;	 /* of confidence */
	uint32_t most;	 /* hosts that are tried */
	uint32_t runs;	 /* replications of each number of hosts, at least 2 */
	unsigned workers;
};

/* What was found at one number of hosts, over all runs. */
struct size_point {
	uint32_t hosts;
	struct estimate slowdown;
	double delays, delays_most, moves; /* as in struct days_result */
};

struct size_answer {
	uint32_t dedicated; /* processors of the dedicated machine */
	/* The least number with which the mean slowdown is as asked for; with which its
	 * interval is, all of it (high) or any (low). */
	uint32_t hosts, low, high;
	struct size_point *point; /* what was tried, by hosts */
	size_t nr, cap;
};

/*
 * size_clear() frees *ret.  -ERANGE if no number up to `most` is enough, and
 * whatever a run may fail with.
 */
int size_find(const struct size_question *q, struct size_answer *ret,
	      struct error *err) must_check;
void size_clear(struct size_answer *a);

#endif
