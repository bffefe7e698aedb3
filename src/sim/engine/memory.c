/*
 * memory.c - what jobs need of memory, and what their time goes for; see memory.h
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/xalloc.h"
#include "sim/engine/memory.h"

struct engine_memory *engine_memory_create(struct engine *g)
{
	struct engine_memory *m = xcalloc(1, sizeof(*m));
	struct host *h;

	m->model = g->config->paging;
	m->first = xcalloc(g->view.nr_hosts + 1, sizeof(*m->first));
	for_each_host (h, &g->view) {
		h->memory_free = paging_room(m->model, h);
		m->idle += (double)h->memory_free;
	}
	return m;
}

void engine_memory_destroy(struct engine_memory *m)
{
	if (!m)
		return;
	heap_clear(&m->wakes);
	free(m->need);
	free(m->share);
	free(m->owner);
	free(m->first);
	free(m);
}

struct need *memory_need(const struct engine *g, const struct job *job)
{
	return &g->memory->need[job->ix];
}

/* ---- jobs come and go ---- */

static void grow_needs(struct engine *g, uint32_t ix)
{
	struct engine_memory *m = g->memory;

	if (ix >= m->nr_need) {
		m->nr_need = m->nr_need ? 2 * m->nr_need : 256;
		m->need = xreallocarray(m->need, m->nr_need, sizeof(*m->need));
	}
}

void memory_arrive(struct engine *g, const struct job *job,
		   const struct workload_job *w)
{
	grow_needs(g, job->ix);
	*memory_need(g, job) =
		(struct need){ .phases = w->phases, .memory = w->memory };
}

void memory_leave(struct engine *g, const struct job *job)
{
	heap_remove(&g->memory->wakes, job->ix);
}

usec_t engine_memory_transfer(const struct engine *g, const struct job *job)
{
	return g->memory ? paging_transfer(g->memory->model,
					   memory_need(g, job)->demand)
			 : 0;
}

/* ---- the account ---- */

static usec_t least(usec_t a, usec_t b)
{
	return a < b ? a : b;
}

void memory_spend(struct engine *g, const struct job *job, usec_t dt)
{
	struct sim_split *s = engine_split(g, job);
	const struct need *n = memory_need(g, job);
	usec_t cpu = least(llround((double)dt * n->cpu), dt);

	s->cpu += cpu;
	s->page += least(llround((double)dt * n->page), dt - cpu);
}

double engine_memory_rate(const struct engine *g, const struct job *job)
{
	return memory_need(g, job)->rate;
}

/* ---- phases, and ways ---- */

const struct workload_phase *memory_next_phase(const struct need *n)
{
	return n->phases && n->phase + 1 < n->phases->nr
		       ? &n->phases->phase[n->phase + 1]
		       : NULL;
}

/* Work that is to be done until the next phase begins. */
double memory_until_phase(const struct engine *g, const struct job *job)
{
	const struct need *n = memory_need(g, job);
	usec_t done = n->work - g->truth[job->ix].left;

	return memory_next_phase(n)->from * (double)n->work - (double)done;
}

/* When does it need memory, or run, otherwise? */
void memory_pace(struct engine *g, const struct job *job)
{
	const struct truth *t = &g->truth[job->ix];
	usec_t at;

	if (job->state == JOB_RUNNING && t->stall > g->view.now) {
		heap_set(&g->memory->wakes, job->ix, t->stall);
	} else if (t->rate > 0 && memory_next_phase(memory_need(g, job))) {
		at = llround(ceil(memory_until_phase(g, job) / t->rate));
		heap_set(&g->memory->wakes, job->ix,
			 g->view.now + (at > 1 ? at : 1));
	} else {
		heap_remove(&g->memory->wakes, job->ix);
	}
}

/* Of the last job's end, too, a pass is told. */
usec_t memory_next(const struct engine *g, bool jobs)
{
	const struct engine_memory *m = g->memory;

	return m->told ? g->view.now : heap_first_key(&m->wakes);
}

/* ---- averages ---- */

void memory_measure(struct engine *g, double seconds)
{
	struct engine_memory *m = g->memory;

	m->idle_area += m->idle * seconds;
	m->skew_area += m->skew * seconds;
	m->seconds += seconds;
}

void memory_average(struct engine *g)
{
	const struct engine_memory *m = g->memory;

	if (m->seconds <= 0)
		return;
	g->result.averages.idle_memory = m->idle_area / m->seconds;
	g->result.averages.skew = m->skew_area / m->seconds;
}
