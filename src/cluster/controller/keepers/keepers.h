/*
 * keepers.h - this side of keepers
 */
#ifndef CLUSTER_CONTROLLER_KEEPERS_KEEPERS_H
#define CLUSTER_CONTROLLER_KEEPERS_KEEPERS_H

#include "cluster/controller/state/state.h"

/* ---- link.c */

/* Have the agent start one. */
struct klink *klink_start(struct ctl_rank *r, struct ctl_host *h,
			  uint64_t epoch);
/* At the end of the controller: nothing follows from it, the keeper lives on.
 */
void klink_free(struct klink *k);
/* One that is asked for, or was heard of. */
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

/* Take an event with a seq: keep it if it is output for a client; false if it
 * was taken before.  Events that are not output are done with at once. */
bool klink_take(struct klink *k, Keeper__Event *e, bool *kept);
/* Output that its client has not been sent, to it. */
void klink_flush(struct klink *k);
/* The client has gone: all of it is to be sent again. */
void klink_again(struct klink *k);
void klink_acked(struct klink *k, uint64_t seq); /* printed */
/* Nobody will ever print it. */
void klink_drop_output(struct klink *k);
void klink_clear_output(struct klink *k);
/* It is gone, with what it had: what else is printed need not wait for it. */
void klink_hand_over(struct klink *k);
/* Tell the client of what rank 0 would read. */
void klink_stdin_room(struct ctl_job *job);

#endif
