/*
 * load.c - jobs and moves as the store has them, after a restart
 *
 * Where ranks really are and how far moves have come, agents and keepers tell
 * when they connect.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/load.h"
#include "cluster/controller/rank_move/rank_move.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/objects.h"
#include "cluster/controller/state/state.h"
#include "core/log.h"
#include "core/xalloc.h"

static void load_rank(void *arg, const struct store_rank *row)
{
	struct ctl_job *job = arg;
	struct ctl_rank *r;

	if (row->rank >= job->nr)
		return;
	r = &job->ranks[row->rank];
	r->lost = row->state == STATE(LOST);
	r->state = r->lost ? STATE(DONE) : row->state;
	r->host = *row->host ? ctl_host_find(job->ctl, row->host) : NULL;
	r->address.s_addr = htonl(row->address);
	r->epoch = row->epoch;
	r->last_epoch = row->last_epoch;
	r->exit = row->exit;
	r->moves = row->moves;
	r->downtime = row->downtime;
	r->stdout_end = row->stdout_end;
	r->stderr_end = row->stderr_end;
	r->inherited = true;
}

static void load_job(void *arg, const struct store_job *row)
{
	struct ctl *ctl = arg;
	Control__Submit *spec =
		control__submit__unpack(NULL, row->spec_n, row->spec);
	struct ctl_job *job;

	if (!spec || !spec->n_argv || !spec->ranks ||
	    spec->ranks > CTL_RANKS_MAX || spec->started_ranks > spec->ranks) {
		log_warnx("job=%llu cannot be read from the store",
			  (unsigned long long)row->id);
		if (spec)
			control__submit__free_unpacked(spec, NULL);
		return;
	}
	job = ctl_job_create(ctl, row->id, spec);
	job->state = row->state;
	free(job->why);
	job->why = xstrdup(row->why);
	job->submit = row->submit;
	job->start = row->start;
	job->end = row->end;
	job->exit = row->exit;
	job->bad_rank = row->bad_rank;
	job->cause = row->cause;
	job->cause_at = row->cause_at;
	job->limit_met = row->limit_met;
	job->pmi_generation = row->pmi_generation;
	if (row->pmi_release_n) {
		job->pmi_release = xmalloc(row->pmi_release_n);
		memcpy(job->pmi_release, row->pmi_release, row->pmi_release_n);
		job->pmi_release_n = row->pmi_release_n;
	}
	pmi_gather_resume(job->gather, job->pmi_generation);
}

void ctl_jobs_load(struct ctl *ctl)
{
	struct ctl_job *job;

	ctl->last_job = store_last_job(ctl->store);
	store_each_job(ctl->store, load_job, ctl);
	TAILQ_FOREACH (job, &ctl->jobs, link) {
		store_each_rank(ctl->store, job->id, load_rank, job);
		if (job->state == STATE(DONE)) {
			ctl->nr_ended++;
			ctl_job_shed(job);
			continue;
		}
		ctl_signals_load(job);
		if (job->spec->stopping)
			ctl_job_kill_later(job);
		ctl_job_detach_later(job);
	}
}

static void load_move(void *arg, const struct store_move *row)
{
	struct ctl *ctl = arg;
	struct ctl_job *job = ctl_job_find(ctl, row->job);
	struct ctl_host *from = ctl_host_find(ctl, row->from);
	struct ctl_host *to = ctl_host_find(ctl, row->to);
	struct ctl_move *m;

	if (!job || row->rank >= job->nr || !from || !to ||
	    job->ranks[row->rank].move ||
	    job->ranks[row->rank].state == STATE(DONE))
		return;
	m = ctl_move_create(&job->ranks[row->rank], to, row->epoch);
	m->from = from;
	m->report.from = from->name;
	m->source_epoch = row->source_epoch;
	m->committed = row->state == MOVE_COMMITTED;
	m->step = STEP_RESTORED;
	ctl_move_restore(m, row);
}

void ctl_moves_load(struct ctl *ctl)
{
	store_each_move(ctl->store, load_move, ctl);
}
