/*
 * run_options.h - the command line of stint run
 *
 * Long options may have one dash.  What mpirun(1) and srun(1) have and Stint has
 * not is answered in a line that says what there is instead (run_habits.h).
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

/* Exits at what is not understood. */
void run_options_parse(struct run_options *ret, int argc, char **argv);
void run_options_clear(struct run_options *options);

#endif
