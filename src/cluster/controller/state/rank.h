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
/* Its job is over: another rank may have its address, which it keeps for lists. */
void ctl_rank_free_address(struct ctl_rank *r);
/* It starts there. */
void ctl_rank_place(struct ctl_rank *r, struct ctl_host *host,
		    struct in_addr address);
/* Once more, by another keeper. */
void ctl_rank_place_again(struct ctl_rank *r, struct ctl_host *host);
/*
 * Its host does not start a keeper for it, until it is placed again.  Not
 * stored: a later controller asks the host again.
 */
void ctl_rank_is_refused(struct ctl_rank *r);
void ctl_rank_runs(struct ctl_rank *r);
/* As its host has it; of no meaning to a later controller, so not stored. */
void ctl_rank_has_pid(struct ctl_rank *r, uint32_t pid);
/* Of a keeper that it may move to; never given out twice. */
uint64_t ctl_rank_next_epoch(struct ctl_rank *r);
/* The keeper of that epoch has it.  downtime: 0 if it was not told yet. */
void ctl_rank_moved(struct ctl_rank *r, struct ctl_host *to, uint64_t epoch,
		    usec_t downtime);
void ctl_rank_stood_still(struct ctl_rank *r, usec_t downtime);
/* Still, since then; 0: no more.  Not stored: its keeper says it again. */
void ctl_rank_stands(struct ctl_rank *r, usec_t since);
/* How much in all; stored by ctl_rank_done(), which follows. */
void ctl_rank_printed(struct ctl_rank *r, uint64_t stdout_end,
		      uint64_t stderr_end);
/* It has not ended by itself; likewise. */
void ctl_rank_give_up(struct ctl_rank *r);
/* At a host, where it has ended or from where it left; stored by what follows. */
void ctl_rank_used(struct ctl_rank *r, uint64_t cpu_usec, uint64_t max_rss);
/* Where it is, now; not stored. */
void ctl_rank_uses(struct ctl_rank *r, const struct rank_use *use);
/* To that other one, more; not stored. */
void ctl_rank_sent(struct ctl_rank *r, const struct rank_sent *more);
/* When it is no more, or has nothing to tell any more. */
void ctl_rank_forget_sent(struct ctl_rank *r);
/* By a move that took place. */
void ctl_rank_cost(struct ctl_rank *r, uint64_t stood_usec, uint64_t bytes);
void ctl_rank_done(struct ctl_rank *r, int code);
/*
 * It waits once more, and is nowhere.  Keepers that there were are not its own
 * any more: theirs are the epochs below first_epoch.
 */
void ctl_rank_again(struct ctl_rank *r);
/* What the store has of the job's. */
void ctl_ranks_read(struct ctl_job *job);

#endif
