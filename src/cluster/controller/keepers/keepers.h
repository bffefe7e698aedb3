/*
 * keepers.h - the controller's side of keepers (klinks)
 */
#ifndef CLUSTER_CONTROLLER_KEEPERS_KEEPERS_H
#define CLUSTER_CONTROLLER_KEEPERS_KEEPERS_H

#include "cluster/controller/state/state.h"

/* ---- link.c */

/* Have the agent start a keeper. */
struct klink *klink_start(struct ctl_rank *r, struct ctl_host *h,
			  uint64_t epoch);
/* When the controller exits: frees it without side effects; the keeper lives
 * on.
 */
void klink_free(struct klink *k);
/* Create the klink of a keeper that was asked for or has reported. */
struct klink *klink_create(struct ctl_host *h, uint64_t job, uint32_t rank,
			   uint64_t epoch);

/* The keeper's rank cannot be at that host: treat it as a keeper without a job. */
void klink_disown(struct klink *k);

/* ---- capsule.c */

/* Describe the capsule that r needs at h; klink_capsule_clear() frees it. */
void klink_capsule(const struct ctl_rank *r, const struct ctl_host *h,
		   Keeper__Capsule *ret);
void klink_capsule_clear(Keeper__Capsule *c);

/* ---- output.c */

/*
 * Accept an event with a seq; false if it is a duplicate.  Output for a client is kept
 * (*kept); the caller handles other events at once.
 */
bool klink_take(struct klink *k, Keeper__Event *e, bool *kept);
/* Send the client the output that it has not been sent yet. */
void klink_flush(struct klink *k);
/* The client has disconnected: all unacknowledged output must be sent again. */
void klink_again(struct klink *k);
/* the client has printed up to seq */
void klink_acked(struct klink *k, uint64_t seq);
/* Drop output that no client will ever print. */
void klink_drop_output(struct klink *k);
void klink_clear_output(struct klink *k);
/*
 * The keeper is gone, and its output with it: output of later keepers need not wait for
 * it.
 */
void klink_hand_over(struct klink *k);

/* The offset at which a client begins that was sent nothing of that stream yet. */
uint64_t klink_goes_on_at(const struct ctl_rank *r, unsigned stream);

/* ---- kept.c */

/* Store output; seq is the number that its keeper gave it. */
void klink_keep(struct klink *k, uint64_t seq, const Keeper__Output *o);
/* Has all output of the job arrived? */
bool ctl_kept_over(const struct ctl_job *job);
/* Is any of its output kept? */
bool ctl_kept_some(struct ctl_job *job);
/*
 * There is more output, or the job is over: have clients that wait for that ask again.
 */
void ctl_kept_tell(struct ctl_job *job);

/* ---- stdin.c */

/* Tell the client from which offset on rank 0 wants input, if that is known. */
void ctl_stdin_ask(struct ctl_job *job);
/* The keeper of rank 0 wants its input from that offset on. */
void ctl_stdin_wanted(struct ctl_job *job, uint64_t from);
/* Rank 0 runs, and has read nothing yet. */
void ctl_stdin_begins(struct ctl_job *job);
/* Rank 0 moves: its next keeper will say from which offset on it reads. */
void ctl_stdin_moves(struct ctl_job *job);
/*
 * The keeper has taken input.  re: the request that this answers; 0: none, but it has
 * room again.
 */
void ctl_stdin_taken(struct ctl_job *job, uint64_t re,
		     const Keeper__StdinTaken *s);
/* Pass input of the client on to the keeper of rank 0. */
void ctl_stdin_send(struct ctl_job *job, const Control__Stdin *from);
/* Send what had to wait while the agent's connection was full. */
void ctl_stdin_late(struct klink *k);

#endif
