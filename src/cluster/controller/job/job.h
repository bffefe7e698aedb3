/*
 * job.h - the life of jobs
 */
#ifndef CLUSTER_CONTROLLER_JOB_JOB_H
#define CLUSTER_CONTROLLER_JOB_JOB_H

#include "cluster/controller/state/state.h"

/* ---- submit.c */

/* Forget the oldest of jobs that are over, down to conf->history. */
void ctl_jobs_prune(struct ctl *ctl);
void ctl_job_submit(struct ctl_peer *p, uint64_t re, Control__Submit *s);

/* ---- job.c */

/* End a job: with SIGTERM first, if it has started. */
void ctl_job_stop(struct ctl_job *job, const char *why);
/* Kill it after kill-grace. */
void ctl_job_kill_later(struct ctl_job *job);
/* bad_rank -1: none.  Kills the ranks that still run; exit code and reason of
 * the first failure are kept.
 */
void ctl_job_fail(struct ctl_job *job, int bad_rank, int code, const char *fmt,
		  ...) __attribute__((format(printf, 4, 5)));
/* signo: the signal that killed it, or 0; code as a shell reports it. */
void ctl_rank_ended(struct ctl_rank *r, int code, int signo);
void ctl_rank_lost(struct ctl_rank *r, const char *how);

/* ---- cause.c: which of several ends a job failed of */

/*
 * Call it before ctl_job_fail(), for a failure at `at` by our clock (0:
 * unknown). A better cause replaces the recorded one, however late it is
 * reported: an earlier one; one that is not merely an echo of another rank's
 * end; and, against a SIGABRT of about the same time, one that cannot be a
 * consequence of another rank's end.
 */
void ctl_job_cause(struct ctl_job *job, enum ctl_cause cause, usec_t at);

/* ---- start.c */

/* Start a job with n ranks on these hosts: start their keepers. */
void ctl_job_start(struct ctl_job *job, uint32_t n, const uint32_t *hosts);
void ctl_rank_started(struct ctl_rank *r);
/*
 * Its host is given up: start the rank on another one if it certainly never
 * started there.
 */
bool ctl_rank_elsewhere(struct ctl_rank *r);
/*
 * The keeper that had the rank has certainly died: the rank is lost, or started
 * again.
 */
void ctl_rank_keeper_died(struct ctl_rank *r);

/* ---- deliver.c */

/* A signal's number times this is added to the id of its request. */
#define CTL_SIGNAL_ID 256u
/*
 * Deliver a signal now, or as soon as the rank runs, its host answers, and no
 * move is under way.
 */
void ctl_rank_signal(struct ctl_rank *r, uint32_t signo);
/* Deliver the next waiting signal. */
void ctl_rank_signals(struct ctl_rank *r);
/*
 * The number of the last signal that the rank has got, as its keeper reports it
 * in HELLO on a new connection, or after a landing.
 */
void ctl_signals_known(struct ctl_rank *r, uint64_t number);
/* A keeper's answers. */
void ctl_signal_taken(struct klink *k, uint64_t number);
void ctl_signal_failed(struct klink *k, uint64_t number,
		       const Keeper__Failed *f);
void ctl_signals_load(struct ctl_job *job);

/* ---- signal.c */

void ctl_job_signal(struct ctl_peer *p, uint64_t re, const Control__Signal *s);

/* ---- tell.c */

void ctl_job_tell(struct ctl_job *job); /* its client, where it stands */

/* ---- client.c */

/* Make p the job's client, replacing any other. */
void ctl_job_hold(struct ctl_peer *p, struct ctl_job *job);
void ctl_job_attach(struct ctl_peer *p, uint64_t re, const Control__Attach *a);
void ctl_job_detach(struct ctl_peer *p);
/* No client: end it unless one attaches in time. */
void ctl_job_detach_later(struct ctl_job *job);

/* ---- pmi.c */

/*
 * Handle an abort; and a rank's end, to be called before ctl_rank_ended() with
 * that code.
 */
void ctl_pmi_abort(struct klink *k, const Keeper__PmiAbort *a);
void ctl_pmi_exited(struct klink *k, const Keeper__Exited *e, int code);
void ctl_pmi_fence(struct klink *k, const Keeper__PmiFence *f);
void ctl_pmi_late(struct klink *k); /* what klink_has_room() held back */

#endif
