/*
 * rank.h - where a rank is, which keeper has it, and its state
 *
 * All changes of these are made by these functions.  Each stores what it changes,
 * unless its comment says otherwise.
 */
#ifndef CLUSTER_CONTROLLER_STATE_RANK_H
#define CLUSTER_CONTROLLER_STATE_RANK_H

#include "cluster/controller/state/state.h"

/* Initialize a rank that waits and is on no host; not stored. */
void ctl_rank_init(struct ctl_rank *r, struct ctl_job *job, uint32_t rank);
/* Its job is over: another rank may get its address, which is still shown in lists. */
void ctl_rank_free_address(struct ctl_rank *r);
/* The rank starts on that host. */
void ctl_rank_place(struct ctl_rank *r, struct ctl_host *host,
		    struct in_addr address);
/* It starts once more, with another keeper. */
void ctl_rank_place_again(struct ctl_rank *r, struct ctl_host *host);
/*
 * Its host has refused to start a keeper for it; this holds until it is placed again.
 * Not stored: a later controller asks the host again.
 */
void ctl_rank_is_refused(struct ctl_rank *r);
/*
 * Its keeper failed there before it was sent the program: counted, and as good as
 * refused.  Not stored either.
 */
void ctl_rank_is_unready(struct ctl_rank *r);
void ctl_rank_runs(struct ctl_rank *r);
/* Its pid on its host; of no meaning to a later controller, so not stored. */
void ctl_rank_has_pid(struct ctl_rank *r, uint32_t pid);
/* A new epoch, for a keeper that the rank may move to; never given out twice. */
uint64_t ctl_rank_next_epoch(struct ctl_rank *r);
/* The keeper of that epoch has the rank now. downtime: 0 if it is not known yet. */
void ctl_rank_moved(struct ctl_rank *r, struct ctl_host *to, uint64_t epoch,
		    usec_t downtime);
void ctl_rank_stood_still(struct ctl_rank *r, usec_t downtime);
/* A move of it has failed: the policy's pause for a while (model/pause.h). */
void ctl_rank_could_not_go(struct ctl_rank *r, const struct ctl_host *to);
/* What the report of a move shows of it.  What it does not show is known from before. */
void ctl_rank_was_seen(struct ctl_rank *r, const Control__Moved *m);
/* It stands still since then; 0: it runs.  Not stored: its keeper reports it again. */
void ctl_rank_stands(struct ctl_rank *r, usec_t since);
/*
 * How many bytes it has printed in all; stored by ctl_rank_done(), which must follow.
 */
void ctl_rank_printed(struct ctl_rank *r, uint64_t stdout_end,
		      uint64_t stderr_end);
/* It is lost: it has not ended by itself.  Stored by ctl_rank_done() as well. */
void ctl_rank_give_up(struct ctl_rank *r);
/*
 * What it has used at a host on which it ended or which it left; stored by the call
 * that follows.
 */
void ctl_rank_used(struct ctl_rank *r, uint64_t cpu_usec, uint64_t max_rss);
/* So long its threads waited for its limit of processors, in this life; likewise. */
void ctl_rank_was_held(struct ctl_rank *r, uint64_t usec);
/* The owner of its host has come back, at that time by the host's clock. */
void ctl_rank_meets_return(struct ctl_rank *r, usec_t at);
/*
 * That was given back, after so long, which is by `late` more than it should be.  Nothing
 * if this rank did not meet that return, and was not late at it.
 */
void ctl_rank_given_back(struct ctl_rank *r, usec_t at, usec_t took,
			 usec_t late);
/* The time to give its host back after that return is over, and it is there. */
void ctl_rank_is_late(struct ctl_rank *r, usec_t at, enum late why);
/* What it uses now on its host; not stored. */
void ctl_rank_uses(struct ctl_rank *r, const struct rank_use *use);
/* It has sent more to another rank; not stored. */
void ctl_rank_sent(struct ctl_rank *r, const struct rank_sent *more);
/* Forget what it has sent, because it is gone or that is of no interest any more. */
void ctl_rank_forget_sent(struct ctl_rank *r);
/* Add the costs of a move that took place. */
void ctl_rank_cost(struct ctl_rank *r, uint64_t stood_usec, uint64_t bytes);
void ctl_rank_done(struct ctl_rank *r, int code);
/*
 * It waits again and is on no host.  Its former keepers, with epochs below first_epoch,
 * are not its own any more.
 */
void ctl_rank_again(struct ctl_rank *r);
/* Read the job's ranks from the store. */
void ctl_ranks_read(struct ctl_job *job);

#endif
