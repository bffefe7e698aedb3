/*
 * client.c - the client that waits for a job and prints its output
 */

#include <errno.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"

static void each_klink(struct ctl_job *job, void (*visit)(struct klink *k))
{
	struct klink *k;

	for (uint32_t i = 0; i < job->nr; i++)
		TAILQ_FOREACH (k, &job->ranks[i].klinks, kin)
			visit(k);
}

static int on_client_grace(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl_job *job = arg;

	job->grace = sd_event_source_disable_unref(job->grace);
	job->deserted = true;
	each_klink(job, klink_drop_output);
	ctl_job_set_reason(job, ENDED(NO_CLIENT), "");
	ctl_job_stop(job, "the `stint run` that started it has gone");
	return 0;
}

void ctl_job_detach_later(struct ctl_job *job)
{
	if (!job->grace && !job->spec->detached)
		loop_after(job->ctl->event, &job->grace,
			   job->ctl->conf->client_grace, on_client_grace, job);
}

/* Another client takes the job over: the old one is told so and gets nothing more. */
static void replace_client(struct ctl_job *job)
{
	struct ctl_peer *old = job->client;

	ctl_job_detach(old);
	ctl_send_failed(old, 0, -EBUSY,
			"another client has taken job %llu over",
			(unsigned long long)job->id);
}

void ctl_job_hold(struct ctl_peer *p, struct ctl_job *job)
{
	if (p->job == job)
		return;
	if (p->job)
		ctl_job_detach(p);
	if (job->client)
		replace_client(job);
	job->client = p;
	p->job = job;
}

void ctl_job_attach(struct ctl_peer *p, uint64_t re, const Control__Attach *a)
{
	struct ctl_job *job = ctl_job_find(p->ctl, a->job);

	ctl_job_hold(p, job);
	job->grace = sd_event_source_disable_unref(job->grace);
	job->deserted = false;
	ctl_send_ok(p, re);
	ctl_job_tell_begins(job);
	each_klink(job, klink_flush);
	ctl_stdin_ask(job);
	ctl_job_tell(job);
}

void ctl_job_detach(struct ctl_peer *p)
{
	struct ctl_job *job = p->job;

	p->job = NULL;
	job->client = NULL;
	/* Output that the old client has not acknowledged is sent again. */
	each_klink(job, klink_again);
	job->in_flight = 0;
	ctl_job_detach_later(job);
}
