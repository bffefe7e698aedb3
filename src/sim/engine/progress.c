/*
 * progress.c - how fast jobs get on, and when they will end
 */
#include <math.h>

#include "sim/engine/engine.h"

void engine_advance(struct engine *g, const struct job *job)
{
	struct truth *t = &g->truth[job->ix];
	usec_t from = t->since > t->stall ? t->since : t->stall;

	if (g->view.now > from) {
		usec_t dt = g->view.now - from;

		t->left -= t->rate == 1 ? dt
					: (usec_t)llround((double)dt * t->rate);
		if (t->left < 0)
			t->left = 0;
	}
	t->since = g->view.now;
}

static usec_t end_of(const struct engine *g, const struct truth *t)
{
	usec_t from = t->stall > g->view.now ? t->stall : g->view.now;

	if (t->rate == 1)
		return from + t->left;
	return from + (usec_t)llround((double)t->left / t->rate);
}

static double rate_of(const struct engine *g, const struct job *job)
{
	return g->config->pool ? view_pool_rate(&g->view, job)
			       : view_rate(&g->view, job);
}

void engine_pace(struct engine *g, const struct job *job)
{
	struct truth *t = &g->truth[job->ix];

	t->rate = rate_of(g, job);
	if (t->rate > 0)
		heap_set(&g->ends, job->ix, end_of(g, t));
	else
		heap_remove(&g->ends, job->ix);
}

void engine_pace_all(struct engine *g)
{
	const struct job *job;

	if (!g->view.nr_hosts)
		return;
	for_each_running(job, &g->view)
	{
		struct truth *t = &g->truth[job->ix];

		if (rate_of(g, job) == t->rate)
			continue;
		engine_advance(g, job);
		engine_pace(g, job);
	}
}
