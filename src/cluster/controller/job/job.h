/*
 * job.h - the life of jobs
 */
#ifndef CLUSTER_CONTROLLER_JOB_JOB_H
#define CLUSTER_CONTROLLER_JOB_JOB_H

#include "cluster/controller/state/state.h"

/* ---- check.c */

/* Is what was submitted valid, whatever jobs and hosts there are?  Fields that only the
 * controller may set are set. */
int ctl_job_check(struct ctl_peer *p, Control__Submit *s,
		  struct error *err) must_check;

/* ---- submit.c */

/* Forget the oldest of jobs that are over, down to conf->history. */
void ctl_jobs_prune(struct ctl *ctl);
/* Submit a job, or all jobs of an array.  Changes s, a part of the message. */
void ctl_job_submit(struct ctl_peer *p, uint64_t re, Control__Submit *s);
/* Hand jobs of arrays whose turn has come to the policy. */
void ctl_arrays_go_on(struct ctl *ctl);

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
/*
 * Kill its ranks, wherever they are; when all have surely ended (or their hosts
 * are given up) it waits as if it had just come, under its number.  why: shown
 * meanwhile.  An error if its user has not allowed it (spec->requeue), or if it
 * is over, about to be ended, or waits.  A job whose ranks all end well before
 * they are killed is done.
 */
int ctl_job_requeue(struct ctl_job *job, const char *why, struct error *err);
/*
 * The same of a job of which no rank has begun anywhere, whether or not its
 * user lets it begin anew: nothing of it runs twice.
 */
void ctl_job_wait_again(struct ctl_job *job, const char *why);
/* After a restart: what had begun to end has ended. */
void ctl_jobs_settle(struct ctl *ctl);
/* Somebody wants it to end for good, also if it was to be begun anew. */
void ctl_job_keep_ended(struct ctl_job *job);
/* Start those that wait for hosts that their users named, if they are there. */
void ctl_jobs_start_named(struct ctl *ctl);
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

/* ---- pool.c: the addresses of ranks */

int ctl_pool_create(struct ctl *ctl, struct error *err) must_check;
void ctl_pool_destroy(struct ctl *ctl);
/* Is all of the pool in the network of that address?  prefix: 1 to 31. */
bool ctl_pool_within(const struct ctl *ctl, struct in_addr net,
		     unsigned prefix);
/* One that no rank has; 0.0.0.0 if there is none. */
struct in_addr ctl_pool_take(struct ctl *ctl);

/* ---- start.c */

/* Start a job with n ranks on these hosts: start their keepers. */
void ctl_job_start(struct ctl_job *job, uint32_t n, const uint32_t *hosts);
void ctl_rank_started(struct ctl_rank *r);
/*
 * Its host is given up: start the rank on another one if it certainly never
 * started there.
 */
bool ctl_rank_elsewhere(struct ctl_rank *r);
/* It is to be started, and nobody wants its job to end, or to begin anew. */
bool ctl_rank_may_begin(const struct ctl_rank *r);
/*
 * A host that is closed (its owner came back), or full, has started no keeper for the
 * rank: it goes to another host; or its job waits again; or, if another of the
 * job's ranks may have begun and the job may not begin anew, the rank alone
 * waits for a host.
 */
void ctl_rank_refused(struct ctl_rank *r, struct ctl_host *h, int code,
		      const char *why);
/* Start those that wait like that, where there is a host for them now. */
void ctl_ranks_start_refused(struct ctl *ctl);
/*
 * The keeper that had the rank has certainly died: the rank is lost, or started
 * again.
 */
void ctl_rank_keeper_died(struct ctl_rank *r);

/* ---- freeze.c */

/*
 * Have it stand still, or go on; false if that cannot be asked of its keeper
 * now.  told: the policy has not planned it itself.
 */
bool ctl_rank_freeze(struct ctl_rank *r, bool on, bool told);
/* So it is, planned or not. */
void ctl_rank_is_frozen(struct ctl_rank *r, bool on);

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
/* The keeper answers a signal: it was delivered, or could not be. */
void ctl_signal_taken(struct klink *k, uint64_t number);
void ctl_signal_failed(struct klink *k, uint64_t number,
		       const Keeper__Failed *f);
void ctl_signals_load(struct ctl_job *job);
/* Forget the signals that wait. */
void ctl_signals_drop(struct ctl_job *job);

/* ---- signal.c */

/* Send the signal that *arg, a Control__Signal, names to the job. */
int ctl_job_signal(struct ctl_peer *p, struct ctl_job *job, const void *arg,
		   struct error *err) must_check;

/* ---- tell.c */

/* Tell the job's client its state, and, when it is over, all who wait for that. */
void ctl_job_tell(struct ctl_job *job);
/* Tell a new client from which offsets on it prints the job's output. */
void ctl_job_tell_begins(struct ctl_job *job);

/* ---- time.c */

#define CTL_LIMIT_MAX (10 * 366 * (uint64_t)USEC_PER_DAY)
/* Set the timers of the job's warning and end, if it runs and has a time limit. */
void ctl_job_watch_time(struct ctl_job *job);
/* 0 leaves the limit as it is. */
int ctl_job_set_limit(struct ctl_job *job, uint64_t usec,
		      struct error *err) must_check;

/* ---- change.c */

enum { CTL_NAME_MAX = 64 };
int ctl_job_check_name(const char *name, struct error *err) must_check;
/* Make the change that *arg, a Control__ChangeJob, asks for. */
int ctl_job_change(struct ctl_peer *p, struct ctl_job *job, const void *arg,
		   struct error *err) must_check;
void ctl_job_wait(struct ctl_peer *p, uint64_t re, struct ctl_job *job);

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
/* Send what had to wait while the agent's connection was full. */
void ctl_pmi_late(struct klink *k);

#endif
