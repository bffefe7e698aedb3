/*
 * plan.h - carrying out what the policy plans
 */
#ifndef CLUSTER_CONTROLLER_PLAN_PLAN_H
#define CLUSTER_CONTROLLER_PLAN_PLAN_H

#include "cluster/controller/state/state.h"

/* Have the policy decide, and carry its plan out. */
void ctl_plan_pass(struct ctl *ctl);

#endif
