/*
 * client.c - the client that waits for a job and prints its output
 */

#include "cluster/conn/loop.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/state/find.h"
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
	ctl_job_stop(job, "the `stint run` that started it has gone");
	return 0;
}

void ctl_job_detach_later(struct ctl_job *job)
{
	if (!job->grace)
		loop_after(job->ctl->event, &job->grace,
			   job->ctl->conf->client_grace, on_client_grace, job);
}

void ctl_job_hold(struct ctl_peer *p, struct ctl_job *job)
{
	if (p->job == job)
		return;
	if (p->job)
		ctl_job_detach(p);
	if (job->client)
		ctl_job_detach(job->client);
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
	each_klink(job, klink_flush);
	ctl_stdin_ask(job);
	ctl_job_tell(job);
}

void ctl_job_detach(struct ctl_peer *p)
{
	struct ctl_job *job = p->job;

	p->job = NULL;
	job->client = NULL;
	/* What it has not acknowledged comes again from the keepers. */
	each_klink(job, klink_again);
	job->in_flight = 0;
	ctl_job_detach_later(job);
}
