/*
 * time.c - the time limit of a job: a warning, the end, and soon the KILL
 *
 * It counts from the job's start, also after a restart of the controller, and begins
 * again if the job is requeued.
 */
#include <errno.h>
#include <stdlib.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/state.h"
#include "core/log.h"
#include "core/units.h"
#include "core/xalloc.h"

static void warn_ranks(struct ctl_job *job)
{
	log_info("job=%llu limit=near signal=%u", (unsigned long long)job->id,
		 job->spec->warn_signal);
	job->spec->warned = true;
	ctl_job_store(job);
	for (uint32_t i = 0; i < job->nr; i++)
		ctl_rank_signal(&job->ranks[i], job->spec->warn_signal);
}

static void end_in_time(struct ctl_job *job)
{
	char *why = xasprintf("it reached its time limit of %g s (--limit)",
			      (double)job->spec->limit_usec / USEC_PER_SEC);

	if (!job->spec->stopping) {
		ctl_job_keep_ended(job);
		ctl_job_set_reason(job, ENDED(TIME_LIMIT), "");
		ctl_job_stop(job, why);
	}
	free(why);
}

static usec_t end_of(const struct ctl_job *job)
{
	return job->start + (usec_t)job->spec->limit_usec;
}

static bool is_to_warn(const struct ctl_job *job)
{
	return job->spec->warn_signal && !job->spec->warned;
}

static int on_time(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl_job *job = arg;

	job->limiter = sd_event_source_disable_unref(job->limiter);
	if (ctl_now() >= end_of(job)) {
		end_in_time(job);
		return 0;
	}
	if (is_to_warn(job) &&
	    ctl_now() >= end_of(job) - (usec_t)job->spec->warn_usec)
		warn_ranks(job);
	ctl_job_watch_time(job);
	return 0;
}

void ctl_job_watch_time(struct ctl_job *job)
{
	usec_t at, now = ctl_now();

	job->limiter = sd_event_source_disable_unref(job->limiter);
	if (!job->spec->limit_usec || job->state == STATE(WAITING) ||
	    job->state == STATE(DONE))
		return;
	at = end_of(job);
	if (is_to_warn(job))
		at -= (usec_t)job->spec->warn_usec;
	loop_after(job->ctl->event, &job->limiter, at > now ? at - now : 0,
		   on_time, job);
}

/* Such a warning would come before the job begins. */
static bool is_too_late(const struct ctl_job *job, uint64_t usec)
{
	return usec && is_to_warn(job) && usec <= job->spec->warn_usec;
}

int ctl_job_check_limit(const struct ctl_job *job, uint64_t usec,
			struct error *err)
{
	if (usec == UINT64_MAX)
		return 0;
	if (usec > CTL_LIMIT_MAX)
		return error_set(err, -EINVAL,
				 "a time limit of more than ten years");
	if (is_too_late(job, usec))
		return error_set(err, -EINVAL,
				 "its warning would come before it begins");
	return 0;
}

void ctl_job_set_limit(struct ctl_job *job, uint64_t usec)
{
	if (!usec)
		return;
	job->spec->limit_usec = usec == UINT64_MAX ? 0 : usec;
	ctl_job_watch_time(job);
}
