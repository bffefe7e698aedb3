/* test_world.c - see test_world.h */
#include "policy/hosts/test_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

void world_fails(const struct world *w, const char *what, const struct job *j)
{
	fail_msg("%s, state %u at %d s: %s: job %d", w->spec, (unsigned)w->seed,
		 (int)(w->view.now / USEC_PER_SEC), what, (int)j->id);
}

void world_begin(struct world *w, const char *spec, uint64_t seed,
		 uint64_t users)
{
	static const char *const names[HOSTS] = {
		"a", "b", "c", "d", "e", "f"
	};
	struct host hosts[HOSTS];
	struct random_stream r;
	struct error err;

	memset(w, 0, sizeof(*w));
	w->spec = spec;
	w->seed = seed;
	random_init(&r, seed, "home", 0);
	for (int i = 0; i < HOSTS; i++) {
		int32_t owner = (int32_t)random_below(&r, users);

		hosts[i] = (struct host){ .name = names[i],
					  .speed = 1,
					  .cores = 1,
					  .slots = 1 + JOBS,
					  .up = true };
		host_set_owners(&hosts[i], &owner,
				users == 1 || random_below(&r, 4));
	}
	for (int i = 0; i < JOBS; i++) {
		w->size[i] = 1 + (uint32_t)random_below(&r, HOSTS);
		w->user[i] = (int32_t)random_below(&r, users);
	}
	view_init_hosts(&w->view, hosts, HOSTS);
	assert_int_equal(policy_create(spec, 1, &w->view, &w->policy, &err), 0);
}

void world_end(struct world *w)
{
	policy_destroy(w->policy);
	plan_clear(&w->plan);
	view_clear(&w->view);
}

void world_tell(struct world *w, struct event *e)
{
	e->at = w->view.now;
	model_apply(&w->view, e);
	policy_event(w->policy, &w->view, e);
}

void world_arrive(struct world *w, int i)
{
	struct job *j = view_job_create(&w->view);

	j->id = i + 1;
	j->submit = w->view.now;
	j->user = w->user[i];
	j->size = j->min_size = w->size[i];
	j->kind = JOB_RIGID;
	w->job[i] = j;
	world_tell(w, &(struct event){ .type = EVENT_ARRIVE, .job = j });
}

void world_end_job(struct world *w, int i)
{
	world_tell(w, &(struct event){ .type = EVENT_END, .job = w->job[i] });
	view_job_destroy(&w->view, w->job[i]);
	w->job[i] = NULL;
}

void world_change_host(struct world *w, uint32_t h, uint64_t to)
{
	struct host fresh = w->view.hosts[h];

	fresh.owner_active = to == 1;
	fresh.closed = to == 1 ? CLOSED_OWNER : to == 2 ? CLOSED_QUIET : 0;
	world_tell(w, &(struct event){
			      .type = EVENT_HOST, .host = h, .fresh = &fresh });
}

/* ---- passes ---- */

static void check_places(const struct world *w, const struct plan_entry *e)
{
	for (uint32_t i = 0; e->hosts && i < e->n; i++) {
		bool stays = e->job->hosts && e->type != PLAN_MIGRATE &&
			     e->job->hosts[i] == e->hosts[i];

		if (!stays && !host_takes(&w->view.hosts[e->hosts[i]], e->job))
			world_fails(w, "to a host that does not take it",
				    e->job);
	}
}

static void carry_out(struct world *w, const struct plan_entry *e)
{
	struct event event = {
		.at = w->view.now, .job = e->job, .n = e->n, .hosts = e->hosts
	};

	check_places(w, e);
	switch (e->type) {
	case PLAN_START:
		event.type = EVENT_START;
		break;
	case PLAN_SUSPEND:
		event.type = EVENT_SUSPEND;
		break;
	case PLAN_RESUME:
		event.type = EVENT_RESUME;
		break;
	case PLAN_MIGRATE:
		for (uint32_t k = 0; k < e->n; k++)
			world_tell(w, &(struct event){ .type = EVENT_MIGRATE,
						       .job = e->job,
						       .rank = e->ranks[k],
						       .host = e->hosts[k] });
		return;
	default:
		return;
	}
	model_apply(&w->view, &event);
}

bool world_evicts(const struct world *w, const struct job *j)
{
	for (uint32_t i = 0; i < j->n; i++)
		if (host_evicts(&w->view.hosts[j->hosts[i]], j))
			return true;
	return false;
}

static void check_running(const struct world *w)
{
	int64_t on[HOSTS] = { 0 };
	const struct job *j;
	const struct host *h;

	for_each_host (h, &w->view)
		if (h->nr_ranks > h->slots)
			fail_msg("%s, state %u: more ranks than slots", w->spec,
				 (unsigned)w->seed);
	for_each_running(j, &w->view)
	{
		if (j->state != JOB_RUNNING)
			continue;
		if (world_evicts(w, j))
			world_fails(w, "in an owner's way", j);
		for (uint32_t i = 0; i < j->n; i++) {
			if (on[j->hosts[i]])
				world_fails(w, "two jobs on a host", j);
			on[j->hosts[i]] = j->id;
		}
	}
}

void world_carry_out(struct world *w)
{
	for (size_t i = 0; i < w->plan.nr; i++)
		carry_out(w, &w->plan.entry[i]);
	check_running(w);
}

void world_pass(struct world *w)
{
	plan_reset(&w->plan, &w->view);
	policy_decide(w->policy, &w->view, &w->plan);
	world_carry_out(w);
}

void world_jobs_change(struct world *w, struct random_stream *r)
{
	int i = (int)random_below(r, JOBS);

	if (w->job[i])
		world_end_job(w, i);
	else
		world_arrive(w, i);
	world_pass(w);
}
