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
#include "cluster/controller/state/array.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/waiters.h"
#include "core/log.h"
#include "core/plain.h"
#include "core/xalloc.h"
#include "model/record.h"

int ctl_job_check_name(const char *name, struct error *err)
{
	if (strlen(name) > CTL_NAME_MAX)
		return error_set(err, -EINVAL,
				 "a name of %zu bytes: %d at most",
				 strlen(name), CTL_NAME_MAX);
	if (!plain_is(name) || strchr(name, '/'))
		return error_set(err, -EINVAL,
				 "a name has no slash, and nothing that a "
				 "terminal obeys");
	return 0;
}

static int must_wait(const struct ctl_job *job, struct error *err)
{
	if (job->state == STATE(WAITING))
		return 0;
	return error_set(err, job->state == STATE(DONE) ? -ESRCH : -EBUSY,
			 "job %llu has %s", (unsigned long long)job->id,
			 job->state == STATE(DONE) ? "ended" : "started");
}

static int hold(struct ctl_job *job, const char *who, struct error *err)
{
	int r = must_wait(job, err);
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
	int r = must_wait(job, err);

	if (r < 0 || !job->spec->held)
		return r;
	job->spec->held = false;
	ctl_job_set_why(job, "");
	if (ctl_array_admits(job) && !job->spec->n_hosts)
		ctl_sched_arrive(job);
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

/* All of it, before anything is changed: what is refused in part is not done in part. */
static int check_update(const struct ctl_job *job, const Control__ChangeJob *c,
			struct error *err)
{
	int r = ctl_job_check_name(c->name, err);

	if (!r && (c->estimate_usec || job->state == STATE(DONE)))
		r = must_wait(job, err);
	if (!r && c->estimate_usec > RECORD_ESTIMATE_MAX)
		r = error_set(err, -EINVAL,
			      "a run time of more than ten years");
	return r ? r : ctl_job_check_limit(job, c->limit_usec, err);
}

/* The policy has planned with the old estimate, so it is asked for a new plan. */
static void set_estimate(struct ctl_job *job, uint64_t usec)
{
	job->spec->estimate_usec = usec;
	if (!job->model)
		return;
	ctl_sched_leave(job);
	ctl_sched_arrive(job);
}

static int update(struct ctl_job *job, const Control__ChangeJob *c,
		  struct error *err)
{
	int r = check_update(job, c, err);

	if (r < 0)
		return r;
	if (c->estimate_usec)
		set_estimate(job, c->estimate_usec);
	if (c->limit_usec)
		ctl_job_set_limit(job, c->limit_usec);
	if (*c->name)
		message_set_text(&job->spec->name, xstrdup(c->name));
	ctl_job_store(job);
	return 0;
}

static int change(struct ctl_job *job, const char *who,
		  const Control__ChangeJob *c, struct error *err)
{
	switch (c->change) {
	case CONTROL__CHANGE__HOLD:
		return hold(job, who, err);
	case CONTROL__CHANGE__RELEASE:
		return release(job, err);
	case CONTROL__CHANGE__REQUEUE:
		return requeue(job, who, err);
	case CONTROL__CHANGE__UPDATE:
		return update(job, c, err);
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
	const Control__ChangeJob *c = arg;
	int r = change(job, p->name, c, err);

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
