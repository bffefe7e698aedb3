/*
 * rank_move.h - moving a rank
 */
#ifndef CLUSTER_CONTROLLER_RANK_MOVE_RANK_MOVE_H
#define CLUSTER_CONTROLLER_RANK_MOVE_RANK_MOVE_H

#include "cluster/controller/state/state.h"

/* ---- doubt.c */

bool ctl_move_can_say(const struct ctl_move *m, const struct klink *k,
		      Keeper__Outcome outcome);
/* The source's own answer about a copy that is held at the destination. */
void ctl_move_judge(struct ctl_move *m, const Keeper__Status *s);
void ctl_move_doubt(struct klink *k, const Keeper__MoveDoubt *d);
/* True if the move handles the end of this keeper. */
bool ctl_move_keeper_gone(struct ctl_move *m, struct klink *k);
/* The agent has come back without the source's keeper. */
void ctl_move_source_missing(struct ctl_move *m);
void ctl_move_looked(struct ctl_host *h, const Control__KeeperGone *g);
/* The source's host has been given up. */
void ctl_move_source_lost(struct ctl_move *m);
/*
 * Is a move of the rank under way?  A move that has landed but whose source does not
 * answer is ended by this call, and does not count.
 */
bool ctl_move_under_way(struct ctl_rank *r);

/* ---- again.c */

/* Set the key of the request that this move answers. */
void ctl_move_set_key(struct ctl_move *m, const ProtobufCBinaryData *key);
/* Restore a move that an earlier controller has begun. */
void ctl_move_restore(struct ctl_rank *r, struct ctl_host *from,
		      struct ctl_host *to, const struct store_move *row);
/*
 * True if the same request was made before: it is answered now or when the move
 * ends.
 */
bool ctl_move_again(struct ctl_rank *r, const Control__Migrate *ask,
		    struct ctl_peer *p, uint64_t re);

/* ---- move.c */

struct ctl_move_asker {
	struct ctl_peer *peer;
	uint64_t re;
	ProtobufCBinaryData key;
};
/* Begin a move. asker: the client that hears the outcome; NULL: the policy wants it. */
int ctl_move_begin(struct ctl_rank *r, struct ctl_host *to,
		   struct ctl_move_bounds bounds,
		   const struct ctl_move_asker *asker, struct error *err);
void ctl_move_hello(struct ctl_move *m, struct klink *k,
		    const Keeper__Status *status);
void ctl_move_receiving(struct ctl_move *m, const Keeper__Receiving *r);
void ctl_move_progress(struct ctl_move *m, Keeper__MoveProgress *p);
void ctl_move_done(struct klink *k, const Keeper__MoveDone *d);

/* ---- end.c */

/* It has landed: the source's report may be late, the policy is not to wait for it. */
void ctl_move_await_report(struct ctl_move *m);
/* From now on the destination's copy is the valid one. */
void ctl_move_committed(struct ctl_move *m);
/*
 * End the move if both ends have reported, or the copy that counts has ended;
 * then frees m.
 */
void ctl_move_check(struct ctl_move *m);
void ctl_move_failed(struct ctl_move *m, const char *why);
/* Have the agent remove the record of a dead keeper. */
void ctl_move_forget(const struct ctl_move *m);
/* Set the reason in the move's report. */
void ctl_move_set_why(struct ctl_move *m, const char *why);

#endif
