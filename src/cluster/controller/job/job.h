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

/* Politely first, if it has begun. */
void ctl_job_stop(struct ctl_job *job, const char *why);
/* After kill-grace, no longer. */
void ctl_job_kill_later(struct ctl_job *job);
/* bad rank -1: none.  Kills what still runs; exit and why of the first count.
 */
void ctl_job_fail(struct ctl_job *job, int bad_rank, int code, const char *fmt,
		  ...) __attribute__((format(printf, 4, 5)));
/* signo: what killed it, or 0; code is what a shell makes of either. */
void ctl_rank_ended(struct ctl_rank *r, int code, int signo);
void ctl_rank_lost(struct ctl_rank *r, const char *how);

/* ---- cause.c: which of several ends a job failed of */

/*
 * ctl_job_fail() follows, for what happened at `at` by our clock (0: unknown).
 * If it is a better cause than what the job is said to have failed of, it takes
 * its place, however late we hear of it: what was earlier; what is no mere echo;
 * and what cannot follow from another's end, before a SIGABRT of about that time.
 */
void ctl_job_cause(struct ctl_job *job, enum ctl_cause cause, usec_t at);

/* ---- start.c */

/* It runs with n ranks, on these hosts: start their keepers. */
void ctl_job_start(struct ctl_job *job, uint32_t n, const uint32_t *hosts);
void ctl_rank_started(struct ctl_rank *r);
/* Its host is given up: started on another one, if it surely never began there. */
bool ctl_rank_elsewhere(struct ctl_rank *r);
/* For certain, and it had the rank: lost, or started again. */
void ctl_rank_keeper_died(struct ctl_rank *r);

/* ---- deliver.c */

/* The running number of a signal, times this, is added to its request's id. */
#define CTL_SIGNAL_ID 256u
/* Now, or as soon as it runs, is heard of, and has arrived where it moves. */
void ctl_rank_signal(struct ctl_rank *r, uint32_t signo);
/* The next of those that waited. */
void ctl_rank_signals(struct ctl_rank *r);
/* The number of the last one that the rank has, in its keeper's words: HELLO of
 * a new connection, or of a rank that has landed. */
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

/* p is its client from now on, in place of another. */
void ctl_job_hold(struct ctl_peer *p, struct ctl_job *job);
void ctl_job_attach(struct ctl_peer *p, uint64_t re, const Control__Attach *a);
void ctl_job_detach(struct ctl_peer *p);
/* No client: end it unless one attaches in time. */
void ctl_job_detach_later(struct ctl_job *job);

/* ---- pmi.c */

/* An abort, and the end of a rank before ctl_rank_ended() with that code. */
void ctl_pmi_abort(struct klink *k, const Keeper__PmiAbort *a);
void ctl_pmi_exited(struct klink *k, const Keeper__Exited *e, int code);
void ctl_pmi_fence(struct klink *k, const Keeper__PmiFence *f);
void ctl_pmi_late(struct klink *k); /* what klink_has_room() held back */

#endif
