/*
 * step.c - one event of a simulation, applied and told; see engine.h
 */
#include "sim/engine/engine.h"

void engine_event(struct engine *g, const struct event *e, bool told)
{
	model_apply(&g->view, e);
	if (g->config->observer && g->config->observer->event)
		g->config->observer->event(g->config->observer->data, &g->view,
					   e);
	if (told && g->policy->ops->event)
		g->policy->ops->event(g->policy, &g->view, e);
	g->result.nr_events++;
}

void engine_finish(struct engine *g, const struct event *e)
{
	struct job *job = e->job;
	struct sim_record *r = &g->result.record[g->truth[job->ix].record];

	if (job->state == JOB_RUNNING)
		g->running_demand -= job->size;
	heap_remove(&g->ends, job->ix);
	engine_event(g, e, true);
	r->end = e->at;
	r->procs = job->n;
	r->proc_secs = (float)job->used;
	r->outcome = (uint8_t)e->outcome;
	g->result.busy += job->used;
	g->result.end = e->at;
	view_job_destroy(&g->view, job);
	g->nr_ended++;
	if (g->config->progress && g->nr_ended % 16384 == 0)
		g->config->progress(g->config->progress_data, g->nr_ended);
}
