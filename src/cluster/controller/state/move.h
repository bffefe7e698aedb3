/* move.h - create, store and destroy moves; rank_move/ changes their state */
#ifndef CLUSTER_CONTROLLER_STATE_MOVE_H
#define CLUSTER_CONTROLLER_STATE_MOVE_H

#include "cluster/controller/state/state.h"

/* Create a move of the rank from where it is; not stored yet. */
struct ctl_move *ctl_move_create(struct ctl_rank *r, struct ctl_host *to,
				 uint64_t epoch);
void ctl_move_destroy(struct ctl_move *m);
/* state: enum store_move_state. */
void ctl_move_store(struct ctl_move *m, int state);

#endif
