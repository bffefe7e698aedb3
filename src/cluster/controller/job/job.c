/*
 * job.c - the life of a job
 *
 *	WAITING -> STARTING -> RUNNING -> ENDING -> DONE
 *
 * ENDING: a rank has ended, or somebody wants the job to end.  The first rank
 * that fails decides the job's exit code, and the others are killed, as
 * mpirun does.  DONE when every rank is.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/rank.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/waiters.h"
#include "cluster/controller/users/users.h"
#include "core/log.h"
#include "core/xalloc.h"
#include "model/record.h"

static void job_done(struct ctl_job *job)
{
	job->killer = sd_event_source_disable_unref(job->killer);
	ctl_job_set_state(job, STATE(DONE));
	log_info("job=%llu state=done exit=%d why=\"%s\"",
		 (unsigned long long)job->id, job->exit,
		 ctl_log_text(job->ctl, job->why));
	ctl_sched_end(job);
	ctl_job_tell(job);
}

static void check_done(struct ctl_job *job)
{
	if (job->state == STATE(DONE))
		return;
	for (uint32_t i = 0; i < job->nr; i++)
		if (job->ranks[i].state != STATE(DONE))
			return;
	job_done(job);
}

static void rank_done(struct ctl_rank *r, int code)
{
	ctl_rank_done(r, code);
	if (r->host)
		ctl_host_check_drained(r->host, NULL);
}

static void kill_ranks(struct ctl_job *job)
{
	for (uint32_t i = 0; i < job->nr; i++) {
		struct ctl_rank *r = &job->ranks[i];
		struct klink *k = klink_of(r);

		if (r->state == STATE(DONE))
			continue;
		if (r->state == STATE(WAITING) ||
		    (r->state == STATE(STARTING) && (!k || !k->start_sent)))
			rank_done(r, job->exit);
		if (k)
			klink_kill(k);
		/* A copy that is landing must not outlive it. */
		k = r->move ? ctl_move_dest(r->move) : NULL;
		if (k)
			klink_kill(k);
	}
	check_done(job);
}

void ctl_job_fail(struct ctl_job *job, int bad_rank, int code, const char *fmt,
		  ...)
{
	struct error err, why;
	va_list ap;

	if (job->state == STATE(DONE))
		return;
	if (!job->exit) {
		va_start(ap, fmt);
		vsnprintf(err.text, sizeof(err.text), fmt, ap);
		va_end(ap);
		/* Some of it may be the program's: nothing a terminal obeys. */
		error_set(&why, 0, "%s", err.text);
		ctl_job_set_why(job, why.text);
		job->exit = code;
		job->bad_rank = bad_rank;
	}
	ctl_job_set_state(job, STATE(ENDING));
	kill_ranks(job);
}

static void ended_well(const struct ctl_rank *r, const char *met)
{
	struct ctl_job *job = r->job;

	ctl_limit_note(r, met);
	if (job->state == STATE(RUNNING) || job->state == STATE(STARTING))
		ctl_job_set_state(job, STATE(ENDING));
	else
		ctl_job_store(job);
}

void ctl_rank_ended(struct ctl_rank *r, int code, int signo)
{
	struct ctl_job *job = r->job;
	char met[CTL_LIMIT_TEXT];
	bool over;

	if (r->state == STATE(DONE))
		return;
	rank_done(r, code);
	over = ctl_limit_words(r, met);
	if (code && job->spec->stopping) /* as it was told to */
		ctl_job_fail(job, r->rank, code, "%s", job->why);
	else if (over)
		ctl_job_fail(job, r->rank, code, "rank %u %s", r->rank, met);
	else if (signo)
		ctl_job_fail(job, r->rank, code,
			     "rank %u was ended by signal %d (%s)%s", r->rank,
			     signo, strsignal(signo), met);
	else if (code)
		ctl_job_fail(job, r->rank, code,
			     "rank %u exited with code %d%s", r->rank, code,
			     met);
	else
		ended_well(r, met);
	check_done(job);
}

void ctl_rank_lost(struct ctl_rank *r, const char *how)
{
	if (r->state == STATE(DONE))
		return;
	log_warnx("job=%llu rank=%u host=%s lost why=\"%s\"",
		  (unsigned long long)r->job->id, r->rank,
		  r->host ? r->host->name : "", how);
	ctl_rank_give_up(r);
	r->job->ctl->happen->rank_lost(r, how);
	rank_done(r, 1);
	ctl_job_cause(r->job, CAUSE_OWN, r->host ? r->host->lost_since : 0);
	ctl_job_fail(r->job, r->rank, 1, "rank %u on %s is lost: %s", r->rank,
		     r->host ? r->host->name : "no host", how);
	check_done(r->job);
}

static int on_kill_grace(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl_job *job = arg;

	job->killer = sd_event_source_disable_unref(job->killer);
	/* Also of those that are not heard of just now. */
	ctl_job_fail(job, -1, 128 + SIGKILL, "%s", job->why);
	return 0;
}

void ctl_job_kill_later(struct ctl_job *job)
{
	if (!job->killer)
		loop_after(job->ctl->event, &job->killer,
			   job->ctl->conf->kill_grace, on_kill_grace, job);
}

void ctl_job_stop(struct ctl_job *job, const char *why)
{
	if (job->state == STATE(DONE))
		return;
	if (job->state == STATE(WAITING)) {
		ctl_job_fail(job, -1, 128 + SIGTERM, "%s", why);
		return;
	}
	for (uint32_t i = 0; i < job->nr; i++)
		ctl_rank_signal(&job->ranks[i], SIGTERM);
	if (!job->exit)
		ctl_job_set_why(job, why);
	job->spec->stopping = true;
	ctl_job_store(job);
	ctl_job_kill_later(job);
}
