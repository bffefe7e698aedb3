/* cost_options.c - see cost_options.h */
#include "cmd/sim/cost_options.h"

#include "cmd/kit/command.h"
#include "core/units.h"
#include "sim/engine/sim.h"

enum { KEY_RESIZE = 768, KEY_MIGRATE, KEY_RANK };

static const struct argp_option options[] = {
	{ "resize-cost", KEY_RESIZE, "TIME", 0,
	  "standstill when a job's processors change (0)", 0 },
	{ "migrate-cost", KEY_MIGRATE, "TIME", 0,
	  "standstill when ranks of a job move, once (0)", 0 },
	{ "rank-cost", KEY_RANK, "TIME", 0, "and for each rank that moves (0)",
	  0 },
	{ 0 }
};

static usec_t *cost_of(struct sim_costs *c, int key)
{
	switch (key) {
	case KEY_RESIZE:
		return &c->resize;
	case KEY_MIGRATE:
		return &c->migrate;
	case KEY_RANK:
		return &c->migrate_rank;
	}
	return NULL;
}

static const char *cost_name(int key)
{
	return key == KEY_RESIZE    ? "--resize-cost"
	       : key == KEY_MIGRATE ? "--migrate-cost"
				    : "--rank-cost";
}

static error_t parse_costs(int key, char *arg, struct argp_state *state)
{
	usec_t *cost = cost_of(state->input, key);
	struct error err, why;
	int r;

	if (!cost)
		return ARGP_ERR_UNKNOWN;
	r = parse_usec(arg, cost, &err);
	return command_parsed(
		state,
		r < 0 ? error_set(&why, r, "%s: %s", cost_name(key), err.text)
		      : r,
		&why);
}

static const struct argp cost_argp = { options, parse_costs, 0, 0, 0, 0, 0 };
const struct argp_child cost_children[] = { { &cost_argp, 0, 0, 0 }, { 0 } };
