/*
 * controller_sched.c - the controller as a driver of the policy
 *
 * State changes are events to the view (model/event.h); once for all events
 * that came together the policy decides, and its plan is carried out here.
 * See policy/policy.h for the rules between a driver and a policy.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/controller_priv.h"
#include "core/log.h"
#include "core/xalloc.h"

enum {
	SLOTS_A_CORE = 4, /* ranks a host may hold, for each core */
	SLOTS_LEAST = 16,
};

/* After a move it wanted failed, the policy's wish counts again. */
#define MOVE_PAUSE (10 * USEC_PER_SEC)

static int on_pass(sd_event_source *src, void *arg);

/* Apply an event and tell the policy. */
static void happened(struct ctl *ctl, struct event *e)
{
	usec_t now = ctl_now();

	e->at = now > ctl->view.now ? now : ctl->view.now;
	model_apply(&ctl->view, e);
	policy_event(ctl->policy, &ctl->view, e);
	ctl_sched_soon(ctl);
}

/* Apply what the policy planned itself, or knows otherwise. */
static void applied(struct ctl *ctl, struct event *e)
{
	usec_t now = ctl_now();

	e->at = now > ctl->view.now ? now : ctl->view.now;
	model_apply(&ctl->view, e);
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
	unsigned slots = h->cores * SLOTS_A_CORE;

	*ret = (struct host){
		.ix = h->ix,
		.name = h->name,
		.speed = h->score > 0 ? best / h->score : 1,
		.cores = h->cores ? h->cores : 1,
		.slots = slots > SLOTS_LEAST ? slots : SLOTS_LEAST,
		.memory = h->memory,
		.memory_free = r->memory_free,
		.load = r->load,
		.users = r->users,
		.idle_since = r->users ? ctl_now() - (usec_t)r->idle_usec : 0,
		.up = h->agent,
		.drain = h->drain,
	};
}

/* A view of the hosts and jobs there are, and a policy that knows them. */
static int sched_build(struct ctl *ctl, struct error *err)
{
	struct host *hosts = xcalloc(ctl->nr_hosts + 1, sizeof(*hosts));
	int r;

	for (size_t i = 0; i < ctl->nr_hosts; i++)
		host_fill(ctl->hosts[i], &hosts[i]);
	view_init_hosts(&ctl->view, hosts, ctl->nr_hosts);
	free(hosts);
	ctl->view.now = ctl_now();
	r = policy_create(ctl->conf->policy, 1, &ctl->view, &ctl->policy, err);
	if (r < 0)
		view_clear(&ctl->view);
	return r;
}

int ctl_sched_init(struct ctl *ctl, struct error *err)
{
	int r = sched_build(ctl, err);

	if (r < 0)
		return r;
	sd_event_add_defer(ctl->event, &ctl->pass, on_pass, ctl);
	return 0;
}

void ctl_sched_clear(struct ctl *ctl)
{
	if (!ctl->policy)
		return;
	sd_event_source_disable_unref(ctl->pass);
	policy_destroy(ctl->policy);
	plan_clear(&ctl->plan);
	view_clear(&ctl->view);
}

void ctl_sched_soon(struct ctl *ctl)
{
	sd_event_source_set_enabled(ctl->pass, SD_EVENT_ONESHOT);
}

/* The model's side of a job, from what the controller knows. */
static void job_enter(struct ctl_job *job)
{
	struct ctl *ctl = job->ctl;
	struct job *m = view_job_create(&ctl->view);
	struct event e = { .type = EVENT_ARRIVE, .job = m };

	m->id = job->id;
	m->size = m->min_size = job->nr;
	m->kind = JOB_RIGID;
	m->submit = job->submit;
	m->user = job->spec->uid;
	m->driver = job;
	job->model = m;
	happened(ctl, &e);
}

static void job_place(struct ctl_job *job, const uint32_t *hosts)
{
	struct event e = { .type = EVENT_START,
			   .job = job->model,
			   .n = job->nr,
			   .hosts = hosts };

	applied(job->ctl, &e);
}

void ctl_sched_arrive(struct ctl_job *job)
{
	job_enter(job);
}

/* A start that the policy did not plan: fixed hosts, or found running. */
void ctl_sched_start(struct ctl_job *job, const uint32_t *hosts)
{
	struct event e = { .type = EVENT_START,
			   .job = job->model,
			   .n = job->nr,
			   .hosts = hosts };

	happened(job->ctl, &e);
}

void ctl_sched_rejoin(struct ctl_job *job)
{
	uint32_t *hosts = xcalloc(job->nr, sizeof(*hosts));

	job_enter(job);
	for (uint32_t i = 0; i < job->nr; i++)
		hosts[i] = job->ranks[i].host ? job->ranks[i].host->ix : 0;
	if (job->state != STATE(WAITING))
		ctl_sched_start(job, hosts);
	free(hosts);
}

void ctl_sched_host_added(struct ctl *ctl)
{
	struct ctl_job *job;
	struct error err;

	policy_destroy(ctl->policy);
	plan_clear(&ctl->plan);
	view_clear(&ctl->view);
	ctl->plan = (struct plan)PLAN_INIT;
	if (sched_build(ctl, &err) < 0) {
		log_error("policy=%s error=\"%s\"", ctl->conf->policy,
			  err.text);
		abort();
	}
	TAILQ_FOREACH (job, &ctl->jobs, link)
		if (job->model)
			ctl_sched_rejoin(job);
}

void ctl_sched_host(struct ctl_host *h)
{
	struct host fresh;
	struct event e = { .type = EVENT_HOST, .host = h->ix, .fresh = &fresh };

	host_fill(h, &fresh);
	happened(h->ctl, &e);
}

void ctl_sched_migrated(struct ctl_rank *r)
{
	struct event e = { .type = EVENT_MIGRATE,
			   .job = r->job->model,
			   .rank = r->rank,
			   .host = r->host->ix,
			   .cost = r->downtime };

	if (r->job->model)
		happened(r->job->ctl, &e);
}

void ctl_sched_end(struct ctl_job *job)
{
	struct event e = { .type = EVENT_END,
			   .job = job->model,
			   .outcome = job->exit ? END_FAILED : END_DONE };

	if (!job->model)
		return;
	happened(job->ctl, &e);
	view_job_destroy(&job->ctl->view, job->model);
	job->model = NULL;
}

/* ---- carrying out a plan ---- */

static void log_entry(const struct plan_entry *e)
{
	char line[256];

	plan_print(e, line, sizeof(line));
	log_info("plan=\"%s\"", line);
}

static void do_start(struct ctl *ctl, const struct plan_entry *e)
{
	struct ctl_job *job = e->job->driver;

	log_entry(e);
	job_place(job, e->hosts);
	ctl_job_start(job, e->hosts);
}

static void do_migrate(struct ctl *ctl, const struct plan_entry *e)
{
	struct ctl_job *job = e->job->driver;
	struct ctl_rank *r = &job->ranks[e->rank];
	struct error err;

	if (r->move || r->state != STATE(RUNNING) ||
	    ctl_now() < r->no_move_before)
		return;
	log_entry(e);
	if (ctl_move_begin(r, ctl->hosts[e->host], 0, NULL, 0, &err) < 0) {
		log_warnx("job=%llu rank=%u move=refused why=\"%s\"",
			  (unsigned long long)job->id, r->rank, err.text);
		r->no_move_before = ctl_now() + MOVE_PAUSE;
		ctl_host_check_drained(r->host, err.text);
	} else {
		r->move->policy = true;
	}
}

/* A host from which somebody waits to see all leave, and no plan helps. */
static void check_stuck(struct ctl *ctl)
{
	for (size_t i = 0; i < ctl->nr_hosts; i++) {
		struct ctl_host *h = ctl->hosts[i];
		struct ctl_move *m;
		bool moving = false;

		TAILQ_FOREACH (m, &ctl->moves, link)
			moving |= m->from == h || m->to == h;
		for (size_t j = 0; j < ctl->plan.nr; j++) {
			const struct plan_entry *e = &ctl->plan.entry[j];

			moving |= e->type == PLAN_MIGRATE &&
				  e->job->hosts[e->rank] == h->ix;
		}
		if (h->drainer && !moving)
			ctl_host_check_drained(
				h, "no other host has room for its ranks");
	}
}

static int on_pass(sd_event_source *src, void *arg)
{
	struct ctl *ctl = arg;
	usec_t now = ctl_now();

	if (now > ctl->view.now)
		ctl->view.now = now;
	plan_reset(&ctl->plan, &ctl->view);
	policy_decide(ctl->policy, &ctl->view, &ctl->plan);
	for (size_t i = 0; i < ctl->plan.nr; i++) {
		const struct plan_entry *e = &ctl->plan.entry[i];

		if (e->type == PLAN_START && e->hosts)
			do_start(ctl, e);
		else if (e->type == PLAN_MIGRATE)
			do_migrate(ctl, e);
	}
	check_stuck(ctl);
	return 0;
}

void ctl_sched_why(struct ctl_job *job, char *buf, size_t n)
{
	struct plan plan = PLAN_INIT;

	plan_reset(&plan, &job->ctl->view);
	policy_explain(job->ctl->policy, &job->ctl->view, job->model, &plan);
	if (plan.nr)
		reason_print(plan.entry[0].why, plan.entry[0].arg, buf, n);
	else if (n)
		*buf = 0;
	plan_clear(&plan);
}

int ctl_sched_fixed(struct ctl_job *job, uint32_t *hosts, struct error *err)
{
	const Control__Submit *s = job->spec;

	for (uint32_t i = 0; i < job->nr; i++) {
		const char *name = s->hosts[i % s->n_hosts];
		struct ctl_host *h = ctl_host_find(job->ctl, name);

		if (!h)
			return error_set(err, -ENOENT,
					 "no host %s; `stint hosts` lists them",
					 name);
		if (!h->agent)
			return error_set(err, -EHOSTDOWN,
					 "host %s does not answer: is its "
					 "agent running?",
					 name);
		if (h->drain)
			return error_set(err, -EBUSY,
					 "host %s is being drained; `stint "
					 "drain %s --undo` ends that",
					 name, name);
		hosts[i] = h->ix;
	}
	return 0;
}
