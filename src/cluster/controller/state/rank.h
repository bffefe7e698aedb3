/*
 * rank.h - where a rank is, by which keeper, and how it stands
 *
 * Whoever wants to know who changes that finds the callers of these.  Each stores
 * what it changes, where nothing else is said.
 */
#ifndef CLUSTER_CONTROLLER_STATE_RANK_H
#define CLUSTER_CONTROLLER_STATE_RANK_H

#include "cluster/controller/state/state.h"

/* It waits, and is nowhere; not stored. */
void ctl_rank_init(struct ctl_rank *r, struct ctl_job *job, uint32_t rank);
/* It starts there. */
void ctl_rank_place(struct ctl_rank *r, struct ctl_host *host,
		    struct in_addr address);
/* Once more, by another keeper. */
void ctl_rank_place_again(struct ctl_rank *r, struct ctl_host *host);
void ctl_rank_runs(struct ctl_rank *r);
/* As its host has it; of no meaning to a later controller, so not stored. */
void ctl_rank_has_pid(struct ctl_rank *r, uint32_t pid);
/* Of a keeper that it may move to; never given out twice. */
uint64_t ctl_rank_next_epoch(struct ctl_rank *r);
/* The keeper of that epoch has it.  downtime: 0 if it was not told yet. */
void ctl_rank_moved(struct ctl_rank *r, struct ctl_host *to, uint64_t epoch,
		    usec_t downtime);
void ctl_rank_stood_still(struct ctl_rank *r, usec_t downtime);
/* How much in all; stored by ctl_rank_done(), which follows. */
void ctl_rank_printed(struct ctl_rank *r, uint64_t stdout_end,
		      uint64_t stderr_end);
/* It has not ended by itself; likewise. */
void ctl_rank_give_up(struct ctl_rank *r);
void ctl_rank_done(struct ctl_rank *r, int code);
/* What the store has of the job's. */
void ctl_ranks_read(struct ctl_job *job);

#endif
