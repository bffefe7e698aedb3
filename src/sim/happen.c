/*
 * happen.c - what the event file says, as it comes to pass
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "sim/engine.h"
#include "sim/script.h"

static usec_t time_of(const struct engine *g, const struct script_event *e)
{
	return g->config->script->relative ? g->result.begin + e->at : e->at;
}

usec_t engine_next_happening(const struct engine *g)
{
	const struct sim_script *s = g->config->script;
	usec_t t;

	if (!s || g->happened == s->nr)
		return USEC_MAX;
	t = time_of(g, &s->event[g->happened]);
	return t > g->view.now ? t : g->view.now;
}

static void set_host(struct engine *g, uint32_t host, bool up, bool drain)
{
	struct host fresh = g->view.hosts[host];
	struct event e = { .type = EVENT_HOST,
			   .at = g->view.now,
			   .host = host,
			   .fresh = &fresh };

	if (fresh.up == up && fresh.drain == drain)
		return;
	fresh.up = up;
	fresh.drain = drain;
	engine_event(g, &e, true);
}

static bool is_on(const struct job *job, uint32_t host)
{
	for (uint32_t i = 0; i < job->n; i++)
		if (job->hosts[i] == host)
			return true;
	return false;
}

/* The jobs on a host that failed wait again, and begin anew. */
static void lose_jobs(struct engine *g, uint32_t host)
{
	struct job *job = TAILQ_FIRST(&g->view.running), *next;

	for (; job; job = next) {
		struct event e = { .type = EVENT_REQUEUE,
				   .at = g->view.now,
				   .job = job };

		next = TAILQ_NEXT(job, link);
		if (!is_on(job, host))
			continue;
		if (job->state == JOB_RUNNING)
			g->running_demand -= job->size;
		heap_remove(&g->ends, job->ix);
		engine_event(g, &e, true);
		g->result.restarts++;
	}
}

static void cancel(struct engine *g, int64_t id)
{
	struct event e = { .type = EVENT_END,
			   .at = g->view.now,
			   .job = view_find_job(&g->view, id),
			   .outcome = END_CANCELLED };

	if (e.job)
		engine_finish(g, &e);
}

static void tell_booked(struct engine *g)
{
	struct event e = { .type = EVENT_BOOKED, .at = g->view.now };

	g->view.reservations = g->booked;
	g->view.nr_reservations = (uint32_t)g->nr_booked;
	engine_event(g, &e, true);
}

static void reserve(struct engine *g, const struct script_event *s)
{
	size_t i;

	array_room(g->booked, g->nr_booked, &g->cap_booked);
	for (i = g->nr_booked; i > 0 && g->booked[i - 1].from > s->from; i--)
		g->booked[i] = g->booked[i - 1];
	g->booked[i] =
		(struct reservation){ s->target, s->from, s->to, s->procs };
	g->nr_booked++;
	tell_booked(g);
}

static void forget_booking(struct engine *g, int64_t id)
{
	size_t n = 0;

	for (size_t i = 0; i < g->nr_booked; i++)
		if (g->booked[i].id != id)
			g->booked[n++] = g->booked[i];
	g->nr_booked = n;
	tell_booked(g);
}

/* The usable host with the fewest ranks; NULL if there is none. */
static const struct host *idlest(const struct view *view)
{
	const struct host *h, *best = NULL;

	for_each_host (h, view)
		if (host_usable(h) && (!best || h->nr_ranks < best->nr_ranks))
			best = h;
	return best;
}

/* A reservation begins: from now on it is hosts that are drained. */
static void book(struct engine *g, const struct script_event *s)
{
	const struct host *h;

	for (uint32_t i = 0; i < s->procs && (h = idlest(&g->view)); i++) {
		g->booked_by[h->ix] = s->target + 1;
		set_host(g, h->ix, true, true);
	}
	forget_booking(g, s->target);
}

static void unbook(struct engine *g, const struct script_event *s)
{
	for (uint32_t i = 0; i < g->view.nr_hosts; i++) {
		if (g->booked_by[i] != s->target + 1)
			continue;
		g->booked_by[i] = 0;
		set_host(g, i, g->view.hosts[i].up, false);
	}
}

static void report_host(struct engine *g, const struct script_event *s)
{
	struct event e = { .type = EVENT_HOST,
			   .at = g->view.now,
			   .host = (uint32_t)s->target,
			   .fresh = s->fresh };

	engine_event(g, &e, true);
}

static void happen_to_host(struct engine *g, const struct script_event *s)
{
	uint32_t host = (uint32_t)s->target;
	const struct host *h;

	if (host >= g->view.nr_hosts) /* a trace of a larger machine */
		return;
	h = &g->view.hosts[host];
	switch (s->type) {
	case SCRIPT_UP:
		set_host(g, host, true, h->drain);
		break;
	case SCRIPT_DOWN:
		lose_jobs(g, host);
		set_host(g, host, false, h->drain);
		break;
	case SCRIPT_HOST:
		report_host(g, s);
		break;
	default:
		set_host(g, host, h->up, s->type == SCRIPT_DRAIN);
	}
}

void engine_happen(struct engine *g)
{
	const struct sim_script *s = g->config->script;
	bool any = false;

	while (engine_next_happening(g) == g->view.now) {
		const struct script_event *e = &s->event[g->happened++];

		any = true;
		if (e->type == SCRIPT_CANCEL)
			cancel(g, e->target);
		else if (e->type == SCRIPT_RESERVE)
			reserve(g, e);
		else if (e->type == SCRIPT_BOOK)
			book(g, e);
		else if (e->type == SCRIPT_UNBOOK)
			unbook(g, e);
		else
			happen_to_host(g, e);
	}
	if (any)
		engine_pace_all(g);
}

int engine_check_script(const struct engine *g, struct error *err)
{
	const struct sim_script *s = g->config->script;

	if (!s || s->relative || s->nr_hosts <= g->view.nr_hosts)
		return 0;
	return error_set(err, -EINVAL,
			 "the event file names host %" PRIu32
			 ", and the machine has hosts 0 to %" PRIu32,
			 s->nr_hosts - 1, g->view.nr_hosts - 1);
}
