/*
 * controller_client.c - the client that waits for a job and prints its output
 */
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/state/state.h"
#include "core/xalloc.h"

void ctl_job_tell(struct ctl_job *job)
{
	Control__JobState s = CONTROL__JOB_STATE__INIT;
	Control__RankEnd *ends, **list;
	char why[256] = "";

	if (!job->client)
		return;
	if (job->state == STATE(WAITING) && job->model)
		ctl_sched_why(job, why, sizeof(why));
	ends = xcalloc(job->nr, sizeof(*ends));
	list = xcalloc(job->nr, sizeof(*list));
	for (uint32_t i = 0; i < job->nr; i++) {
		control__rank_end__init(&ends[i]);
		ends[i].stdout_end = job->ranks[i].stdout_end;
		ends[i].stderr_end = job->ranks[i].stderr_end;
		ends[i].known = job->ranks[i].state == STATE(DONE);
		list[i] = &ends[i];
	}
	s.job = job->id;
	s.state = job->state;
	s.why = job->state == STATE(WAITING) ? why : job->why;
	s.exit = job->exit;
	s.bad_rank = job->bad_rank;
	s.limit_met = job->limit_met;
	if (job->state == STATE(DONE)) {
		s.ends = list;
		s.n_ends = job->nr;
	}
	ctl_send(job->client, 0, 0, MESSAGE_BODY(JOB_STATE), &s);
	free(list);
	free(ends);
}

static int on_client_grace(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl_job *job = arg;
	struct klink *k;

	job->grace = sd_event_source_disable_unref(job->grace);
	job->deserted = true;
	TAILQ_FOREACH (k, &job->ctl->klinks, link)
		if (k->job == job)
			klink_drop_output(k);
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
	struct klink *k;

	ctl_job_hold(p, job);
	job->grace = sd_event_source_disable_unref(job->grace);
	job->deserted = false;
	ctl_send_ok(p, re);
	TAILQ_FOREACH (k, &p->ctl->klinks, link)
		if (k->job == job)
			klink_flush(k);
	klink_stdin_room(job);
	ctl_job_tell(job);
}

void ctl_job_detach(struct ctl_peer *p)
{
	struct ctl_job *job = p->job;
	struct klink *k;

	p->job = NULL;
	job->client = NULL;
	/* What it has not acknowledged comes again from the keepers. */
	TAILQ_FOREACH (k, &job->ctl->klinks, link)
		if (k->job == job)
			klink_again(k);
	job->in_flight = 0;
	ctl_job_detach_later(job);
}
