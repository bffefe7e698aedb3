/*
 * job.h - a job: made, changed, stored, gone
 */
#ifndef CLUSTER_CONTROLLER_STATE_JOB_H
#define CLUSTER_CONTROLLER_STATE_JOB_H

#include "cluster/controller/state/state.h"

/* What it takes of memory until it is over, but for its ranks. */
size_t ctl_job_size(const Control__Submit *s);
/* Takes spec; it waits, and is not stored yet. */
struct ctl_job *ctl_job_create(struct ctl *ctl, uint64_t id,
			       Control__Submit *spec);
/* The job of an earlier submit of that user with that key; NULL: none, or no key. */
struct ctl_job *ctl_job_of_key(struct ctl *ctl, const Control__Submit *s);
void ctl_job_destroy(struct ctl_job *job);
/* The store's, too: nobody can ask for it any more. */
void ctl_job_forget(struct ctl_job *job);
/*
 * The only way from one state to the next: with the time of it, and stored with
 * whatever else has changed.  DONE frees what only a living job needs.
 */
void ctl_job_set_state(struct ctl_job *job, int state);
/* All its ranks have ended: it waits as if it had never started. */
void ctl_job_again(struct ctl_job *job);
/* What ps and its client are told; not stored by this. */
void ctl_job_set_why(struct ctl_job *job, const char *why);
/*
 * What its end has as its reason, if it has none yet: before ctl_job_fail() or
 * ctl_job_stop(), which store it.  by: whose doing it is, or "".
 */
void ctl_job_set_reason(struct ctl_job *job, int reason, const char *by);
void ctl_job_store(struct ctl_job *job);
/* It may wait and the view knows nothing of it: whoever starts those must look. */
void ctl_job_is_outside(struct ctl_job *job);
/*
 * Is there such a job since this was asked last?  Whoever looks says it again of
 * those that are left.
 */
bool ctl_jobs_outside(struct ctl *ctl);
/* All that the store has, with their ranks. */
void ctl_jobs_read(struct ctl *ctl);

#endif
