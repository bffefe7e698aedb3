/*
 * happen.c - what the event file says, as it comes to pass
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/xalloc.h"
#include "sim/engine/engine.h"
#include "sim/workload/script.h"

static usec_t time_of(const struct engine *g, const struct script_event *e)
{
	return g->config->script->relative ? g->result.begin + e->at : e->at;
}

static usec_t next_of_script(const struct engine *g, bool jobs)
{
	const struct sim_script *s = g->config->script;
	usec_t t;

	/* With no job in sight the script has nothing to do. */
	if (!jobs || g->happened == s->nr)
		return USEC_MAX;
	t = time_of(g, &s->event[g->happened]);
	return t > g->view.now ? t : g->view.now;
}

static void set_host(struct engine *g, uint32_t host, bool up, bool drain,
		     usec_t by)
{
	struct host fresh = g->view.hosts[host];
	struct event e = { .type = EVENT_HOST,
			   .at = g->view.now,
			   .host = host,
			   .fresh = &fresh };

	if (fresh.up == up && fresh.drain == drain &&
	    (!drain || fresh.leave_by == by))
		return;
	fresh.up = up;
	if (drain || fresh.drain)
		fresh.leave_by = by;
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
		next = TAILQ_NEXT(job, link);
		if (is_on(job, host))
			engine_requeue(g, job);
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

static struct reservation *find_reservation(struct engine *g, int64_t id)
{
	size_t i = 0;

	while (g->booked[i].id != id)
		i++;
	return &g->booked[i];
}

/* n more (or, below 0, fewer) cores of a host are held. */
static void book_cores(struct engine *g, uint32_t host, int64_t n)
{
	struct host fresh = g->view.hosts[host];
	struct event e = { .type = EVENT_HOST,
			   .at = g->view.now,
			   .host = host,
			   .fresh = &fresh };

	fresh.booked = (uint32_t)(fresh.booked + n);
	engine_event(g, &e, true);
}

static uint32_t idle_cores(const struct host *h)
{
	uint32_t cores = host_cores(h);

	return cores > h->nr_active ? cores - h->nr_active : 0;
}

/* The usable host with the most idle cores, of equals the one with the fewest
 * ranks; NULL if there is none. */
static const struct host *idlest(const struct view *view)
{
	const struct host *h, *best = NULL;

	for_each_host (h, view)
		if (host_usable(h) &&
		    (!best || idle_cores(h) > idle_cores(best) ||
		     (idle_cores(h) == idle_cores(best) &&
		      h->nr_ranks < best->nr_ranks)))
			best = h;
	return best;
}

/* Does the policy put more ranks on a host than it has cores? */
static bool shares(const struct engine *g)
{
	return g->policy->ops->flags & POLICY_SHARES;
}

/* Idle cores while there are any. */
static uint32_t cores_of(const struct host *h, int64_t wanted)
{
	uint32_t most = idle_cores(h) ? idle_cores(h) : host_cores(h);

	return most < wanted ? most : (uint32_t)wanted;
}

static bool is_held(const struct engine *g, uint32_t host)
{
	for (size_t i = 0; i < g->nr_holdings; i++)
		if (g->holding[i].host == host)
			return true;
	return false;
}

static void add_holding(struct engine *g, const struct reservation *r,
			uint32_t host, uint32_t n)
{
	if (!shares(g) || !is_held(g, host))
		book_cores(g, host, n);
	array_room(g->holding, g->nr_holdings, &g->cap_holdings);
	g->holding[g->nr_holdings++] =
		(struct holding){ r->id, r->from, r->to, host, n };
}

/* Is a host that is held as a whole in use by then, between from and to? */
static bool in_use(const struct engine *g, uint32_t host, usec_t from,
		   usec_t to)
{
	for (size_t i = 0; i < g->nr_holdings; i++) {
		const struct holding *h = &g->holding[i];

		if (h->host == host && h->from < to && h->to > from)
			return true;
	}
	return false;
}

/* Hold whole hosts, first those that other reservations hold at other times. */
static int64_t hold_hosts(struct engine *g, const struct reservation *r)
{
	const struct reservation mine = *r;
	const struct host *h;
	int64_t got = 0;

	for_each_host (h, &g->view) {
		if (got >= mine.procs)
			return got;
		if (!h->up || !is_held(g, h->ix) ||
		    in_use(g, h->ix, mine.from, mine.to))
			continue;
		got += h->cores;
		add_holding(g, &mine, h->ix, h->cores);
	}
	while (got < mine.procs && (h = idlest(&g->view))) {
		got += h->cores;
		add_holding(g, &mine, h->ix, h->cores);
	}
	return got;
}

static int64_t hold_cores(struct engine *g, const struct reservation *r)
{
	const struct reservation mine = *r;
	const struct host *h;
	int64_t got = 0;

	while (got < mine.procs && (h = idlest(&g->view))) {
		uint32_t n = cores_of(h, mine.procs - got);

		got += n;
		add_holding(g, &mine, h->ix, n);
	}
	return got;
}

/* Hold the reservation's processors from now on. */
static void hold_reservation(struct engine *g, int64_t id)
{
	struct reservation *r = find_reservation(g, id);

	r->procs = (uint32_t)(shares(g) ? hold_hosts(g, r) : hold_cores(g, r));
	r->held = true;
	tell_booked(g);
}

static void reserve(struct engine *g, const struct script_event *s)
{
	size_t i;

	array_room(g->booked, g->nr_booked, &g->cap_booked);
	for (i = g->nr_booked; i > 0 && g->booked[i - 1].from > s->from; i--)
		g->booked[i] = g->booked[i - 1];
	g->booked[i] = (struct reservation){
		.id = s->target, .from = s->from, .to = s->to, .procs = s->procs
	};
	g->nr_booked++;
	if (shares(g))
		hold_reservation(g, s->target);
	else
		tell_booked(g);
}

static void book(struct engine *g, const struct script_event *s)
{
	if (!find_reservation(g, s->target)->held)
		hold_reservation(g, s->target);
}

static void release(struct engine *g, int64_t id)
{
	struct holding *h = g->holding;

	while (h < g->holding + g->nr_holdings) {
		const struct holding gone = *h;

		if (gone.reservation != id) {
			h++;
			continue;
		}
		g->nr_holdings--;
		memmove(h, h + 1,
			(size_t)(g->holding + g->nr_holdings - h) * sizeof(*h));
		if (!shares(g) || !is_held(g, gone.host))
			book_cores(g, gone.host, -(int64_t)gone.cores);
	}
}

static void unbook(struct engine *g, const struct script_event *s)
{
	struct reservation *r = find_reservation(g, s->target);

	release(g, s->target);
	g->nr_booked--;
	memmove(r, r + 1, (size_t)(g->booked + g->nr_booked - r) * sizeof(*r));
	tell_booked(g);
}

static void report_host(struct engine *g, const struct script_event *s)
{
	struct event e = { .type = EVENT_HOST,
			   .at = g->view.now,
			   .host = (uint32_t)s->target,
			   .fresh = s->fresh };

	engine_event(g, &e, true);
}

static void drain(struct engine *g, uint32_t host, const struct script_event *s)
{
	usec_t by = s->to ? time_of(g, s) + (s->to - s->at) : 0;

	if (by && !g->drain_by)
		g->drain_by = xcalloc(g->view.nr_hosts, sizeof(*g->drain_by));
	if (g->drain_by)
		g->drain_by[host] = by;
	set_host(g, host, g->view.hosts[host].up, s->type == SCRIPT_DRAIN, by);
	owners_touch(g->owners, host); /* its owner's time, too, counts */
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
		set_host(g, host, true, h->drain, h->leave_by);
		break;
	case SCRIPT_DOWN:
		lose_jobs(g, host);
		set_host(g, host, false, h->drain, h->leave_by);
		break;
	case SCRIPT_HOST:
		report_host(g, s);
		break;
	default:
		drain(g, host, s);
	}
}

static bool script_happens(struct engine *g)
{
	const struct sim_script *s = g->config->script;
	bool any = false;

	while (next_of_script(g, true) == g->view.now) {
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
	return any;
}

const struct engine_part engine_part_script = {
	.next = next_of_script,
	.happen = script_happens,
};

int engine_check_script(const struct engine *g, struct error *err)
{
	const struct sim_script *s = g->config->script;

	for (size_t i = 0; s && i < s->nr; i++)
		if (s->event[i].type == SCRIPT_RESERVE &&
		    s->event[i].procs > g->result.procs)
			return error_set(err, -EINVAL,
					 "the event file reserves %" PRIu32
					 " processors, and the machine has "
					 "%" PRIu32,
					 s->event[i].procs, g->result.procs);
	if (!s || s->relative || s->nr_hosts <= g->view.nr_hosts)
		return 0;
	return error_set(err, -EINVAL,
			 "the event file names host %" PRIu32
			 ", and the machine has hosts 0 to %" PRIu32,
			 s->nr_hosts - 1, g->view.nr_hosts - 1);
}
