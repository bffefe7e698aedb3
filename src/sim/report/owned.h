/*
 * owned.h - what jobs' time was, and what the owners of hosts bore, of a
 * simulation with owners or with moves that take time
 */
#ifndef SIM_REPORT_OWNED_H
#define SIM_REPORT_OWNED_H

#include <jansson.h>
#include <stdio.h>

#include "sim/engine/sim.h"

/* Some lines for people; nothing of a run without either. */
void owned_print(const struct sim_result *result, FILE *to);

/* "split", seconds of a job on average, and "owners"; no members without
 * either. */
void owned_json(const struct sim_result *result, json_t *to);

/*
 * A line a host, with what its owner bore, in the order of the machine:
 *	host,returns,disturbed,disturbed_most,given_back,give_back,give_back_most,beside,
 *	waited,refill,seed,version
 * Times are in seconds.  Only the first line without owners.
 */
void owned_csv(const struct sim_result *result, FILE *to);

#endif
