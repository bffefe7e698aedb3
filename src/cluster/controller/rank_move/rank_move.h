/*
 * rank_move.h - moving a rank
 */
#ifndef CLUSTER_CONTROLLER_RANK_MOVE_RANK_MOVE_H
#define CLUSTER_CONTROLLER_RANK_MOVE_RANK_MOVE_H

#include "cluster/controller/state/state.h"

/* ---- doubt.c */

bool ctl_move_can_say(const struct ctl_move *m, const struct klink *k,
		      Keeper__Outcome outcome);
/* The source's own word about a copy that is held at the destination. */
void ctl_move_judge(struct ctl_move *m, const Keeper__Status *s);
void ctl_move_doubt(struct klink *k, const Keeper__MoveDoubt *d);
/* True when the end of this keeper is the move's business. */
bool ctl_move_keeper_gone(struct ctl_move *m, struct klink *k);
/* So it is found when its agent comes back. */
void ctl_move_source_missing(struct ctl_move *m);
void ctl_move_looked(struct ctl_host *h, const Control__KeeperGone *g);
/* The source's host is given up. */
void ctl_move_source_lost(struct ctl_move *m);
/* Not one that has landed and whose source does not answer: that is over by this. */
bool ctl_move_under_way(struct ctl_rank *r);

/* ---- again.c */

/* Of the request that this move is the answer to. */
void ctl_move_set_key(struct ctl_move *m, const ProtobufCBinaryData *key);
/* One that an earlier controller has begun. */
void ctl_move_restore(struct ctl_rank *r, struct ctl_host *from,
		      struct ctl_host *to, const struct store_move *row);
/* True if it was asked for before, and is answered, or will be. */
bool ctl_move_again(struct ctl_rank *r, const Control__Migrate *ask,
		    struct ctl_peer *p, uint64_t re);

/* ---- move.c */

struct ctl_move_asker {
	struct ctl_peer *peer;
	uint64_t re;
	ProtobufCBinaryData key;
};
/* asker: who is told; NULL for one that the policy wants. */
int ctl_move_begin(struct ctl_rank *r, struct ctl_host *to, uint64_t budget,
		   const struct ctl_move_asker *asker, struct error *err);
void ctl_move_hello(struct ctl_move *m, struct klink *k,
		    const Keeper__Status *status);
void ctl_move_receiving(struct ctl_move *m, const Keeper__Receiving *r);
void ctl_move_progress(struct ctl_move *m, Keeper__MoveProgress *p);
void ctl_move_done(struct klink *k, const Keeper__MoveDone *d);

/* ---- end.c */

/* The destination's copy is the one that counts from now on. */
void ctl_move_committed(struct ctl_move *m);
/* Over, if both ends have said so, or with the copy that counts; frees m. */
void ctl_move_check(struct ctl_move *m);
void ctl_move_failed(struct ctl_move *m, const char *why);
/* A dead keeper cannot remove its record itself: have its agent do it. */
void ctl_move_forget(const struct ctl_move *m);
/* No move of the policy's for a while. */
void ctl_move_pause(struct ctl_rank *r);
/* What its report says. */
void ctl_move_set_why(struct ctl_move *m, const char *why);

#endif
