/* sweep_launcher.h - is this one of several processes that do a sweep together? */
#ifndef CMD_SIM_SWEEP_LAUNCHER_H
#define CMD_SIM_SWEEP_LAUNCHER_H

#include "sim/sweep/sweep.h"

/* Set rank and ranks of sweep, where mpiexec or srun has started us as one of several. */
void sweep_find_launcher(struct sweep *sweep);

#endif
