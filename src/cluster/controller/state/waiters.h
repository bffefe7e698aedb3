/*
 * waiters.h - clients that wait until something has come about
 */
#ifndef CLUSTER_CONTROLLER_STATE_WAITERS_H
#define CLUSTER_CONTROLLER_STATE_WAITERS_H

#include "cluster/controller/state/state.h"

/* Ranks left there, or moved: answer who waits for it to be empty. */
void ctl_host_check_drained(struct ctl_host *h, const char *failed);
/* That one is empty, or will not be, and why; NULL is no reason. */
void ctl_host_drained(struct ctl_host *h, const char *why);

#endif
