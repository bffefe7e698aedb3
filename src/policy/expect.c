/* expect.c - when a job that waits would start, see expect.h */
#include "policy/expect.h"

#include <stdlib.h>

#include "core/xalloc.h"
#include "model/place.h"

/* How long a job may run (0: for ever), and when it ends, once it runs. */
struct span {
	usec_t limit, end;
};

struct trial {
	const struct expect *x;
	struct view view;
	struct policy *policy;
	struct plan plan;
	int64_t id;	   /* of the job that is asked about */
	struct span *span; /* by the job's ix */
	size_t nr_spans;
	usec_t wake; /* when the policy asked to be woken */
	usec_t start;
};

static void happen(struct trial *t, struct event *e, bool told)
{
	e->at = t->view.now;
	model_apply(&t->view, e);
	if (told)
		policy_event(t->policy, &t->view, e);
}

/* ---- the copy */

static void tell_talk(struct trial *t, struct job *job,
		      const struct job_ranks *of)
{
	struct event e = { .type = EVENT_TALK,
			   .job = job,
			   .n = of->nr_talks,
			   .talk = of->talk };

	if (of->nr_talks)
		happen(t, &e, true);
}

static struct job *enter(struct trial *t, const struct job *of)
{
	struct job *job = view_job_create(&t->view);
	struct event e = { .type = EVENT_ARRIVE, .job = job };
	uint32_t ix = job->ix;

	*job = *of;
	job->ix = ix;
	job->n = 0;
	job->state = JOB_WAITING;
	job->hosts = NULL;
	job->ranks = &job_no_ranks;
	job->used = job->lost = 0;
	if (ix >= t->nr_spans) {
		t->span = xreallocarray(t->span, ix + 1, sizeof(*t->span));
		t->nr_spans = ix + 1;
	}
	t->span[ix].limit = t->x->limit ? t->x->limit(of) : 0;
	happen(t, &e, true);
	tell_talk(t, job, of->ranks);
	return job;
}

/*
 * Note when a job that runs ends.  now: the instant at which the copy was made, since
 * when it runs on.
 */
static void set_end(struct trial *t, const struct job *job, usec_t now)
{
	struct span *s = &t->span[job->ix];

	s->end = job->est_end;
	if (s->end <= now)
		s->end = now + job_estimate(job, job->n);
	if (s->limit && job->start + s->limit < s->end)
		s->end = job->start + s->limit;
	if (s->end <= now)
		s->end = now + 1;
}

static void enter_running(struct trial *t, const struct job *of, usec_t now)
{
	struct event e = { .type = EVENT_START,
			   .n = of->n,
			   .hosts = of->hosts };

	if (of->start > t->view.now)
		t->view.now = of->start;
	e.job = enter(t, of);
	happen(t, &e, true);
	set_end(t, e.job, now);
}

static int copy(struct trial *t, const struct view *of)
{
	const struct job *first = TAILQ_FIRST(&of->running), *job;
	struct error err;
	int r;

	if (of->nr_hosts)
		view_init_hosts(&t->view, of->hosts, of->nr_hosts);
	else
		view_init(&t->view, of->nr_procs);
	t->view.now = first && first->start < of->now ? first->start : of->now;
	r = policy_create(t->x->spec, t->x->seed, &t->view, &t->policy, &err);
	if (r < 0)
		return r;
	for_each_running(job, of) enter_running(t, job, of->now);
	t->view.now = of->now;
	for_each_waiting(job, of) enter(t, job);
	return t->x->state ? policy_load(t->policy, &t->view, t->x->state, &err)
			   : 0;
}

/* ---- what is to come */

/* The first of the jobs' ends; USEC_MAX: none is known. */
static usec_t next_end(const struct trial *t)
{
	usec_t next = USEC_MAX;
	struct job *job;

	for_each_running(job, &t->view) if (t->span[job->ix].end < next) next =
		t->span[job->ix].end;
	return next;
}

static void end_one(struct trial *t, struct job *job)
{
	struct event e = { .type = EVENT_END, .job = job, .outcome = END_DONE };

	happen(t, &e, true);
	view_job_destroy(&t->view, job);
}

static void end_due(struct trial *t)
{
	struct job *job = TAILQ_FIRST(&t->view.running), *next;

	for (; job; job = next) {
		next = TAILQ_NEXT(job, link);
		if (t->span[job->ix].end <= t->view.now)
			end_one(t, job);
	}
}

/* Advance the copy's time to the next thing that happens; false: nothing will. */
static bool go_on(struct trial *t)
{
	struct event timer = { .type = EVENT_TIMER };
	usec_t end = next_end(t);
	bool wakes = t->wake <= end && t->wake != USEC_MAX;

	if (!wakes && end == USEC_MAX)
		return false;
	t->view.now = wakes ? t->wake : end;
	end_due(t);
	if (wakes) {
		t->wake = USEC_MAX;
		happen(t, &timer, true);
	}
	return true;
}

/* ---- passes */

static void start(struct trial *t, const struct plan_entry *p)
{
	struct event e = { .type = EVENT_START, .job = p->job, .n = p->n };
	uint32_t *hosts = p->hosts;

	if (t->view.nr_hosts && !hosts) {
		hosts = plan_hosts(&t->plan, p->n);
		if (!place_on_cores(&t->view, NULL, p->n, hosts)) {
			e = (struct event){ .type = EVENT_REQUEUE,
					    .job = p->job };
			happen(t, &e, true);
			return;
		}
	}
	e.hosts = hosts;
	happen(t, &e, false);
	set_end(t, p->job, t->view.now);
	if (p->job->id == t->id)
		t->start = t->view.now;
}

static void move(struct trial *t, const struct plan_entry *p)
{
	struct event e = { .type = EVENT_MIGRATE, .job = p->job };

	for (uint32_t i = 0; i < p->n; i++) {
		e.rank = p->ranks[i];
		e.host = p->hosts[i];
		happen(t, &e, true);
	}
}

static void reserve(struct trial *t, const struct plan_entry *p)
{
	struct event e = { .type = p->type == PLAN_RESERVE ? EVENT_RESERVE
							   : EVENT_RELEASE,
			   .host = p->host };

	happen(t, &e, false);
}

/*
 * Carry out what makes or takes room for jobs; other things that a policy plans do
 * neither.
 */
static void carry_out(struct trial *t, const struct plan_entry *p)
{
	switch (p->type) {
	case PLAN_START:
		start(t, p);
		break;
	case PLAN_MIGRATE:
		move(t, p);
		break;
	case PLAN_RESERVE:
	case PLAN_RELEASE:
		reserve(t, p);
		break;
	case PLAN_WAKE:
		if (p->at > t->view.now && p->at < t->wake)
			t->wake = p->at;
		break;
	default:
		break;
	}
}

static void run_pass(struct trial *t)
{
	plan_reset(&t->plan, &t->view);
	policy_decide(t->policy, &t->view, &t->plan);
	for (size_t i = 0; i < t->plan.nr; i++)
		carry_out(t, &t->plan.entry[i]);
}

usec_t policy_expect(const struct expect *x, const struct view *view,
		     const struct job *job)
{
	struct trial t = { .x = x,
			   .plan = PLAN_INIT,
			   .id = job->id,
			   .wake = USEC_MAX,
			   .start = USEC_MAX };
	uint32_t passes = 0;

	if (view->nr_waiting + view->nr_running > x->most ||
	    view->nr_reservations)
		return USEC_MAX;
	if (copy(&t, view) == 0)
		do
			run_pass(&t);
		while (t.start == USEC_MAX && ++passes < x->most && go_on(&t));
	policy_destroy(t.policy);
	plan_clear(&t.plan);
	view_clear(&t.view);
	free(t.span);
	return t.start;
}
