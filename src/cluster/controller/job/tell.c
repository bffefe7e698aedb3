/*
 * tell.c - what a job's client hears of it
 */
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/say.h"
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
		ctl_sched_why(job, why, sizeof(why), NULL);
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
