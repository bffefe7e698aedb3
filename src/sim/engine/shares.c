/*
 * shares.c - who gets what of the hosts, all at once: with memory by what pages
 * (memory.h), else by who is there
 */
#include <math.h>

#include "core/xalloc.h"
#include "sim/engine/memory.h"

static void tell_demand(struct engine *g, struct job *job)
{
	struct need *n = memory_need(g, job);
	struct event e = { .type = EVENT_DEMAND,
			   .at = g->view.now,
			   .job = job,
			   .bytes = n->phases ? n->phases->phase[n->phase].bytes
					      : n->memory };

	n->demand = e.bytes;
	engine_event(g, &e, true);
}

static bool is_at_home(const struct job *job)
{
	for (uint32_t i = 0; job->home && i < job->n; i++)
		if (job->hosts[i] + 1 != job->home)
			return false;
	return true;
}

static usec_t memory_start(struct engine *g, struct job *job)
{
	struct need *n = memory_need(g, job);

	n->work = g->truth[job->ix].left;
	n->phase = 0;
	n->cpu = n->page = n->rate = 0;
	tell_demand(g, job);
	return is_at_home(job) ? 0 : g->memory->model->remote;
}

static void begin_phases(struct engine *g, struct job *job)
{
	struct need *n = memory_need(g, job);
	uint32_t was = n->phase;

	/* Work is counted in whole microseconds. */
	while (memory_next_phase(n) && memory_until_phase(g, job) < 1)
		n->phase++;
	if (n->phase != was)
		tell_demand(g, job);
}

/* ---- who gets what ---- */

/* Every rank's need, host by host. */
static void gather_needs(struct engine *g)
{
	struct engine_memory *m = g->memory;
	const struct job *job;
	const struct host *h;
	uint32_t n = 0;

	for_each_host (h, &g->view) {
		m->first[h->ix] = n;
		n += h->nr_ranks;
	}
	if (n > m->cap_ranks) {
		m->cap_ranks = 2 * (size_t)n;
		m->share = xreallocarray(m->share, m->cap_ranks,
					 sizeof(*m->share));
		m->owner = xreallocarray(m->owner, m->cap_ranks,
					 sizeof(*m->owner));
	}
	for_each_running(job, &g->view) for (uint32_t i = 0; i < job->n; i++)
	{
		uint32_t at = m->first[job->hosts[i]]++;

		m->owner[at] = job->ix;
		m->share[at] = (struct paging_share){
			.demand = memory_need(g, job)->demand,
			.still = job->state != JOB_RUNNING ||
				 job->ranks->nr_frozen ||
				 g->truth[job->ix].stall > g->view.now,
		};
	}
}

/* Its slowest rank sets a job's pace. */
static void note_share(struct engine *g, const struct host *h, uint32_t owner,
		       const struct paging_share *s)
{
	struct need *n = &g->memory->need[owner];
	double rate = s->cpu / h->speed;

	if (rate < n->fresh_rate) {
		n->fresh_rate = rate;
		n->fresh_cpu = s->cpu;
		n->fresh_page = s->page;
	}
}

static void tell_host(struct engine *g, const struct host *h, uint64_t demand,
		      double disk)
{
	uint64_t room = paging_room(g->memory->model, h);
	struct host fresh = *h;
	struct event e = { .type = EVENT_HOST,
			   .at = g->view.now,
			   .host = h->ix,
			   .fresh = &fresh };

	fresh.memory_free = room > demand ? room - demand : 0;
	fresh.faults = g->memory->model->fault > 0
			       ? disk / g->memory->model->fault
			       : 0;
	g->memory->idle += (double)fresh.memory_free;
	if (fresh.memory_free == h->memory_free && fresh.faults == h->faults)
		return;
	engine_event(g, &e, true);
	g->memory->told = true;
}

/* gather_needs() has left first[] at the end of each host's ranks. */
static void share_host(struct engine *g, const struct host *h)
{
	struct engine_memory *m = g->memory;
	uint32_t from = m->first[h->ix] - h->nr_ranks;
	uint64_t demand = 0;
	double disk = 0;

	paging_shares(m->model, h, m->share + from, h->nr_ranks);
	for (uint32_t i = from; i < from + h->nr_ranks; i++) {
		demand += m->share[i].demand;
		disk += m->share[i].page;
		note_share(g, h, m->owner[i], &m->share[i]);
	}
	tell_host(g, h, demand, disk);
}

static void take_share(struct engine *g, const struct job *job)
{
	struct need *n = memory_need(g, job);

	if (n->rate == n->fresh_rate && n->page == n->fresh_page)
		return;
	engine_advance(g, job);
	n->cpu = n->fresh_cpu;
	n->page = n->fresh_page;
	n->rate = n->fresh_rate;
	engine_pace(g, job);
}

static double skew_now(const struct engine *g)
{
	double sum = 0, squares = 0, n = 0, mean;
	const struct host *h;

	for_each_host (h, &g->view)
		if (!h->reserved) {
			sum += h->nr_active;
			squares += (double)h->nr_active * h->nr_active;
			n++;
		}
	mean = n > 0 ? sum / n : 0;
	return n > 0 ? sqrt(fmax(squares / n - mean * mean, 0)) : 0;
}

static void share_all(struct engine *g)
{
	const struct job *job;
	const struct host *h;

	for_each_running(job, &g->view) memory_need(g, job)->fresh_rate =
		INFINITY;
	gather_needs(g);
	g->memory->idle = 0;
	for_each_host (h, &g->view)
		share_host(g, h);
	for_each_running(job, &g->view) take_share(g, job);
	g->memory->skew = skew_now(g);
}

static void memory_settle(struct engine *g)
{
	bool any = false;

	while (heap_first_key(&g->memory->wakes) <= g->view.now) {
		struct job *job =
			view_job(&g->view, heap_pop(&g->memory->wakes));

		engine_advance(g, job);
		begin_phases(g, job);
		memory_pace(g, job);
		any = true;
	}
	if (any)
		share_all(g);
	g->memory->told = false;
}

const struct engine_part engine_part_memory = {
	.next = memory_next,
	.settle = memory_settle,
	.arrive = memory_arrive,
	.start = memory_start,
	.spend = memory_spend,
	.pace = memory_pace,
	.leave = memory_leave,
	.measure = memory_measure,
	.average = memory_average,
};

void engine_pace_hosts(struct engine *g)
{
	const struct job *job;

	if (g->memory) {
		share_all(g);
		return;
	}
	for_each_running(job, &g->view)
	{
		if (engine_rate(g, job) == g->truth[job->ix].rate)
			continue;
		engine_advance(g, job);
		engine_pace(g, job);
	}
}
