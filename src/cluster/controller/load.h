/*
 * load.h - read the state from the store after a restart
 */
#ifndef CLUSTER_CONTROLLER_LOAD_H
#define CLUSTER_CONTROLLER_LOAD_H

#include "cluster/controller/state/state.h"

void ctl_jobs_load(struct ctl *ctl);
void ctl_moves_load(struct ctl *ctl);

#endif
