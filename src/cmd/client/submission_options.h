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

/* A child of the command's; its input is a struct submission. */
extern const struct argp submission_argp;

#endif
