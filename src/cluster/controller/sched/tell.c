/*
 * tell.c - apply events to the view, and tell the policy of them
 *
 * Each event is recorded, applied to the view by model_apply(), and told to the policy
 * unless it has planned it itself.
 */
#include "cluster/controller/sched/priv.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"

void ctl_sched_soon(struct ctl *ctl)
{
	sd_event_source_set_enabled(ctl->sched->pass, SD_EVENT_ONESHOT);
}

/* Apply it at that time, or at the view's time if that is later. */
static void apply_at(struct ctl *ctl, struct event *e, usec_t at, bool told)
{
	struct ctl_sched *s = ctl->sched;

	e->at = at > s->view.now ? at : s->view.now;
	ctl_record_event(ctl, e, told);
	model_apply(&s->view, e);
	if (told)
		policy_event(s->policy, &s->view, e);
}

void ctl_sched_apply(struct ctl *ctl, struct event *e, bool told)
{
	apply_at(ctl, e, ctl_now(), told);
}

void sched_apply_and_ask(struct ctl *ctl, struct event *e)
{
	ctl_sched_apply(ctl, e, true);
	ctl_sched_soon(ctl);
}

void sched_job_enter(struct ctl_job *job, usec_t at)
{
	const Control__Submit *spec = job->spec;
	struct job *m = view_job_create(&job->ctl->sched->view);
	struct event e = { .type = EVENT_ARRIVE, .job = m };

	m->id = job->id;
	m->size = spec->ranks;
	m->min_size = spec->min_ranks ? spec->min_ranks : spec->ranks;
	m->kind = m->min_size < m->size ? JOB_MOLDABLE : JOB_RIGID;
	m->submit = job->submit;
	m->estimate = spec->estimate_usec;
	m->requeue = spec->requeue;
	m->user = spec->uid;
	m->driver = job;
	job->model = m;
	apply_at(job->ctl, &e, at, true);
}

void sched_job_start(struct ctl_job *job, usec_t at, const uint32_t *hosts)
{
	struct event e = { .type = EVENT_START,
			   .job = job->model,
			   .n = job->nr,
			   .hosts = hosts };

	apply_at(job->ctl, &e, at, true);
}

void ctl_sched_arrive(struct ctl_job *job)
{
	sched_job_enter(job, ctl_now());
	ctl_sched_soon(job->ctl);
}

void ctl_sched_start(struct ctl_job *job, const uint32_t *hosts)
{
	sched_job_start(job, ctl_now(), hosts);
	ctl_sched_soon(job->ctl);
}

void sched_rank_frozen(struct ctl_rank *r, bool on, usec_t at, bool told)
{
	struct event e = { .type = on ? EVENT_FREEZE : EVENT_THAW,
			   .job = r->job->model,
			   .rank = r->rank };

	if (e.job && e.job->state != JOB_WAITING &&
	    job_rank_frozen(e.job, r->rank) != on)
		apply_at(r->job->ctl, &e, at, told);
}

void ctl_sched_migrated(struct ctl_rank *r)
{
	struct event e = { .type = EVENT_MIGRATE,
			   .job = r->job->model,
			   .rank = r->rank,
			   .host = r->host->ix,
			   .cost = r->downtime,
			   .seen = r->seen };

	if (r->job->model)
		sched_apply_and_ask(r->job->ctl, &e);
}

void sched_rank_seen(struct ctl_rank *r, usec_t at)
{
	struct event e = { .type = EVENT_MIGRATE,
			   .job = r->job->model,
			   .rank = r->rank,
			   .host = r->host->ix,
			   .seen = r->seen };

	apply_at(r->job->ctl, &e, at, true);
}

void ctl_sched_stays(struct ctl_rank *r, enum stays why)
{
	struct event e = { .type = EVENT_MIGRATE,
			   .job = r->job->model,
			   .rank = r->rank,
			   .host = r->host->ix,
			   .refused = why == STAYS_REFUSED,
			   .untried = why == STAYS_UNTRIED };

	if (e.job && e.job->state != JOB_WAITING)
		sched_apply_and_ask(r->job->ctl, &e);
}

void ctl_sched_frozen(struct ctl_rank *r, bool on, bool told)
{
	sched_rank_frozen(r, on, ctl_now(), told);
	if (told)
		ctl_sched_soon(r->job->ctl);
}

void ctl_sched_timer(struct ctl *ctl)
{
	struct event e = { .type = EVENT_TIMER };

	sched_apply_and_ask(ctl, &e);
}

enum {
	/* the policy is not told of a change of less than 1/20 */
	DEMAND_PART = 20,
	/* page faults per second from which on memory is short */
	DEMAND_FAULTS = 1,
};

/*
 * What the job's ranks need in memory.  One that swaps has less in memory than it
 * needs: then the largest need seen before counts.
 */
static uint64_t demand_of(const struct ctl_job *job)
{
	uint64_t most = 0;
	bool pages = false;

	for (unsigned i = 0; i < job->nr; i++) {
		const struct ctl_rank *r = &job->ranks[i];

		if (r->use.memory > most)
			most = r->use.memory;
		pages |= r->host && r->host->report.refaults >= DEMAND_FAULTS;
	}
	return pages && most < job->model->demand ? job->model->demand : most;
}

void ctl_sched_demand(struct ctl_job *job)
{
	struct event e = { .type = EVENT_DEMAND, .job = job->model };
	uint64_t was, differs;

	if (!e.job || e.job->state == JOB_WAITING)
		return;
	e.bytes = demand_of(job);
	was = e.job->demand;
	differs = e.bytes > was ? e.bytes - was : was - e.bytes;
	if (differs > was / DEMAND_PART)
		sched_apply_and_ask(job->ctl, &e);
}

static void job_leave(struct ctl_job *job, enum event_outcome outcome)
{
	struct event e = { .type = EVENT_END,
			   .job = job->model,
			   .outcome = outcome };

	sched_apply_and_ask(job->ctl, &e);
	view_job_destroy(&job->ctl->sched->view, job->model);
	job->model = NULL;
}

void ctl_sched_end(struct ctl_job *job)
{
	if (!job->model)
		return;
	job_leave(job, job->model->state == JOB_WAITING ? END_CANCELLED
		       : job->exit			? END_FAILED
							: END_DONE);
}

void ctl_sched_requeue(struct ctl_job *job)
{
	struct event e = { .type = EVENT_REQUEUE, .job = job->model };

	sched_apply_and_ask(job->ctl, &e);
}

void ctl_sched_leave(struct ctl_job *job)
{
	job_leave(job, job->model->state == JOB_WAITING ? END_CANCELLED
							: END_FAILED);
	ctl_job_is_outside(job);
}
