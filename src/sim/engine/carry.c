/*
 * carry.c - carrying a plan out in the simulated world
 *
 * Everything a plan asks for happens at once, at its price in standstill.
 * What cannot be is a bug of the policy, and ends the run with its name.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "model/place.h"
#include "sim/engine/engine.h"
#include "sim/engine/moves.h"

static int refuse_entry(const struct engine *g, const struct plan_entry *e,
			const char *why, struct error *err)
{
	char text[200];

	plan_print(&g->view, e, text, sizeof(text));
	return error_set(err, -EPROTO,
			 "policy '%s' at %.6f s: %s, but %s; this is a bug of "
			 "the policy",
			 g->policy->ops->name, usec_to_seconds(g->view.now),
			 text, why);
}

static struct sim_record *record_of(struct engine *g, const struct job *job)
{
	return &g->result.record[g->truth[job->ix].record];
}

/* How many of a's n places are not among b's: ranks that have to move. */
static uint32_t moved_ranks(const uint32_t *a, const uint32_t *b, uint32_t n)
{
	uint32_t moved = 0;

	for (uint32_t i = 0; a && b && i < n; i++)
		moved += a[i] != b[i];
	return moved;
}

static usec_t migration(struct engine *g, struct job *job, uint32_t ranks)
{
	if (!ranks)
		return 0;
	engine_count_moves(g, job, ranks);
	return g->config->costs.migrate +
	       (usec_t)ranks * (g->config->costs.migrate_rank +
				engine_memory_transfer(g, job));
}

/* Hosts for an entry that leaves the choice to us. */
static const uint32_t *choose_hosts(struct engine *g,
				    const struct plan_entry *e, uint32_t *buf)
{
	const struct job *job = e->type == PLAN_RESIZE ? e->job : NULL;

	return place_on_cores(&g->view, job, e->n, buf) ? buf : NULL;
}

static void tell_pairs(struct engine *g, struct job *job)
{
	const struct truth *t = &g->truth[job->ix];
	struct job_talk *talk = xcalloc(job->n / 2 + 1, sizeof(*talk));
	struct event e = { .type = EVENT_TALK,
			   .at = g->view.now,
			   .job = job,
			   .n = job->n / 2,
			   .talk = talk };

	for (uint32_t i = 0; i < e.n; i++)
		talk[i] = (struct job_talk){ 2 * i, 2 * i + 1, t->pair_bytes,
					     t->pair_segments };
	engine_event(g, &e, true);
	free(talk);
}

static int start_job(struct engine *g, const struct plan_entry *e,
		     struct error *err)
{
	struct job *job = e->job;
	struct truth *t = &g->truth[job->ix];
	struct sim_record *r = record_of(g, job);
	struct event event = { .type = EVENT_START,
			       .at = g->view.now,
			       .job = job,
			       .n = e->n,
			       .hosts = e->hosts };
	usec_t estimate;

	if (job->state != JOB_WAITING)
		return refuse_entry(g, e, "that job does not wait", err);
	if (e->n < job->min_size || e->n > job->size || !e->n)
		return refuse_entry(g, e, "it cannot run on that many", err);
	if (g->result.split) /* it has done nothing but wait */
		engine_advance(g, job);
	engine_event(g, &event, false);
	if (t->pair_bytes > 0 || t->pair_segments > 0)
		tell_pairs(g, job);
	t->left = speedup_scale(&job->speedup, r->run, job->size, e->n);
	estimate = job_estimate(job, e->n);
	t->killed =
		g->config->kill_at_estimate && estimate && estimate < t->left;
	if (t->killed)
		t->left = estimate;
	t->since = t->stall = g->view.now;
	if (r->start < 0)
		r->start = g->view.now;
	g->running_demand += job->size;
	g->result.starts_of_ranks += e->n;
	for_each_part (p, g)
		if ((*p)->start)
			engine_stall(g, job, (*p)->start(g, job));
	engine_pace(g, job);
	return 0;
}

static int resize(struct engine *g, const struct plan_entry *e,
		  struct error *err)
{
	struct job *job = e->job;
	struct truth *t = &g->truth[job->ix];
	struct event event = { .type = EVENT_RESIZE,
			       .at = g->view.now,
			       .job = job,
			       .n = e->n,
			       .hosts = e->hosts };
	uint32_t had = job->n;

	if (job->state != JOB_RUNNING)
		return refuse_entry(g, e, "that job does not run", err);
	if (e->n != had && job->kind != JOB_MALLEABLE)
		return refuse_entry(g, e, "that job's size is fixed", err);
	if (e->n < job->min_size || e->n > job->size || !e->n)
		return refuse_entry(g, e, "it cannot run on that many", err);
	engine_advance(g, job);
	if (e->n == had) {
		event.cost = migration(g, job,
				       moved_ranks(job->hosts, e->hosts, had));
	} else {
		event.cost = g->config->costs.resize;
		if (record_of(g, job)->resizes < UINT16_MAX)
			record_of(g, job)->resizes++;
	}
	t->left = speedup_scale(&job->speedup, t->left, had, e->n);
	engine_event(g, &event, false);
	engine_stall(g, job, event.cost);
	engine_pace(g, job);
	return 0;
}

/*
 * The ranks of one job that move at one instant move together: the first of
 * its entries pays for the whole.
 */
static int migrate(struct engine *g, const struct plan_entry *e,
		   struct error *err)
{
	struct job *job = e->job;
	struct event event = { .type = EVENT_MIGRATE,
			       .at = g->view.now,
			       .job = job };
	bool first = true;

	if (job->state == JOB_WAITING || !job->hosts)
		return refuse_entry(g, e, "there is no such rank", err);
	for (const struct plan_entry *p = g->plan.entry; p < e && first; p++)
		first = p->type != PLAN_MIGRATE || p->job != job;
	engine_advance(g, job);
	for (uint32_t i = 0; i < e->n; i++) {
		event.rank = e->ranks[i];
		event.host = e->hosts[i];
		if (event.rank >= job->n || event.host >= g->view.nr_hosts)
			return refuse_entry(
				g, e, "there is no such rank or host", err);
		if (g->moves) {
			moves_begin(g, job, event.rank, event.host);
			continue;
		}
		event.cost = migration(g, job, 1);
		if (!first)
			event.cost -= g->config->costs.migrate;
		first = false;
		engine_event(g, &event, e->told);
		engine_stall(g, job, event.cost);
	}
	engine_pace(g, job);
	return 0;
}

static int freeze(struct engine *g, const struct plan_entry *e,
		  struct error *err)
{
	struct job *job = e->job;
	bool thaw = e->type == PLAN_THAW;
	struct event event = { .type = thaw ? EVENT_THAW : EVENT_FREEZE,
			       .at = g->view.now,
			       .job = job,
			       .rank = e->rank };

	if (job->state == JOB_WAITING || e->rank >= job->n ||
	    job_rank_frozen(job, e->rank) != thaw)
		return refuse_entry(g, e, "that rank does not wait for it",
				    err);
	if (g->moves && moves_under_way(g->moves, job, e->rank))
		return 0; /* it leaves */
	engine_advance(g, job);
	engine_event(g, &event, e->told);
	engine_pace(g, job);
	return 0;
}

static int requeue(struct engine *g, const struct plan_entry *e,
		   struct error *err)
{
	if (e->job->state == JOB_WAITING || !e->job->requeue)
		return refuse_entry(
			g, e, "that job waits, or may not be requeued", err);
	engine_requeue(g, e->job);
	return 0;
}

static int suspend(struct engine *g, const struct plan_entry *e,
		   struct error *err)
{
	struct job *job = e->job;
	struct truth *t = &g->truth[job->ix];
	struct event event = { .type = EVENT_SUSPEND,
			       .at = g->view.now,
			       .job = job };

	if (job->state != JOB_RUNNING)
		return refuse_entry(g, e, "that job does not run", err);
	engine_advance(g, job);
	engine_event(g, &event, false);
	g->running_demand -= job->size;
	/* What is left of a standstill is still to be stood. */
	if (!g->config->costs.aside) {
		if (t->stall > g->view.now)
			t->left += t->stall - g->view.now;
		t->stall = 0;
	}
	engine_pace(g, job);
	return 0;
}

static int resume(struct engine *g, const struct plan_entry *e,
		  struct error *err)
{
	struct job *job = e->job;
	struct event event = { .type = EVENT_RESUME,
			       .at = g->view.now,
			       .job = job,
			       .n = job->n,
			       .hosts = e->hosts };

	if (job->state != JOB_SUSPENDED)
		return refuse_entry(g, e, "that job is not suspended", err);
	event.cost =
		migration(g, job, moved_ranks(job->hosts, e->hosts, job->n));
	engine_advance(g, job);
	engine_event(g, &event, false);
	g->running_demand += job->size;
	engine_stall(g, job, event.cost);
	engine_pace(g, job);
	return 0;
}

static int reserve_or_release(struct engine *g, const struct plan_entry *e,
			      struct error *err)
{
	struct event event = { .type = e->type == PLAN_RESERVE ? EVENT_RESERVE
							       : EVENT_RELEASE,
			       .at = g->view.now,
			       .host = e->host };

	if (e->host >= g->view.nr_hosts)
		return refuse_entry(g, e, "there is no such host", err);
	engine_event(g, &event, false);
	return 0;
}

static int carry_one(struct engine *g, struct plan_entry *e, struct error *err)
{
	uint32_t *buf;

	if (g->view.nr_hosts && !e->hosts &&
	    (e->type == PLAN_START || e->type == PLAN_RESIZE)) {
		buf = plan_hosts(&g->plan, e->n);
		e->hosts = (uint32_t *)choose_hosts(g, e, buf);
		if (!e->hosts)
			return refuse_entry(g, e, "no hosts have room for it",
					    err);
	}
	switch (e->type) {
	case PLAN_START:
		return start_job(g, e, err);
	case PLAN_RESIZE:
		return resize(g, e, err);
	case PLAN_MIGRATE:
		return migrate(g, e, err);
	case PLAN_SUSPEND:
		return suspend(g, e, err);
	case PLAN_RESUME:
		return resume(g, e, err);
	case PLAN_FREEZE:
	case PLAN_THAW:
		return freeze(g, e, err);
	case PLAN_REQUEUE:
		return requeue(g, e, err);
	case PLAN_RESERVE:
	case PLAN_RELEASE:
		return reserve_or_release(g, e, err);
	case PLAN_WAKE:
		engine_wake(g, e->at);
		break;
	case PLAN_DEFER:
		break;
	}
	return 0;
}

/*
 * A policy that counts processors has made room for a reservation, but which
 * processors are free then is chance: ranks on held cores move to free ones.
 */
static void clear_held(struct engine *g)
{
	struct event e = { .type = EVENT_MIGRATE, .at = g->view.now };

	TAILQ_FOREACH (e.job, &g->view.running, link)
		for (e.rank = 0; e.rank < e.job->n; e.rank++) {
			const struct host *h =
				&g->view.hosts[e.job->hosts[e.rank]];

			if (!h->booked ||
			    h->cores - h->booked >= h->nr_active ||
			    !place_on_cores(&g->view, NULL, 1, &e.host))
				continue;
			engine_advance(g, e.job);
			e.cost = migration(g, e.job, 1);
			engine_event(g, &e, false);
			engine_stall(g, e.job, e.cost);
			engine_pace(g, e.job);
		}
}

int engine_carry_out(struct engine *g, struct error *err)
{
	for (size_t i = 0; i < g->plan.nr; i++) {
		int r = carry_one(g, &g->plan.entry[i], err);

		if (r)
			return r;
	}
	if (g->view.nr_free < 0 && !g->view.nr_hosts && g->plan.nr &&
	    g->plan.free < 0)
		return refuse_entry(g, &g->plan.entry[g->plan.nr - 1],
				    "there are not so many free processors",
				    err);
	if (g->moved) {
		g->result.migration_events++;
		g->moved = false;
	}
	if (g->nr_holdings && !(g->policy->ops->flags & POLICY_HOSTS))
		clear_held(g);
	if (g->plan.nr)
		engine_pace_all(g);
	return 0;
}
