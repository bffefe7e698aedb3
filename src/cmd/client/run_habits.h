/*
 * run_habits.h - options that users know from mpirun(1) and srun(1)
 *
 * Those with the same meaning as an option of stint run are aliases there
 * (run_options.c).  The ones here have no equivalent, or a different one.
 */
#ifndef CMD_CLIENT_RUN_HABITS_H
#define CMD_CLIENT_RUN_HABITS_H

#include <argp.h>

/* Hidden options, each of which is misuse and one line that says why. */
extern const struct argp run_habits;

#endif
