/*
 * fake_ompi.c - as much of Open MPI as begins: what MPI_Init() calls
 *
 * Nothing of it is in Debian's packages that the tests need, and it could not
 * be installed beside MPICH without taking mpicc over.
 */
#include "fake_ompi.h"

#include <stdbool.h>
#include <stdio.h>

/* Of libmpi.so.40: exported, and called as whoever comes first has it. */
int ompi_mpi_init(int argc, char **argv, int requested, int *provided,
		  bool reinit_ok)
{
	*provided = requested + argc + (argv ? 1 : 0) + reinit_ok;
	return 0;
}

int MPI_Init(void)
{
	int provided = 0;
	int r = ompi_mpi_init(3, (char *[]){ NULL }, 20, &provided, true);

	printf("a rank, alone: %d %d\n", r, provided);
	return r;
}
