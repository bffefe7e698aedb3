/*
 * job.c - the life of a job
 *
 *	WAITING -> STARTING -> RUNNING -> ENDING -> DONE
 *
 * ENDING: a rank has ended, or a user wants the job to end.  The first rank that fails
 * decides the job's exit code, and the others are killed, as by mpirun.  The job is
 * DONE when every rank is.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/account.h"
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
	ctl_account_store(job);
	ctl_after_ended(job);
	log_info("job=%llu state=done exit=%d why=\"%s\"",
		 (unsigned long long)job->id, job->exit,
		 ctl_log_text(job->ctl, job->why));
	ctl_sched_end(job);
	if (job->array)
		/* the next job of its array may start */
		ctl_sched_soon(job->ctl);
	ctl_job_tell(job);
}

/* Was a rank lost, or did one end with an error, so that the others were killed? */
static bool was_killed(const struct ctl_job *job)
{
	for (uint32_t i = 0; i < job->nr; i++)
		if (job->ranks[i].lost || job->ranks[i].exit)
			return true;
	return false;
}

static void drop_keepers(struct ctl_job *job)
{
	for (uint32_t i = 0; i < job->nr; i++) {
		struct ctl_rank *r = &job->ranks[i];
		struct klink *k;

		job->ctl->happen->rank_lost(r, "its job is requeued");
		TAILQ_FOREACH (k, &r->klinks, kin)
			klink_drop_output(k);
	}
}

static void begin_anew(struct ctl_job *job)
{
	drop_keepers(job);
	ctl_signals_drop(job);
	ctl_job_again(job);
	log_info("job=%llu state=waiting requeues=%u why=\"%s\"",
		 (unsigned long long)job->id, job->spec->requeues,
		 ctl_log_text(job->ctl, job->why));
	if (job->spec->n_hosts)
		ctl_sched_leave(job); /* until the hosts that it names are up */
	else
		ctl_sched_requeue(job);
	ctl_job_tell(job);
}

static void check_done(struct ctl_job *job)
{
	if (job->state == STATE(DONE))
		return;
	for (uint32_t i = 0; i < job->nr; i++)
		if (job->ranks[i].state != STATE(DONE))
			return;
	if (job->spec->requeuing && was_killed(job))
		begin_anew(job);
	else
		job_done(job);
}

static void rank_done(struct ctl_rank *r, int code)
{
	ctl_rank_is_frozen(r, false);
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
			rank_done(r, job->exit ? job->exit : 128 + SIGKILL);
		if (k)
			klink_kill(k);
		/* A copy that is landing must not outlive the job. */
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

	/* Ends of ranks that are being killed are not the cause of anything. */
	if (job->state == STATE(DONE) || job->spec->requeuing)
		return;
	if (!job->exit) {
		va_start(ap, fmt);
		vsnprintf(err.text, sizeof(err.text), fmt, ap);
		va_end(ap);
		/*
		 * Some of the text may come from the program: remove terminal
		 * control sequences.
		 */
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

static int reason_of(const struct ctl_rank *r, int signo)
{
	return r->limits.over_memory ? ENDED(MEMORY_LIMIT)
	       : r->limits.over_file ? ENDED(OUTPUT_LIMIT)
	       : signo		     ? ENDED(BY_SIGNAL)
				     : ENDED(EXIT_CODE);
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
	if (code && !job->spec->stopping)
		ctl_job_set_reason(job, reason_of(r, signo), "");
	if (job->spec->requeuing)
		met[0] = 0; /* the job is requeued: this run does not count */
	else if (code && job->spec->stopping) /* the job was told to end */
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

/*
 * How often a job is requeued after losing a rank: the job itself may be what kills its
 * hosts.
 */
enum { LOSSES_MAX = 16 };

static bool survives_loss(const struct ctl_job *job)
{
	const Control__Submit *s = job->spec;

	return s->requeue && !s->stopping && !job->exit &&
	       s->requeues < LOSSES_MAX;
}

void ctl_job_wait_again(struct ctl_job *job, const char *why)
{
	ctl_job_act(job, "", "requeued: %s", why);
	job->spec->requeuing = true;
	ctl_job_set_why(job, why);
	ctl_job_set_state(job, STATE(ENDING));
	kill_ranks(job);
}

int ctl_job_requeue(struct ctl_job *job, const char *why, struct error *err)
{
	Control__Submit *s = job->spec;
	unsigned long long id = job->id;

	if (job->state == STATE(DONE))
		return error_set(err, -ESRCH, "job %llu has ended", id);
	if (!s->requeue)
		return error_set(err, -EPERM,
				 "job %llu may not be requeued: it was "
				 "submitted without --requeue",
				 id);
	if (s->stopping || (job->state == STATE(ENDING) && job->exit))
		return error_set(err, -EBUSY, "job %llu is being ended", id);
	if (job->state == STATE(WAITING))
		return error_set(err, -EALREADY, "job %llu waits already", id);
	if (!s->requeuing)
		ctl_job_wait_again(job, why);
	return 0;
}

bool ctl_job_survives(struct ctl_job *job, const char *why)
{
	return survives_loss(job) && ctl_job_requeue(job, why, NULL) >= 0;
}

void ctl_rank_lost(struct ctl_rank *r, const char *how)
{
	struct ctl_job *job = r->job;
	char *why;

	if (r->state == STATE(DONE))
		return;
	log_warnx("job=%llu rank=%u host=%s lost why=\"%s\"",
		  (unsigned long long)job->id, r->rank,
		  r->host ? r->host->name : "", how);
	ctl_rank_give_up(r);
	job->ctl->happen->rank_lost(r, how);
	rank_done(r, 1);
	why = xasprintf("rank %u on %s is lost: %s", r->rank,
			r->host ? r->host->name : "no host", how);
	ctl_job_cause(job, CAUSE_OWN, r->host ? r->host->lost_since : 0);
	ctl_job_set_reason(job, ENDED(RANK_LOST), r->host ? r->host->name : "");
	if (!ctl_job_survives(job, why))
		ctl_job_fail(job, r->rank, 1, "%s", why);
	free(why);
	check_done(job);
}

static int on_kill_grace(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl_job *job = arg;

	job->killer = sd_event_source_disable_unref(job->killer);
	if (!job->spec->stopping)
		return 0;
	/* This also kills ranks whose keepers do not answer just now. */
	ctl_job_fail(job, -1, 128 + SIGKILL, "%s", job->why);
	return 0;
}

void ctl_job_kill_later(struct ctl_job *job)
{
	if (!job->killer)
		loop_after(job->ctl->event, &job->killer,
			   job->ctl->conf->kill_grace, on_kill_grace, job);
}

void ctl_jobs_settle(struct ctl *ctl)
{
	struct ctl_job *job, *next;

	for (job = TAILQ_FIRST(&ctl->jobs.list); job; job = next) {
		next = TAILQ_NEXT(job, link);
		if (job->state == STATE(ENDING))
			check_done(job);
	}
}

void ctl_job_keep_ended(struct ctl_job *job)
{
	job->spec->requeuing = false;
}

void ctl_job_stop(struct ctl_job *job, const char *why)
{
	if (job->state == STATE(DONE))
		return;
	ctl_job_keep_ended(job);
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
