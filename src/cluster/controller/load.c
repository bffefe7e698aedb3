/*
 * load.c - read jobs and moves from the store after a restart
 *
 * Agents and keepers report where ranks really are, and how far moves have come, when
 * they connect.
 */
#include "cluster/controller/load.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/rank_move/rank_move.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/state.h"

void ctl_jobs_load(struct ctl *ctl)
{
	struct ctl_job *job;

	ctl_jobs_read(ctl);
	TAILQ_FOREACH (job, &ctl->jobs.list, link) {
		if (job->state == STATE(DONE))
			continue;
		ctl_signals_load(job);
		if (job->spec->stopping)
			ctl_job_kill_later(job);
		ctl_job_detach_later(job);
		ctl_job_watch_time(job);
	}
}

static void load_move(void *arg, const struct store_move *row)
{
	struct ctl *ctl = arg;
	struct ctl_rank *r = ctl_rank_find(ctl, row->job, row->rank);
	struct ctl_host *from = ctl_host_find(ctl, row->from);
	struct ctl_host *to = ctl_host_find(ctl, row->to);

	if (!r || !from || !to || r->move || r->state == STATE(DONE))
		return;
	ctl_move_restore(r, from, to, row);
}

void ctl_moves_load(struct ctl *ctl)
{
	store_each_move(ctl->store, load_move, ctl);
}
