/*
 * burden.h - memory of a guest that belongs to none of its processes
 *
 * When memory runs out the kernel ends the process that has most.  Files in a guest's
 * /tmp and /dev/shm, and what the kernel holds for it, belong to none: whoever filled the
 * host with those would have other guests' ranks ended, one after the other, and nothing
 * would be free.  So its init counts for as much (oom_score_adj): with init all of it ends.
 */
#ifndef CLUSTER_AGENT_BURDEN_H
#define CLUSTER_AGENT_BURDEN_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Bytes, by the first of these control groups that counts memory; 0: by none, or less than
 * `least` in all, for which the kernel is not asked what they are.
 */
uint64_t burden_of(char *const *groups, unsigned n, uint64_t least);

/* In thousandths of the memory that all have, as the kernel wants it. */
int burden_score(uint64_t bytes, uint64_t all);

/* The process counts for so much from now on, and cannot take it back by itself. */
void burden_put(pid_t pid, int score);

#endif
