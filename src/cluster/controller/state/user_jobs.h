/*
 * user_jobs.h - how many jobs each user has, counted as they come and go
 *
 * Users may have a hundred thousand of them, and each submit asks.
 */
#ifndef CLUSTER_CONTROLLER_STATE_USER_JOBS_H
#define CLUSTER_CONTROLLER_STATE_USER_JOBS_H

#include "cluster/controller/state/state.h"

struct ctl_user_jobs {
	char *user;
	/* jobs that are not over; ranks: as many as they may still get */
	int64_t jobs, ranks, bytes;
	int64_t over, ranks_over; /* jobs that are */
	UT_hash_handle hh;
};

/* What that user has; NULL: no job. */
const struct ctl_user_jobs *ctl_user_jobs_find(const struct ctl *ctl,
					       const char *user);

/* A job that is not over has come. */
void ctl_user_jobs_join(struct ctl_job *job);
/* What it asks for has changed, and with that its size. */
void ctl_user_jobs_resize(struct ctl_job *job, size_t size);
/* It is over now. */
void ctl_user_jobs_over(struct ctl_job *job);
/* It is forgotten; job->state says whether it was over. */
void ctl_user_jobs_leave(struct ctl_job *job);

#endif
