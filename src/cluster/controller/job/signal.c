/*
 * signal.c - signals to the ranks of a job
 *
 * A rank that is starting or moving, or whose host does not answer, cannot take a
 * signal; so signals wait here and in the store, and none is lost.  None is delivered
 * twice either: a rank is sent one at a time, with a number, and a controller that does
 * not know whether it arrived (because a connection broke or a controller was killed)
 * asks the rank's keeper for the number of the last one it got.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/state/account.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/state.h"
#include "core/xalloc.h"

static void end_by(const struct ctl_peer *p, struct ctl_job *job)
{
	char *why = xasprintf("%s ended it", p->name);

	ctl_job_keep_ended(job);
	ctl_job_set_reason(job, ENDED(CANCELLED), p->name);
	ctl_job_stop(job, why);
	free(why);
}

static void kill_by(const struct ctl_peer *p, struct ctl_job *job,
		    uint32_t signo)
{
	ctl_job_keep_ended(job);
	ctl_job_set_reason(job, ENDED(CANCELLED), p->name);
	ctl_job_fail(job, -1, 128 + signo, "%s killed it with signal %u (%s)",
		     p->name, signo, strsignal(signo));
}

static int no_ranks(const struct ctl_job *job, struct error *err)
{
	return error_set(err, -ESRCH, "job %llu has not started",
			 (unsigned long long)job->id);
}

/* Before it is done: a job that waits may be over then, and its account is closed. */
static void note(const struct ctl_peer *p, const struct ctl_job *job,
		 uint32_t signo)
{
	if (signo)
		ctl_job_act(job, p->name, "signal %u", signo);
	else
		ctl_job_act(job, p->name, "cancelled");
}

/* Signal one rank. */
static int signal_one(struct ctl_peer *p, struct ctl_job *job,
		      const Control__Signal *s, struct error *err)
{
	unsigned long long id = job->id;

	if (!s->signo)
		return error_set(
			err, -EINVAL,
			"a rank cannot be ended alone: end its job, %llu", id);
	if (s->rank >= job->nr)
		return error_set(err, -ESRCH,
				 "job %llu has ranks 0 to %u and no %u", id,
				 job->nr - 1, s->rank);
	if (job->state == STATE(WAITING))
		return no_ranks(job, err);
	if (job->ranks[s->rank].state == STATE(DONE))
		return error_set(err, -ESRCH, "rank %llu.%u has ended", id,
				 s->rank);
	note(p, job, s->signo);
	ctl_rank_signal(&job->ranks[s->rank], s->signo);
	return 0;
}

/*
 * Does the signal mean that a job should end?  It also ends a waiting job, unlike a
 * signal that means "write a checkpoint".
 */
static bool means_end(uint32_t signo)
{
	return signo == SIGINT || signo == SIGTERM || signo == SIGHUP ||
	       signo == SIGQUIT || signo == SIGABRT || signo == SIGKILL;
}

static int signal_all(struct ctl_peer *p, struct ctl_job *job, uint32_t signo,
		      struct error *err)
{
	bool waits = job->state == STATE(WAITING);

	if (waits && signo && !means_end(signo))
		return no_ranks(job, err);
	note(p, job, signo);
	if (!signo)
		end_by(p, job);
	else if (signo == SIGKILL || waits)
		kill_by(p, job, signo);
	else
		for (uint32_t i = 0; i < job->nr; i++)
			ctl_rank_signal(&job->ranks[i], signo);
	return 0;
}

int ctl_job_signal(struct ctl_peer *p, struct ctl_job *job, const void *arg,
		   struct error *err)
{
	const Control__Signal *s = arg;

	if (job->state == STATE(DONE))
		return error_set(err, -ESRCH, "job %llu has ended",
				 (unsigned long long)job->id);
	if (s->signo > 64)
		return error_set(err, -EINVAL, "there is no signal %u",
				 s->signo);
	return s->one ? signal_one(p, job, s, err)
		      : signal_all(p, job, s->signo, err);
}
