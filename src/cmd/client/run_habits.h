/*
 * run_habits.h - options that fingers know from mpirun(1) and srun(1)
 *
 * Those that mean just what one of stint run's means are aliases there
 * (run_options.c).  These mean something that Stint has not, or has otherwise.
 */
#ifndef CMD_CLIENT_RUN_HABITS_H
#define CMD_CLIENT_RUN_HABITS_H

#include <argp.h>

/* Hidden options, each of which is misuse and one line that says why. */
extern const struct argp run_habits;

#endif
