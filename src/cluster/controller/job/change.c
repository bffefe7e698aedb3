/*
 * change.c - what users can do to a job they have submitted: hold and release it,
 * requeue it, change what it asks for, wait for it
 *
 * The policy does not know of a job that is held (ctl_sched_leave()).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/account.h"
#include "cluster/controller/state/after.h"
#include "cluster/controller/state/array.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/waiters.h"
#include "core/log.h"
#include "core/xalloc.h"

static int hold(struct ctl_job *job, const char *who, struct error *err)
{
	int r = ctl_job_must_wait(job, err);
	char *why;

	if (r < 0 || job->spec->held)
		return r;
	why = xasprintf("held by %s", who);
	job->spec->held = true;
	ctl_array_turn_over(job);
	ctl_job_set_why(job, why);
	ctl_job_store(job);
	free(why);
	if (job->model)
		ctl_sched_leave(job);
	ctl_sched_soon(job->ctl);
	return 0;
}

static int release(struct ctl_job *job, struct error *err)
{
	int r = ctl_job_must_wait(job, err);

	if (r < 0 || !job->spec->held)
		return r;
	job->spec->held = false;
	ctl_job_set_why(job, "");
	if (job->after == AFTER_WAITS)
		ctl_after_tell(job);
	else if (!ctl_job_is_kept(job) && ctl_array_admits(job) &&
		 !job->spec->n_hosts)
		ctl_sched_arrive(job);
	else
		ctl_job_is_outside(
			job); /* nobody has looked while it was held */
	ctl_job_store(job);
	ctl_sched_soon(job->ctl);
	return 0;
}

static int requeue(struct ctl_job *job, const char *who, struct error *err)
{
	char *why = xasprintf("requeued by %s", who);
	int r = ctl_job_requeue(job, why, err);

	free(why);
	return r;
}

static int make(struct ctl_peer *p, struct ctl_job *job,
		const struct ctl_change *change, struct error *err)
{
	const char *who = p->name;

	switch (change->ask->change) {
	case CONTROL__CHANGE__HOLD:
		return hold(job, who, err);
	case CONTROL__CHANGE__RELEASE:
		return release(job, err);
	case CONTROL__CHANGE__REQUEUE:
		return requeue(job, who, err);
	case CONTROL__CHANGE__UPDATE:
		return ctl_job_update(p, job, change, err);
	default:
		return error_set(err, -ENOSYS,
				 "the controller does not know this change: it "
				 "may be older than you");
	}
}

static const char *change_name(Control__Change c)
{
	return c == CONTROL__CHANGE__HOLD      ? "held"
	       : c == CONTROL__CHANGE__RELEASE ? "released"
	       : c == CONTROL__CHANGE__REQUEUE ? "requeued"
					       : "updated";
}

int ctl_job_change(struct ctl_peer *p, struct ctl_job *job, const void *arg,
		   struct error *err)
{
	const struct ctl_change *change = arg;
	const Control__ChangeJob *c = change->ask;
	int r = make(p, job, change, err);

	if (r < 0)
		return r;
	ctl_job_act(job, p->name, "%s", change_name(c->change));
	log_info("job=%llu change=%d by=%s", (unsigned long long)job->id,
		 c->change, p->name);
	return 0;
}

void ctl_job_wait(struct ctl_peer *p, uint64_t re, struct ctl_job *job)
{
	ctl_wait(&job->waiters, p, re);
	if (job->state == STATE(DONE))
		ctl_job_tell(job);
}
