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

/* Its rank cannot be there: it is a keeper of no job. */
void klink_disown(struct klink *k);

/* ---- capsule.c */

/* What a capsule for r at h must be; klink_capsule_clear() frees. */
void klink_capsule(const struct ctl_rank *r, const struct ctl_host *h,
		   Keeper__Capsule *ret);
void klink_capsule_clear(Keeper__Capsule *c);

/* ---- output.c */

/*
 * Accept an event with a seq: keep it if it is output for a client; false if it
 * is a duplicate.  Other events are done at once.
 */
bool klink_take(struct klink *k, Keeper__Event *e, bool *kept);
/* Send the client the output that it has not been sent yet. */
void klink_flush(struct klink *k);
/* The client has disconnected: all unacknowledged output must be sent again. */
void klink_again(struct klink *k);
void klink_acked(struct klink *k, uint64_t seq); /* printed */
/* Drop output that no client will ever print. */
void klink_drop_output(struct klink *k);
void klink_clear_output(struct klink *k);
/* The keeper is gone with its output: other output need not wait for it. */
void klink_hand_over(struct klink *k);

/* Where that stream goes on for a client that has had none of it. */
uint64_t klink_goes_on_at(const struct ctl_rank *r, unsigned stream);

/* ---- kept.c */

/* Into the store; seq is its keeper's. */
void klink_keep(struct klink *k, uint64_t seq, const Keeper__Output *o);
/* There is nothing more to come. */
bool ctl_kept_over(const struct ctl_job *job);
/* There is more, or it is over: who waits for that shall ask. */
void ctl_kept_tell(struct ctl_job *job);

/* ---- stdin.c */

/* Tell the client what rank 0 would read, if that is known. */
void ctl_stdin_ask(struct ctl_job *job);
/* Its keeper wants it from there on. */
void ctl_stdin_wanted(struct ctl_job *job, uint64_t from);
/* It runs, and has read nothing. */
void ctl_stdin_begins(struct ctl_job *job);
/* Its next keeper will say from where. */
void ctl_stdin_moves(struct ctl_job *job);
/* re: of the request that this answers; 0: it has room again. */
void ctl_stdin_taken(struct ctl_job *job, uint64_t re,
		     const Keeper__StdinTaken *s);
/* The client's, to its keeper. */
void ctl_stdin_send(struct ctl_job *job, const Control__Stdin *from);
/* What klink_has_room() held back. */
void ctl_stdin_late(struct klink *k);

#endif
