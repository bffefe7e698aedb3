/* job.h - create, change, store and destroy jobs */
#ifndef CLUSTER_CONTROLLER_STATE_JOB_H
#define CLUSTER_CONTROLLER_STATE_JOB_H

#include "cluster/controller/state/state.h"

/* Bytes of memory that the job takes until it is over, not counting its ranks. */
size_t ctl_job_size(const Control__Submit *s);
/* Create a waiting job, which is not stored yet. spec is taken over. */
struct ctl_job *ctl_job_create(struct ctl *ctl, uint64_t id,
			       Control__Submit *spec);
/* The job of an earlier submit of that user with that key; NULL: none, or no key. */
struct ctl_job *ctl_job_of_key(struct ctl *ctl, const Control__Submit *s);
void ctl_job_destroy(struct ctl_job *job);
/* Destroy the job, also in the store: no one can ask for it any more. */
void ctl_job_forget(struct ctl_job *job);
/*
 * The only way to change a job's state: sets the time, and stores the job with whatever
 * else has changed.  DONE frees what only an unfinished job needs.
 */
void ctl_job_set_state(struct ctl_job *job, int state);
/* After all its ranks have ended: it waits again as if it had never started. */
void ctl_job_again(struct ctl_job *job);
/* Set what `stint ps` and the client are told; not stored by this. */
void ctl_job_set_why(struct ctl_job *job, const char *why);
/*
 * Set the reason of the job's end, if it has none yet; to be called before
 * ctl_job_fail() or ctl_job_stop(), which store it.  by: the user who caused it, or "".
 */
void ctl_job_set_reason(struct ctl_job *job, int reason, const char *by);
void ctl_job_store(struct ctl_job *job);
/*
 * Note that the job may wait without being in the view: ctl_jobs_outside() says so
 * then.
 */
void ctl_job_is_outside(struct ctl_job *job);
/*
 * Has there been such a job since the last call?  The caller notes those that still
 * wait again.
 */
bool ctl_jobs_outside(struct ctl *ctl);
/* Read all jobs and their ranks from the store. */
void ctl_jobs_read(struct ctl *ctl);

#endif
