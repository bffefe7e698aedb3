/*
 * account.h - what a job asked for and had, and what was done to it, for later
 */
#ifndef CLUSTER_CONTROLLER_STATE_ACCOUNT_H
#define CLUSTER_CONTROLLER_STATE_ACCOUNT_H

#include "cluster/controller/state/state.h"

/* who: a user, or "" for the controller itself. */
void ctl_job_act(const struct ctl_job *job, const char *who, const char *fmt,
		 ...) __attribute__((format(printf, 3, 4)));
/* Store the account of a job that is over. */
void ctl_account_store(const struct ctl_job *job);
/* Remove some accounts that are too many or too old: true if there may be more. */
bool ctl_accounts_prune(struct ctl *ctl);
/* What was asked for each rank, for the caller to free; NULL: nothing. */
Control__Limits *ctl_job_limits(const Control__Submit *s);

#endif
