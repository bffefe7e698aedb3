/*
 * plan.h - carrying out what the policy plans
 */
#ifndef CLUSTER_CONTROLLER_PLAN_PLAN_H
#define CLUSTER_CONTROLLER_PLAN_PLAN_H

#include "cluster/controller/state/state.h"

/* Have it decide, and do so. */
void ctl_plan_pass(struct ctl *ctl);

#endif
