/*
 * owner_options.h - hosts with owners, and moves that take their time, for a
 * simulation: what is asked for on the command line
 */
#ifndef CMD_SIM_OWNER_OPTIONS_H
#define CMD_SIM_OWNER_OPTIONS_H

#include <argp.h>
#include <jansson.h>

#include "core/error.h"
#include "model/activity.h"
#include "model/terms.h"
#include "sim/engine/sim.h"

struct owner_args {
	const char *path; /* of the activity script, or NULL */
	struct activity activity;
	struct owner_terms terms;
	struct sim_config *config; /* where it goes */
};

/* Before the options are parsed. */
void owner_args_init(struct owner_args *a, struct sim_config *config);
void owner_args_clear(struct owner_args *a);

/* The options; the input is a struct owner_args. */
extern const struct argp_child owner_children[];

/* Do they go together? */
int owner_args_check(const struct owner_args *a, struct error *err) must_check;

/* Read the script, and let the configuration point to it.  a stays where it is
 * until the run is over. */
int owner_args_open(struct owner_args *a, struct error *err) must_check;

/* What the options said: members of to. */
void owner_args_json(const struct owner_args *a, json_t *to);

#endif
