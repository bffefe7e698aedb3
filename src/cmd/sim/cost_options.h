/*
 * cost_options.h - what moving and resizing cost a simulated job
 */
#ifndef CMD_SIM_COST_OPTIONS_H
#define CMD_SIM_COST_OPTIONS_H

#include <argp.h>

/* --resize-cost, --migrate-cost and --rank-cost; the input is a struct
 * sim_costs. */
extern const struct argp_child cost_children[];

#endif
