/*
 * pass.c - a pass of the policy, and the policy made anew; see engine.h
 */
#include <stdlib.h>

#include "sim/engine/engine.h"

/* The policy is shown the view, and what it wants is done. */
static int pass(struct engine *g, struct error *err)
{
	plan_reset(&g->plan, &g->view);
	policy_decide(g->policy, &g->view, &g->plan);
	g->result.nr_passes++;
	if (!g->plan.nr)
		return 0;
	if (g->config->observer && g->config->observer->plan)
		g->config->observer->plan(g->config->observer->data, &g->view,
					  &g->plan);
	return engine_carry_out(g, err);
}

/* Nothing may come of it: what a policy remembers is in what it saves. */
static int renew(struct engine *g, struct error *err)
{
	struct policy *fresh;
	char *text;
	int r = policy_create(g->config->policy, g->config->seed, &g->view,
			      &fresh, err);

	if (r < 0)
		return r;
	text = policy_save(g->policy, &g->view);
	policy_adopt(fresh, &g->view);
	if (text)
		r = policy_load(fresh, &g->view, text, err);
	free(text);
	policy_destroy(g->policy);
	g->policy = fresh;
	return r;
}

/* Also of a controller's restart, whose first pass asks for timers again. */
static int restart(struct engine *g, enum sim_renewal how, struct error *err)
{
	int r = how == RENEW_NOT ? 0 : renew(g, err);

	if (how == RENEW_AND_FORGET)
		g->nr_timers = 0;
	if (!r && how != RENEW)
		r = pass(g, err);
	return r;
}

int engine_pass(struct engine *g, struct error *err)
{
	uint64_t every = g->config->renew;
	bool told = every && g->config->renewal == RENEW_TOLD;
	int r = told && g->result.nr_passes % every == 0 ? renew(g, err) : 0;

	if (!r)
		r = pass(g, err);
	if (!r && every && !told && g->plan.nr &&
	    g->result.nr_passes % every == 0)
		r = restart(g, g->config->renewal, err);
	return r;
}
