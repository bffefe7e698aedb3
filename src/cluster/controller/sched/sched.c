/*
 * sched.c - the controller as a driver of the policy
 *
 * State changes are events to the view (model/event.h). The policy decides once for all
 * events that came together, and plan/plan.c carries its plan out.  See
 * policy/kit/policy.h for the rules between a driver and a policy.
 */
#include <stdlib.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/sched/priv.h"
#include "cluster/controller/state/after.h"
#include "cluster/controller/state/array.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "core/log.h"
#include "core/xalloc.h"

static int on_pass(sd_event_source *src, void *arg)
{
	struct ctl *ctl = arg;

	if (!ctl->sched->policy)
		return 0;
	ctl->happen->pass_due(ctl);
	if (ctl_record_full(ctl))
		ctl_sched_anew(ctl);
	ctl_record_flush(ctl);
	return 0;
}

/* ---- the view and the policy, made anew ---- */

static int sched_build(struct ctl *ctl, usec_t at, struct error *err)
{
	struct host *hosts = xcalloc(ctl->hosts.nr + 1, sizeof(*hosts));
	struct ctl_sched *s = ctl->sched;
	int r;

	for (size_t i = 0; i < ctl->hosts.nr; i++)
		sched_host_fill(ctl->hosts.at[i], &hosts[i]);
	view_init_hosts(&s->view, hosts, ctl->hosts.nr);
	free(hosts);
	s->view.now = at;
	r = policy_create(ctl->conf->policy, CTL_SEED, &s->view, &s->policy,
			  err);
	if (r < 0)
		view_clear(&s->view);
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

/* Collect the jobs that have started and are not over, in the order of their starts. */
static size_t started_jobs(struct ctl *ctl, struct ctl_job ***ret)
{
	struct ctl_job *job, **list = NULL;
	size_t nr = 0, cap = 0;

	TAILQ_FOREACH (job, &ctl->jobs.list, link) {
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
	sched_job_enter(job, job->start);
	sched_job_start(job, job->start, hosts);
	free(hosts);
}

/*
 * Once all jobs are in the view, mark the ranks that stand still as frozen, and tell what
 * was seen of those that moved.
 */
static void refreeze(struct ctl_job *job)
{
	for (uint32_t i = 0; i < job->nr; i++) {
		struct ctl_rank *r = &job->ranks[i];

		if (r->frozen_since)
			sched_rank_frozen(r, true, r->frozen_since, true);
		if (rank_is_seen(&r->seen) && r->host)
			sched_rank_seen(r, job->start);
	}
}

/*
 * Check the policy's settings, with one made-up host in place of those that will
 * connect.
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

/*
 * Enter running jobs at the times at which they started, so that their ends are
 * expected at the same times as before; then waiting jobs.
 */
static int sched_begin(struct ctl *ctl, struct error *err)
{
	usec_t now = ctl_now();
	struct ctl_job *job, **started;
	size_t nr;
	int r;

	if (!ctl->hosts.nr)
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
	TAILQ_FOREACH (job, &ctl->jobs.list, link) {
		if (job->state != STATE(WAITING))
			continue;
		if (ctl_job_is_kept(job) || !ctl_array_admits(job) ||
		    job->spec->n_hosts)
			ctl_job_is_outside(job);
		else
			sched_job_enter(job, now);
	}
	ctl->sched->record.entered = ctl->sched->record.nr;
	return 0;
}

static void sched_end(struct ctl *ctl)
{
	struct ctl_sched *s = ctl->sched;

	if (!s->policy)
		return;
	policy_destroy(s->policy);
	s->policy = NULL;
	plan_clear(&s->plan);
	view_clear(&s->view);
	sched_forget_wakes(ctl);
}

void ctl_sched_destroy(struct ctl *ctl)
{
	if (!ctl->sched)
		return;
	sd_event_source_disable_unref(ctl->sched->pass);
	sched_end(ctl);
	ctl_record_close(ctl);
	free(ctl->sched);
}

/* The policy's time is the view's, which may begin with the first job's start. */
static void load_state(struct ctl *ctl, const char *text)
{
	struct event e = { .type = EVENT_TIMER };
	struct error err;

	if (!text)
		return;
	ctl_sched_apply(ctl, &e, true);
	ctl_record_state(ctl, text);
	if (policy_load(ctl->sched->policy, &ctl->sched->view, text, &err) < 0)
		log_warnx("policy=%s error=\"%s\"", ctl->conf->policy,
			  err.text);
}

int ctl_sched_create(struct ctl *ctl, struct error *err)
{
	char *state = ctl->hosts.nr ? ctl_resume(ctl) : NULL;
	int r;

	ctl->sched = xcalloc(1, sizeof(*ctl->sched));
	r = sched_begin(ctl, err);
	if (!r)
		load_state(ctl, state);
	free(state);
	if (r < 0)
		return r;
	loop_defer(ctl->event, &ctl->sched->pass, on_pass, ctl);
	return 0;
}

void ctl_sched_anew(struct ctl *ctl)
{
	const struct ctl_sched *s = ctl->sched;
	char *state = s->policy ? policy_save(s->policy, &s->view) : NULL;
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

const struct view *ctl_sched_view(const struct ctl *ctl)
{
	return &ctl->sched->view;
}

struct plan *ctl_sched_decide(struct ctl *ctl, usec_t now)
{
	struct ctl_sched *s = ctl->sched;

	if (now > s->view.now)
		s->view.now = now;
	plan_reset(&s->plan, &s->view);
	policy_decide(s->policy, &s->view, &s->plan);
	ctl_record_pass(ctl);
	return &s->plan;
}
