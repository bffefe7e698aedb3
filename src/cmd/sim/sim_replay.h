/*
 * sim_replay.h - stint sim --replay: a recorded live run
 */
#ifndef CMD_SIM_SIM_REPLAY_H
#define CMD_SIM_SIM_REPLAY_H

#include <stdbool.h>

#include "core/error.h"
#include "sim/workload/recorded.h"

/*
 * Give the record's events to the policy it names and compare the plans:
 * prints that all are equal, or where they first differ.  Returns the exit
 * code.
 */
int sim_replay(const char *path, bool json);

/* The record as a workload and a machine; what is left out is said on stderr.
 * recorded_clear() frees *ret. */
int sim_replay_open(const char *path, struct recorded *ret,
		    struct error *err) must_check;

#endif
