/*
 * measure.c - averages over time, as integrals that grow at every instant
 */
#include <stdlib.h>

#include "sim/engine/engine.h"

static double min_double(double a, double b)
{
	return a < b ? a : b;
}

/* part / whole * dt.  Most often they are the same, and dividing is slow. */
static double share(double part, double whole, double dt)
{
	return part == whole ? dt : part / whole * dt;
}

void engine_measure(struct engine *g, usec_t now)
{
	const struct view *v = &g->view;
	struct areas *a = &g->area;
	double dt = usec_to_seconds(now - g->measured);
	double procs = (double)v->nr_procs,
	       allocated = procs - (double)v->nr_free;
	double lacking;

	g->measured = now;
	for_each_part (p, g)
		if ((*p)->measure)
			(*p)->measure(g, dt);
	a->allocated += allocated * dt;
	a->queue += v->nr_waiting * dt;
	a->jobs += (v->nr_waiting + v->nr_running) * dt;
	if (v->demand <= 0 || procs <= 0)
		return;
	a->effective +=
		share(allocated, min_double(procs, (double)v->demand), dt);
	a->demand += dt;
	lacking = min_double((double)v->nr_free,
			     (double)g->running_demand - allocated);
	if (lacking != 0)
		a->fragmentation += lacking / procs * dt;
}

void engine_averages(struct engine *g)
{
	const struct areas *s = &g->area_at_arrival;
	struct sim_result *r = &g->result;
	struct sim_averages *a = &r->averages;
	double t;

	for_each_part (p, g)
		if ((*p)->average)
			(*p)->average(g);
	r->busy += g->area.allocated;
	if (r->nr <= r->nr_warmup)
		return;
	t = usec_to_seconds(r->record[r->nr - 1].submit -
			    r->record[r->nr_warmup].submit);
	if (t <= 0)
		return;
	a->seconds = t;
	a->utilization = s->allocated / t / r->procs;
	a->effectiveness = s->demand > 0 ? s->effective / s->demand : 1;
	a->fragmentation = s->fragmentation / t;
	a->queue_length = s->queue / t;
	a->jobs = s->jobs / t;
}

void sim_result_clear(struct sim_result *result)
{
	for (uint32_t i = 0; i < result->nr_owners; i++)
		free(result->owner[i].name);
	free(result->owner);
	free(result->record);
	free(result->split);
	free(result->why_rejected);
	*result = (struct sim_result){ 0 };
}
