/*
 * progress.c - how fast jobs get on, and when they will end
 */
#include <math.h>

#include "sim/engine/engine.h"

/* The time since then, by what the job did in it. */
static void account(struct engine *g, const struct job *job)
{
	struct truth *t = &g->truth[job->ix];
	usec_t now = g->view.now;
	struct sim_split *s = engine_split(g, job);
	usec_t still = (t->stall < now ? t->stall : now) - t->since, other;

	if (job->state == JOB_WAITING) {
		s->queue += now - t->since;
		return;
	}
	if (still < 0)
		still = 0;
	s->still += still;
	other = now - t->since - still;
	if (t->rate > 0)
		for_each_part (p, g)
			if ((*p)->spend)
				(*p)->spend(g, job, other);
	*(t->rate > 0 ? &s->run : &s->frozen) += other;
}

void engine_advance(struct engine *g, const struct job *job)
{
	struct truth *t = &g->truth[job->ix];
	usec_t from = t->since > t->stall ? t->since : t->stall;

	if (g->result.split)
		account(g, job);
	if (g->view.now > from && job->state != JOB_WAITING) {
		usec_t dt = g->view.now - from;

		t->left -= t->rate == 1 ? dt
					: (usec_t)llround((double)dt * t->rate);
		if (t->left < 0)
			t->left = 0;
	}
	t->since = g->view.now;
}

void engine_stall_until(struct engine *g, const struct job *job, usec_t until)
{
	struct truth *t = &g->truth[job->ix];
	usec_t from = t->stall > g->view.now ? t->stall : g->view.now;

	if (until <= from)
		return;
	t->stall = until;
	g->result.record[t->record].stood_secs +=
		(float)usec_to_seconds(until - from);
}

void engine_stall(struct engine *g, const struct job *job, usec_t cost)
{
	usec_t stall = g->truth[job->ix].stall;

	engine_stall_until(g, job,
			   (stall > g->view.now ? stall : g->view.now) + cost);
}

/* A job that would end later than can be counted never does: the run is stuck. */
static usec_t end_of(const struct engine *g, const struct truth *t)
{
	usec_t from = t->stall > g->view.now ? t->stall : g->view.now;
	double left = (double)t->left / t->rate;

	if (t->rate == 1)
		return usec_add(from, t->left);
	return left < 0x1p62 ? usec_add(from, llround(left)) : USEC_MAX;
}

double engine_rate(const struct engine *g, const struct job *job)
{
	if (g->memory)
		return engine_memory_rate(g, job);
	return g->config->pool ? view_pool_rate(&g->view, job)
			       : view_rate(&g->view, job);
}

void engine_pace(struct engine *g, const struct job *job)
{
	struct truth *t = &g->truth[job->ix];

	t->rate = engine_rate(g, job);
	if (t->rate > 0)
		heap_set(&g->ends, job->ix, end_of(g, t));
	else
		heap_remove(&g->ends, job->ix);
	for_each_part (p, g)
		if ((*p)->pace)
			(*p)->pace(g, job);
}
