/*
 * objects.h - jobs, hosts and moves: made, stored, gone
 */
#ifndef CLUSTER_CONTROLLER_STATE_OBJECTS_H
#define CLUSTER_CONTROLLER_STATE_OBJECTS_H

#include "cluster/controller/state/state.h"

struct ctl_host *ctl_host_create(struct ctl *ctl, const char *name);
void ctl_host_destroy(struct ctl_host *h);
/* Takes spec. */
struct ctl_job *ctl_job_create(struct ctl *ctl, uint64_t id,
			       Control__Submit *spec);
void ctl_job_destroy(struct ctl_job *job);
/* It is over: free what only a living job needs. */
void ctl_job_shed(struct ctl_job *job);
void ctl_job_store(struct ctl_job *job);
void ctl_rank_store(struct ctl_rank *r);
struct ctl_move *ctl_move_create(struct ctl_rank *r, struct ctl_host *to,
				 uint64_t epoch);
void ctl_move_destroy(struct ctl_move *m);
/* state: enum store_move_state. */
void ctl_move_store(struct ctl_move *m, int state);

#endif
