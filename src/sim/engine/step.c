/*
 * step.c - one event of a simulation, applied and told; see engine.h
 */
#include "sim/engine/engine.h"

#include <assert.h>
#include <string.h>

#include "core/xalloc.h"

void engine_use(struct engine *g, const struct engine_part *part)
{
	size_t n = 0;

	while (g->part[n])
		n++;
	assert(n < ENGINE_PARTS);
	g->part[n] = part;
}

void engine_event(struct engine *g, const struct event *e, bool told)
{
	for_each_part (p, g)
		if ((*p)->note)
			(*p)->note(g, e);
	model_apply(&g->view, e);
	if (g->config->observer && g->config->observer->event)
		g->config->observer->event(g->config->observer->data, &g->view,
					   e);
	if (told && g->policy->ops->event)
		g->policy->ops->event(g->policy, &g->view, e);
	g->result.nr_events++;
}

void engine_count_moves(struct engine *g, const struct job *job, uint32_t ranks)
{
	struct sim_record *r = &g->result.record[g->truth[job->ix].record];

	r->moves = (uint16_t)(ranks > (uint32_t)(UINT16_MAX - r->moves)
				      ? UINT16_MAX
				      : r->moves + ranks);
	g->result.migrations += ranks;
	g->moved = true;
}

/* It begins anew. */
static void lose_split(struct sim_split *s)
{
	s->lost += s->run;
	s->run = s->cpu = s->page = 0;
}

void engine_requeue(struct engine *g, struct job *job)
{
	struct event e = { .type = EVENT_REQUEUE,
			   .at = g->view.now,
			   .job = job };

	engine_advance(g, job);
	if (g->result.split)
		lose_split(engine_split(g, job));
	for_each_part (p, g)
		if ((*p)->leave)
			(*p)->leave(g, job);
	if (job->state == JOB_RUNNING)
		g->running_demand -= job->size;
	heap_remove(&g->ends, job->ix);
	engine_event(g, &e, true);
	g->result.restarts++;
}

void engine_finish(struct engine *g, const struct event *e)
{
	struct job *job = e->job;
	struct sim_record *r = &g->result.record[g->truth[job->ix].record];

	engine_advance(g, job);
	for_each_part (p, g) {
		if ((*p)->leave)
			(*p)->leave(g, job);
		if ((*p)->over)
			(*p)->over(g, job->id, e->at);
	}
	if (job->state == JOB_RUNNING)
		g->running_demand -= job->size;
	heap_remove(&g->ends, job->ix);
	engine_event(g, e, true);
	r->end = e->at;
	r->procs = job->n;
	r->proc_secs = (float)job->used;
	r->outcome = (uint8_t)e->outcome;
	g->result.end = e->at;
	view_job_destroy(&g->view, job);
	g->nr_ended++;
	if (g->config->progress && g->nr_ended % 16384 == 0)
		g->config->progress(g->config->progress_data, g->nr_ended);
}

/* Timers stand with the latest first; the same instant once. */
void engine_wake(struct engine *g, usec_t at)
{
	size_t i;

	if (at < g->view.now)
		at = g->view.now;
	for (i = g->nr_timers; i > 0 && g->timer[i - 1] < at; i--)
		;
	if (i > 0 && g->timer[i - 1] == at)
		return;
	array_room(g->timer, g->nr_timers, &g->cap_timers);
	memmove(g->timer + i + 1, g->timer + i,
		(g->nr_timers - i) * sizeof(*g->timer));
	g->timer[i] = at;
	g->nr_timers++;
}
