/* fake_ompi.h - see fake_ompi.c */
#ifndef FAKE_OMPI_H
#define FAKE_OMPI_H

#include <stdbool.h>

int ompi_mpi_init(int argc, char **argv, int requested, int *provided,
		  bool reinit_ok);
int MPI_Init(void);

#endif
