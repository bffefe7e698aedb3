/*
 * follow.c - what jobs that follow others are told, and what comes of it
 *
 * A hundred thousand may wait for the end of one.  So each turn some of them are told, in one
 * transaction with what comes of it; and after that others are served.  Wherever the controller
 * dies, the next one finds those that were not told (ctl_afters_settle()), as what they follow
 * is not forgotten before (ctl_job_is_awaited()).
 */
#include <stdlib.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/after.h"
#include "cluster/controller/state/job.h"

enum {
	/* jobs a turn that are due, and as many that are told: some milliseconds */
	FOLLOW_MOST = 100,
	FOLLOW_BYTES = 1 << 20, /* likewise, where they are large */
};
/* for those who have had more than their share, too */
#define FOLLOW_PAUSE (5 * USEC_PER_MSEC)

/* It may begin, or never will. */
static void follow(struct ctl_job *job)
{
	char *why = ctl_after_spoilt(job);

	if (why) {
		ctl_job_set_reason(job, ENDED(DEPENDENCY), "");
		ctl_job_fail(job, -1, EXIT_FAILURE, "%s", why);
		free(why);
		return;
	}
	ctl_after_done(job);
	if (!job->spec->held)
		ctl_job_set_why(job, "");
	ctl_job_store(job);
	ctl_job_enter(job);
}

/* How large the job is that was due, and follows; 0: none was. */
static size_t follow_due(struct ctl *ctl)
{
	struct ctl_job *job = TAILQ_FIRST(&ctl->jobs.due);

	if (!job)
		return 0;
	follow(job);
	return job->size;
}

/* Likewise of the job that is told next. */
static size_t tell_next(struct ctl *ctl)
{
	struct ctl_follows *f = ctl_after_next(ctl);
	struct ctl_job *job;

	if (!f)
		return 0;
	job = f->job;
	ctl_after_note(ctl_after_of(f), &f->of->end, job->spec->uid);
	ctl_after_drop(f);
	if (ctl_after_decided(job)) {
		follow(job);
		return job->size;
	}
	if (!job->spec->held)
		ctl_after_tell(job);
	ctl_job_store(job);
	return job->size;
}

static int on_pause_over(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl *ctl = arg;

	ctl->jobs.follow_pause =
		sd_event_source_disable_unref(ctl->jobs.follow_pause);
	ctl_sched_soon(ctl);
	return 0;
}

/* One that ends may be what the next one waited for. */
void ctl_jobs_follow(struct ctl *ctl)
{
	size_t size, bytes = 0;

	if (ctl->jobs.follow_pause)
		return;
	for (int n = 0; n < FOLLOW_MOST && bytes < FOLLOW_BYTES; n++) {
		size = follow_due(ctl) + tell_next(ctl);
		if (!size)
			return;
		bytes += size;
	}
	loop_after(ctl->event, &ctl->jobs.follow_pause, FOLLOW_PAUSE,
		   on_pause_over, ctl);
}
