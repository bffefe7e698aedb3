/*
 * sched.c - the controller as a driver of the policy
 *
 * State changes are events to the view (model/event.h); once for all events
 * that came together the policy decides, and plan/plan.c carries its plan
 * out.  See policy/kit/policy.h for the rules between a driver and a policy.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/sched/sched.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/host.h"
#include "cluster/controller/state/state.h"
#include "core/log.h"
#include "core/xalloc.h"
#include "model/record.h"

enum {
	SLOTS_A_CORE = 4, /* ranks a host may hold, for each core */
	SLOTS_LEAST = 16,
};

/* Forget the instants that the policy asked for. */
static void forget_wakes(struct ctl *ctl)
{
	ctl->waker = sd_event_source_disable_unref(ctl->waker);
	free(ctl->wake);
	ctl->wake = NULL;
	ctl->nr_wakes = ctl->cap_wakes = 0;
}

static int on_pass(sd_event_source *src, void *arg)
{
	struct ctl *ctl = arg;

	if (!ctl->policy)
		return 0;
	ctl->happen->pass_due(ctl);
	if (ctl_record_full(ctl))
		ctl_sched_anew(ctl);
	ctl_record_flush(ctl);
	return 0;
}

void ctl_sched_soon(struct ctl *ctl)
{
	sd_event_source_set_enabled(ctl->pass, SD_EVENT_ONESHOT);
}

static void apply_at(struct ctl *ctl, struct event *e, usec_t at, bool told)
{
	e->at = at > ctl->view.now ? at : ctl->view.now;
	ctl_record_event(ctl, e, told);
	model_apply(&ctl->view, e);
	if (told)
		policy_event(ctl->policy, &ctl->view, e);
}

void ctl_sched_apply(struct ctl *ctl, struct event *e, bool told)
{
	apply_at(ctl, e, ctl_now(), told);
}

/* Something the policy did not plan: tell it, and ask it for a plan. */
static void apply_and_ask(struct ctl *ctl, struct event *e)
{
	ctl_sched_apply(ctl, e, true);
	ctl_sched_soon(ctl);
}

static double best_score(const struct ctl *ctl)
{
	double best = 0;

	for (size_t i = 0; i < ctl->nr_hosts; i++)
		if (ctl->hosts[i]->score > best)
			best = ctl->hosts[i]->score;
	return best;
}

static void host_fill(const struct ctl_host *h, struct host *ret)
{
	const Control__HostReport *r = &h->report;
	double best = best_score(h->ctl);
	const struct ctl_lending *l = &h->lending;
	unsigned slots = h->cores * SLOTS_A_CORE;
	uint32_t cores = h->cores > l->cores ? h->cores - l->cores : 1;

	slots = slots > SLOTS_LEAST ? slots : SLOTS_LEAST;
	*ret = (struct host){
		.ix = h->ix,
		.name = h->name,
		.speed = h->score > 0 ? fmin(best / h->score, RECORD_SPEED_MAX)
				      : 1,
		.cores = cores,
		.slots = slots < l->guests_most ? slots : l->guests_most,
		.memory = h->memory,
		.memory_free = r->memory_free,
		.load = r->load,
		.users = r->users,
		.owner_active = l->is.leave,
		.closed = (uint8_t)l->is.closed,
		.leave_by = l->is.leave_by,
		.freeze_until = l->is.freeze_until,
		.freeze_most = l->is.freeze_most,
		.idle_since = h->owner.idle_since,
		.up = h->agent,
		.drain = h->drain,
	};
}

/* ---- jobs ---- */

/* The model's side of a job, from what the controller knows. */
static void job_enter(struct ctl_job *job, usec_t at)
{
	const Control__Submit *spec = job->spec;
	struct job *m = view_job_create(&job->ctl->view);
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

static void job_start(struct ctl_job *job, usec_t at, const uint32_t *hosts)
{
	struct event e = { .type = EVENT_START,
			   .job = job->model,
			   .n = job->nr,
			   .hosts = hosts };

	apply_at(job->ctl, &e, at, true);
}

void ctl_sched_arrive(struct ctl_job *job)
{
	job_enter(job, ctl_now());
	ctl_sched_soon(job->ctl);
}

void ctl_sched_start(struct ctl_job *job, const uint32_t *hosts)
{
	job_start(job, ctl_now(), hosts);
	ctl_sched_soon(job->ctl);
}

/* ---- the view and the policy, made anew ---- */

static int sched_build(struct ctl *ctl, usec_t at, struct error *err)
{
	struct host *hosts = xcalloc(ctl->nr_hosts + 1, sizeof(*hosts));
	int r;

	for (size_t i = 0; i < ctl->nr_hosts; i++)
		host_fill(ctl->hosts[i], &hosts[i]);
	view_init_hosts(&ctl->view, hosts, ctl->nr_hosts);
	free(hosts);
	ctl->view.now = at;
	r = policy_create(ctl->conf->policy, CTL_SEED, &ctl->view, &ctl->policy,
			  err);
	if (r < 0)
		view_clear(&ctl->view);
	else
		ctl_record_begin(ctl);
	return r;
}

static int by_start(const void *a, const void *b)
{
	const struct ctl_job *x = *(struct ctl_job *const *)a;
	const struct ctl_job *y = *(struct ctl_job *const *)b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

/* Jobs that have started and are not over, in the order of their starts. */
static size_t started_jobs(struct ctl *ctl, struct ctl_job ***ret)
{
	struct ctl_job *job, **list = NULL;
	size_t nr = 0, cap = 0;

	TAILQ_FOREACH (job, &ctl->jobs, link) {
		if (job->state == STATE(WAITING) || job->state == STATE(DONE))
			continue;
		array_room(list, nr, &cap);
		list[nr++] = job;
	}
	if (nr)
		qsort(list, nr, sizeof(struct ctl_job *), by_start);
	*ret = list;
	return nr;
}

static void rejoin(struct ctl_job *job)
{
	uint32_t *hosts = xcalloc(job->nr, sizeof(*hosts));

	for (uint32_t i = 0; i < job->nr; i++)
		hosts[i] = job->ranks[i].host ? job->ranks[i].host->ix : 0;
	job_enter(job, job->start);
	job_start(job, job->start, hosts);
	free(hosts);
}

static void rank_frozen(struct ctl_rank *r, bool on, usec_t at, bool told)
{
	struct event e = { .type = on ? EVENT_FREEZE : EVENT_THAW,
			   .job = r->job->model,
			   .rank = r->rank };

	if (e.job && e.job->state != JOB_WAITING &&
	    job_rank_frozen(e.job, r->rank) != on)
		apply_at(r->job->ctl, &e, at, told);
}

/* Freeze again the ranks that stood still, once all jobs are in the view. */
static void refreeze(struct ctl_job *job)
{
	for (uint32_t i = 0; i < job->nr; i++)
		if (job->ranks[i].frozen_since)
			rank_frozen(&job->ranks[i], true,
				    job->ranks[i].frozen_since, true);
}

/*
 * Try whether the policy takes its settings, with one made-up host in place
 * of those that will come.
 */
static int try_policy(struct ctl *ctl, struct error *err)
{
	const struct host host = {
		.name = "h", .speed = 1, .cores = 1, .slots = SLOTS_LEAST
	};
	struct policy *policy = NULL;
	struct view view;
	int r;

	view_init_hosts(&view, &host, 1);
	r = policy_create(ctl->conf->policy, CTL_SEED, &view, &policy, err);
	policy_destroy(policy);
	view_clear(&view);
	return r;
}

/* The jobs enter when they started, so that their ends are expected when they
 * were before; then those that wait. */
static int sched_begin(struct ctl *ctl, struct error *err)
{
	usec_t now = ctl_now();
	struct ctl_job *job, **started;
	size_t nr;
	int r;

	if (!ctl->nr_hosts)
		return try_policy(ctl, err);
	nr = started_jobs(ctl, &started);
	r = sched_build(ctl,
			nr && started[0]->start < now ? started[0]->start : now,
			err);

	for (size_t i = 0; i < nr && !r; i++)
		rejoin(started[i]);
	for (size_t i = 0; i < nr && !r; i++)
		refreeze(started[i]);
	free(started);
	if (r < 0)
		return r;
	TAILQ_FOREACH (job, &ctl->jobs, link) {
		if (job->state != STATE(WAITING))
			continue;
		if (job->spec->n_hosts || job->spec->held)
			ctl->outside = true;
		else
			job_enter(job, now);
	}
	return 0;
}

static void sched_end(struct ctl *ctl)
{
	if (!ctl->policy)
		return;
	policy_destroy(ctl->policy);
	ctl->policy = NULL;
	plan_clear(&ctl->plan);
	view_clear(&ctl->view);
	forget_wakes(ctl);
}

void ctl_sched_clear(struct ctl *ctl)
{
	sd_event_source_disable_unref(ctl->pass);
	sched_end(ctl);
}

/* The policy is as old as its view, which may be as old as the first job. */
static void load_state(struct ctl *ctl, const char *text)
{
	struct event e = { .type = EVENT_TIMER };
	struct error err;

	if (!text)
		return;
	ctl_sched_apply(ctl, &e, true);
	ctl_record_state(ctl, text);
	if (policy_load(ctl->policy, &ctl->view, text, &err) < 0)
		log_warnx("policy=%s error=\"%s\"", ctl->conf->policy,
			  err.text);
}

int ctl_sched_init(struct ctl *ctl, struct error *err)
{
	char *state = ctl->nr_hosts ? ctl_resume(ctl) : NULL;
	int r = sched_begin(ctl, err);

	if (!r)
		load_state(ctl, state);
	free(state);
	if (r < 0)
		return r;
	loop_defer(ctl->event, &ctl->pass, on_pass, ctl);
	return 0;
}

void ctl_sched_anew(struct ctl *ctl)
{
	char *state = ctl->policy ? policy_save(ctl->policy, &ctl->view) : NULL;
	struct error err;

	sched_end(ctl);
	if (sched_begin(ctl, &err) < 0) {
		log_error("policy=%s error=\"%s\"", ctl->conf->policy,
			  err.text);
		abort();
	}
	load_state(ctl, state);
	free(state);
	ctl_sched_soon(ctl);
}

/* ---- what happens ---- */

/* Do they differ in what the driver tells a policy? */
static bool host_differs(const struct host *a, const struct host *b)
{
	return a->speed != b->speed || a->cores != b->cores ||
	       a->slots != b->slots || a->memory != b->memory ||
	       a->memory_free != b->memory_free || a->load != b->load ||
	       a->users != b->users || a->owner_active != b->owner_active ||
	       a->idle_since != b->idle_since || a->up != b->up ||
	       a->drain != b->drain || a->closed != b->closed ||
	       a->leave_by != b->leave_by ||
	       a->freeze_until != b->freeze_until ||
	       a->freeze_most != b->freeze_most;
}

void ctl_sched_host(struct ctl_host *h)
{
	struct host fresh;
	struct event e = { .type = EVENT_HOST, .host = h->ix, .fresh = &fresh };

	host_fill(h, &fresh);
	if (!host_differs(&h->ctl->view.hosts[h->ix], &fresh))
		return;
	apply_and_ask(h->ctl, &e);
}

void ctl_sched_migrated(struct ctl_rank *r)
{
	struct event e = { .type = EVENT_MIGRATE,
			   .job = r->job->model,
			   .rank = r->rank,
			   .host = r->host->ix,
			   .cost = r->downtime };

	if (r->job->model)
		apply_and_ask(r->job->ctl, &e);
}

void ctl_sched_stays(struct ctl_rank *r)
{
	struct event e = { .type = EVENT_MIGRATE,
			   .job = r->job->model,
			   .rank = r->rank,
			   .host = r->host->ix };

	if (r->job->model)
		ctl_sched_apply(r->job->ctl, &e, true);
}

void ctl_sched_frozen(struct ctl_rank *r, bool on, bool told)
{
	rank_frozen(r, on, ctl_now(), told);
	if (told)
		ctl_sched_soon(r->job->ctl);
}

void ctl_sched_timer(struct ctl *ctl)
{
	struct event e = { .type = EVENT_TIMER };

	apply_and_ask(ctl, &e);
}

static void job_leave(struct ctl_job *job, enum event_outcome outcome)
{
	struct event e = { .type = EVENT_END,
			   .job = job->model,
			   .outcome = outcome };

	apply_and_ask(job->ctl, &e);
	view_job_destroy(&job->ctl->view, job->model);
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

	apply_and_ask(job->ctl, &e);
}

void ctl_sched_leave(struct ctl_job *job)
{
	job_leave(job, job->model->state == JOB_WAITING ? END_CANCELLED
							: END_FAILED);
	job->ctl->outside = true;
}

static bool any_up(const struct ctl *ctl)
{
	for (size_t i = 0; i < ctl->nr_hosts; i++)
		if (ctl->hosts[i]->agent)
			return true;
	return false;
}

void ctl_sched_why(struct ctl_job *job, char *buf, size_t n, FILE *numbers)
{
	struct plan plan = PLAN_INIT;

	if (!any_up(job->ctl)) {
		snprintf(buf, n, "no host is up; `stint hosts` shows them");
		return;
	}
	plan_reset(&plan, &job->ctl->view);
	policy_explain(job->ctl->policy, &job->ctl->view, job->model, &plan);
	*buf = 0;
	if (plan.nr)
		because_print(&job->ctl->view, &plan.entry[0].why, buf, n);
	if (plan.nr && numbers)
		because_write_numbers(&job->ctl->view, &plan.entry[0].why,
				      numbers);
	plan_clear(&plan);
}

int ctl_sched_check(const struct ctl_job *job, struct error *err)
{
	const Control__Submit *s = job->spec;
	struct ctl *ctl = job->ctl;
	struct error why;

	if (!ctl->nr_hosts)
		return error_set(
			err, -ENODEV,
			"this cluster has no host yet: make a key for one "
			"with `stint controller --enrol=host/NAME`, "
			"and start `stint agent` there");
	/* No job can be refused before all hosts have told what they have. */
	for (size_t i = 0; i < ctl->nr_hosts; i++)
		if (!ctl->hosts[i]->cores)
			return 0;
	if (!policy_check_size(ctl->policy, &ctl->view, s->ranks,
			       s->min_ranks ? s->min_ranks : s->ranks, &why))
		return 0;
	return error_set(err, -E2BIG, "%s; `stint hosts` lists what there is",
			 why.text);
}

int ctl_sched_fixed(struct ctl_job *job, uint32_t *hosts, struct error *err)
{
	const Control__Submit *s = job->spec;

	/* A misspelt host is an error even if no rank would go there. */
	for (size_t i = 0; i < s->n_hosts; i++)
		if (!ctl_host_find(job->ctl, s->hosts[i]))
			return error_set(err, -ENOENT,
					 "no host %s; `stint hosts` lists them",
					 s->hosts[i]);
	for (uint32_t i = 0; i < job->nr; i++) {
		const char *name = s->hosts[i % s->n_hosts];
		struct ctl_host *h = ctl_host_find(job->ctl, name);

		if (ctl_host_coming(h))
			return error_set(err, -EAGAIN,
					 "the controller has just been "
					 "started, and host %s has not come "
					 "back to it yet",
					 name);
		if (!h->agent)
			return error_set(err, -EHOSTDOWN,
					 "host %s does not answer: is its "
					 "agent running?",
					 name);
		if (ctl_host_admits(h, err) < 0)
			return -EBUSY;
		if (h->drain)
			return error_set(err, -EBUSY,
					 "host %s is being drained; `stint "
					 "undrain %s` ends that",
					 name, name);
		hosts[i] = h->ix;
	}
	return 0;
}
