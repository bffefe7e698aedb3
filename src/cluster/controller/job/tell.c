/* tell.c - tell a job's client the job's state */
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/keepers/keepers.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/say.h"
#include "cluster/controller/state/state.h"
#include "cluster/controller/state/waiters.h"
#include "core/xalloc.h"

static void tell_waiters(struct ctl_job *job, Control__JobState *s)
{
	ctl_waiters_tell(&job->waiters, MESSAGE_BODY(JOB_STATE), s);
	ctl_waiters_drop(&job->waiters);
}

static void send_state(struct ctl_job *job, Control__JobState *s)
{
	char why[256] = "";

	if (job->state == STATE(WAITING) && job->model)
		ctl_sched_why(job, why, sizeof(why), NULL);
	s->job = job->id;
	s->state = job->state;
	s->why = *why ? why : job->why;
	s->exit = job->exit;
	s->bad_rank = job->bad_rank;
	s->limit_met = job->limit_met;
	if (job->client)
		ctl_send(job->client, 0, 0, MESSAGE_BODY(JOB_STATE), s);
	if (job->state == STATE(DONE))
		tell_waiters(job, s);
}

/* One for each rank; the caller frees. */
static Control__RankEnd **rank_ends(const struct ctl_job *job)
{
	Control__RankEnd *ends = xcalloc(job->nr, sizeof(*ends)),
			 **list = xcalloc(job->nr, sizeof(*list));

	for (uint32_t i = 0; i < job->nr; i++) {
		control__rank_end__init(&ends[i]);
		list[i] = &ends[i];
	}
	return list;
}

static void free_ends(Control__RankEnd **list)
{
	free(*list);
	free(list);
}

void ctl_job_tell(struct ctl_job *job)
{
	Control__JobState s = CONTROL__JOB_STATE__INIT;
	Control__RankEnd **ends;
	bool over = job->state == STATE(DONE);

	if (over)
		ctl_kept_tell(job);
	if (!job->client && (!over || TAILQ_EMPTY(&job->waiters)))
		return;
	ends = rank_ends(job);
	for (uint32_t i = 0; i < job->nr; i++) {
		ends[i]->stdout_end = job->ranks[i].stdout_end;
		ends[i]->stderr_end = job->ranks[i].stderr_end;
		ends[i]->known = job->ranks[i].state == STATE(DONE);
	}
	if (over) {
		s.ends = ends;
		s.n_ends = job->nr;
	}
	send_state(job, &s);
	free_ends(ends);
}

void ctl_job_tell_begins(struct ctl_job *job)
{
	Control__JobState s = CONTROL__JOB_STATE__INIT;
	Control__RankEnd **begins;

	if (job->state == STATE(DONE) || job->spec->detached)
		return;
	begins = rank_ends(job);
	for (uint32_t i = 0; i < job->nr; i++) {
		begins[i]->stdout_end = klink_goes_on_at(&job->ranks[i], 1);
		begins[i]->stderr_end = klink_goes_on_at(&job->ranks[i], 2);
	}
	s.begins = begins;
	s.n_begins = job->nr;
	send_state(job, &s);
	free_ends(begins);
}
