/* sweep_launcher.c - see sweep_launcher.h */
#include "cmd/sim/sweep_launcher.h"

#include <stdlib.h>

#include "core/units.h"

/*
 * Ranks of a launcher, by what it puts into the environment: MPICH and its
 * kin, Open MPI, and srun (not sbatch, which has no step of its own).
 */
void sweep_find_launcher(struct sweep *sweep)
{
	static const char *const names[][2] = {
		{ "PMI_RANK", "PMI_SIZE" },
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
		{ "SLURM_PROCID", "SLURM_STEP_NUM_TASKS" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *rank = getenv(names[i][0]);
		const char *ranks = getenv(names[i][1]);
		int64_t r, n;

		if (rank && ranks &&
		    !parse_int(ranks, 2, 100000, "", &n, NULL) &&
		    !parse_int(rank, 0, n - 1, "", &r, NULL)) {
			sweep->rank = (unsigned)r;
			sweep->ranks = (unsigned)n;
			return;
		}
	}
}
