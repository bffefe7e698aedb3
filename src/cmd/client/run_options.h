/*
 * run_options.h - the command line of stint run
 *
 * Long options may have one dash.  Options of mpirun(1) and srun(1) that Stint
 * lacks are refused with a line that names the alternative (run_habits.h).
 */
#ifndef CMD_CLIENT_RUN_OPTIONS_H
#define CMD_CLIENT_RUN_OPTIONS_H

#include <stdbool.h>

#include "cmd/client/client_options.h"
#include "cmd/client/submission.h"

struct run_options {
	struct client_options client;
	struct submission submission;
	bool label;
};

/* Exits on invalid arguments. */
void run_options_parse(struct run_options *ret, int argc, char **argv);
void run_options_clear(struct run_options *options);

#endif
