/*
 * submission_options.h - the options of `stint run` and `stint submit`
 *
 * Long options may have one dash.  Options of mpirun(1) and srun(1) that Stint
 * lacks are refused with a line that names the alternative (run_habits.h).
 */
#ifndef CMD_CLIENT_SUBMISSION_OPTIONS_H
#define CMD_CLIENT_SUBMISSION_OPTIONS_H

#include <argp.h>

#include "cmd/client/submission.h"

/* The command's; their inputs are a struct submission and a struct client_options. */
extern const struct argp_child submission_children[];

#endif
