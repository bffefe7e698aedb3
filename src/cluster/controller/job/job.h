/*
 * job.h - the life of jobs
 */
#ifndef CLUSTER_CONTROLLER_JOB_JOB_H
#define CLUSTER_CONTROLLER_JOB_JOB_H

#include "cluster/controller/state/state.h"

/* ---- check.c */

/*
 * Is the request valid by itself, whatever jobs and hosts there are?  Sets the fields
 * that only the controller may set.
 */
int ctl_job_check(struct ctl_peer *p, Control__Submit *s,
		  struct error *err) must_check;

/* Are the limits of its ranks valid by themselves? */
int ctl_job_check_limits(const Control__Submit *s,
			 struct error *err) must_check;

enum { CTL_NAME_MAX = 64 };
int ctl_job_check_name(const char *name, struct error *err) must_check;
/* -EBUSY, or -ESRCH if it is over, if the job does not wait. */
int ctl_job_must_wait(const struct ctl_job *job, struct error *err) must_check;

/* ---- submit.c */

/* Submit a job, or all jobs of an array.  Changes s, a part of the message. */
void ctl_job_submit(struct ctl_peer *p, uint64_t re, Control__Submit *s);
/* The job, which waits outside of the view, is to start as soon as it can. */
void ctl_job_enter(struct ctl_job *job);
/* Hand jobs of arrays whose turn has come to the policy. */
void ctl_arrays_go_on(struct ctl *ctl);

/* ---- after.c: jobs that are to begin after others */

/* Are the jobs that a request wants to follow valid by themselves?  As ctl_job_check(). */
int ctl_after_check(Control__Submit *s, struct error *err) must_check;
int ctl_after_check_list(Control__After **list, size_t n,
			 struct error *err) must_check;
/* Put what is known of them into the list, which is that user's; -ESRCH: nothing is. */
int ctl_after_resolve(struct ctl_peer *p, Control__After **list, size_t n,
		      uint32_t uid, struct error *err) must_check;
/* Are all that it is to follow over, or has one spoilt it? */
bool ctl_after_decided(const struct ctl_job *job);
/* If so, and it waits for them, it is due. */
void ctl_after_decide(struct ctl_job *job);
/* Set its why to what it waits for. */
void ctl_after_tell(struct ctl_job *job);
/* Why it can never begin, for free(); NULL: it can. */
char *ctl_after_spoilt(const struct ctl_job *job);
/* All are over: it may begin, and finds in its environment how they ended. */
void ctl_after_done(struct ctl_job *job);
/* It does not find that there any more, nor counts as one that has followed. */
void ctl_after_undo(Control__Submit *s);
/* The job is over: whoever follows it is told soon. */
void ctl_after_ended(const struct ctl_job *job);
/* After a restart: look again at all that are waited for. */
void ctl_afters_settle(struct ctl *ctl);

/* ---- follow.c */

/* Tell some followers; they, and jobs that are due (state/after.h), come or end. */
void ctl_jobs_follow(struct ctl *ctl);

/* ---- forget.c */

/*
 * Forget the oldest jobs that are over, until conf->history are left: some of them; true
 * if there may be more.  Not while a client may still come back.
 */
bool ctl_jobs_prune(struct ctl *ctl);
/* Fewer of them: who waits for more is to be served first. */
void ctl_jobs_prune_some(struct ctl *ctl);
/* Of that user's alone if they are too many, before so many more come. */
void ctl_jobs_prune_user(struct ctl *ctl, const char *user, size_t come);
/* Give memory back to the system, if many jobs were forgotten since the last time. */
void ctl_jobs_give_back(struct ctl *ctl);

/* ---- job.c */

/* End a job: with SIGTERM first, if it has started. */
void ctl_job_stop(struct ctl_job *job, const char *why);
/* Kill the job after kill-grace. */
void ctl_job_kill_later(struct ctl_job *job);
/*
 * The job has failed: kill the ranks that still run.  Exit code and reason of the first
 * failure are kept.  bad_rank -1: no rank's failure.
 */
void ctl_job_fail(struct ctl_job *job, int bad_rank, int code, const char *fmt,
		  ...) __attribute__((format(printf, 4, 5)));
/*
 * Requeue the job: kill its ranks, wherever they are; when all have surely ended (or
 * their hosts are given up) it waits as if newly submitted, with the same number.  why:
 * shown meanwhile.  An error if its user has not allowed that (spec->requeue), or if it
 * is over, about to end, or waits.  A job whose ranks all end well before they are
 * killed is done.
 */
int ctl_job_requeue(struct ctl_job *job, const char *why, struct error *err);
/* The same after a rank was lost, or may have been: false too if that came too often. */
bool ctl_job_survives(struct ctl_job *job, const char *why);
/*
 * The same for a job of which no rank has begun anywhere, whether or not its user
 * allows requeuing: nothing of it runs twice.
 */
void ctl_job_wait_again(struct ctl_job *job, const char *why);
/* After a restart: finish what was ending. */
void ctl_jobs_settle(struct ctl *ctl);
/* A user wants the job to end for good, even if it was to be requeued. */
void ctl_job_keep_ended(struct ctl_job *job);
/* Start jobs that wait for hosts that their users named, if these are up. */
void ctl_jobs_start_named(struct ctl *ctl);
/*
 * The rank has ended.  signo: the signal that killed it, or 0; code: as a shell reports
 * it.
 */
void ctl_rank_ended(struct ctl_rank *r, int code, int signo);
void ctl_rank_lost(struct ctl_rank *r, const char *how);

/* ---- cause.c: which of several ends a job failed of */

/*
 * To be called before ctl_job_fail(), for a failure at `at` by our clock (0: unknown).
 * A better cause replaces the recorded one, however late it is reported.  Better is an
 * earlier one, one that is not just an echo of another rank's end, and, compared with a
 * SIGABRT at about the same time, one that cannot be a consequence of another rank's
 * end.
 */
void ctl_job_cause(struct ctl_job *job, enum ctl_cause cause, usec_t at);

/* ---- pool.c: the addresses of ranks */

int ctl_pool_create(struct ctl *ctl, struct error *err) must_check;
void ctl_pool_destroy(struct ctl *ctl);
/* Is the whole pool in the network of that address? prefix: 1 to 31. */
bool ctl_pool_within(const struct ctl *ctl, struct in_addr net,
		     unsigned prefix);
/* An address that no rank has; 0.0.0.0 if there is none. */
struct in_addr ctl_pool_take(struct ctl *ctl);

/* ---- start.c */

/* Start a job with n ranks on these hosts: start their keepers. */
void ctl_job_start(struct ctl_job *job, uint32_t n, const uint32_t *hosts);
void ctl_rank_started(struct ctl_rank *r);
/*
 * The rank's host is given up: start it on another one if it has certainly never
 * started there; true if so.
 */
bool ctl_rank_elsewhere(struct ctl_rank *r);
/* Is the rank still to be started, and its job neither to end nor to be requeued? */
bool ctl_rank_may_begin(const struct ctl_rank *r);
/*
 * A host that is closed (its owner came back, its disk is full) has started no keeper for the
 * rank.  The rank goes to another host, or its job waits again, or, if another of the
 * job's ranks may have begun and the job may not be requeued, the rank alone waits for
 * a host.
 */
void ctl_rank_refused(struct ctl_rank *r, struct ctl_host *h, int code,
		      const char *why);
/* Start ranks that wait for that reason, if there is a host for them now. */
void ctl_ranks_start_refused(struct ctl *ctl);
/*
 * The rank's keeper failed before any instruction of the program: another is started, elsewhere
 * if there is a host.  False if that was done often enough, or there is none.
 */
bool ctl_rank_unready(struct ctl_rank *r, const char *why);
/* The rank's keeper has certainly died: the rank is lost, or started again. */
void ctl_rank_keeper_died(struct ctl_rank *r);

/* ---- freeze.c */

/*
 * Freeze the rank (on) or let it go on; false if its keeper cannot be asked now.  told:
 * the policy must be told, because it has not planned this itself.
 */
bool ctl_rank_freeze(struct ctl_rank *r, bool on, bool told);
/*
 * The rank cannot leave now: freeze it if its host's owner wants the host back from it.
 * Where the host only goes that would help nobody.
 */
void ctl_rank_give_way(struct ctl_rank *r);
/* The rank is frozen (or not), whether that was planned or not. */
void ctl_rank_is_frozen(struct ctl_rank *r, bool on);
/* Its agent had it stopped, without being asked. */
void ctl_rank_was_stopped(struct ctl_rank *r);

/* ---- deliver.c */

/* Ids of requests with signals: the signal's number times this, plus the body case. */
#define CTL_SIGNAL_ID 256u
/*
 * Deliver a signal now, or as soon as the rank runs, its host answers and no move is
 * under way.
 */
void ctl_rank_signal(struct ctl_rank *r, uint32_t signo);
/* Deliver the next waiting signal. */
void ctl_rank_signals(struct ctl_rank *r);
/*
 * The number of the last signal that the rank has got, as its keeper reports it
 * in HELLO on a new connection, or after a landing.
 */
void ctl_signals_known(struct ctl_rank *r, uint64_t number);
/* The keeper's answer to a signal: it was delivered, or could not be. */
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

/*
 * Tell the job's client its state, and if the job is over, all peers that wait for
 * that.
 */
void ctl_job_tell(struct ctl_job *job);
/* Tell a new client from which offsets on it prints the job's output. */
void ctl_job_tell_begins(struct ctl_job *job);

/* ---- time.c */

#define CTL_LIMIT_MAX (10 * 366 * (uint64_t)USEC_PER_DAY)
/* Set the timers of the job's warning and end, if it runs and has a time limit. */
void ctl_job_watch_time(struct ctl_job *job);
/* May it have this time limit?  0 leaves it as it is, all ones removes it. */
int ctl_job_check_limit(const struct ctl_job *job, uint64_t usec,
			struct error *err) must_check;
void ctl_job_set_limit(struct ctl_job *job, uint64_t usec);

/* ---- change.c */

/* A request to change jobs, of which all tasks of an array may be meant. */
struct ctl_change {
	Control__ChangeJob *ask;
	/* what is wrong with those that it is to follow, see ctl_after_prepare() */
	int code;
	struct error why;
};
/* Make the change that *arg, a struct ctl_change, asks for. */
int ctl_job_change(struct ctl_peer *p, struct ctl_job *job, const void *arg,
		   struct error *err) must_check;
void ctl_job_wait(struct ctl_peer *p, uint64_t re, struct ctl_job *job);

/* ---- update.c */

int ctl_job_update(struct ctl_peer *p, struct ctl_job *job,
		   const struct ctl_change *change,
		   struct error *err) must_check;

/* ---- update_after.c: it is to follow others than before */

/*
 * Check those that are to be followed, and put in what is known of them: once for all jobs of
 * the request, as a list may be long, and a look at it slow.
 */
void ctl_after_prepare(struct ctl_peer *p, struct ctl_change *change);
/* May this job follow them? */
int ctl_after_may(struct ctl_peer *p, const struct ctl_job *job,
		  const struct ctl_change *change,
		  struct error *err) must_check;
/* The job, which waits and is not in the view, follows these from now on. */
void ctl_after_replace(struct ctl_job *job, const Control__ChangeJob *c);

/* ---- client.c */

/* Make p the job's client, replacing any other. */
void ctl_job_hold(struct ctl_peer *p, struct ctl_job *job);
void ctl_job_attach(struct ctl_peer *p, uint64_t re, const Control__Attach *a);
void ctl_job_detach(struct ctl_peer *p);
/* The job has no client: end it unless one attaches in time. */
void ctl_job_detach_later(struct ctl_job *job);

/* ---- pmi.c */

/* Handle an abort; and a rank's end with that code, before ctl_rank_ended(). */
void ctl_pmi_abort(struct klink *k, const Keeper__PmiAbort *a);
void ctl_pmi_exited(struct klink *k, const Keeper__Exited *e, int code);
void ctl_pmi_fence(struct klink *k, const Keeper__PmiFence *f);
/* Send what had to wait while the agent's connection was full. */
void ctl_pmi_late(struct klink *k);

#endif
