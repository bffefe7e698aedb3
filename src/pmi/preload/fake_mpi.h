/*
 * fake_mpi.h - an MPI whose calls look at UCX as MPICH's do, for
 * test_wait.c
 */
#ifndef PMI_PRELOAD_FAKE_MPI_H
#define PMI_PRELOAD_FAKE_MPI_H

#include <stdbool.h>

/* What MPI_Query_thread() says from now on. */
void fake_mpi_thread_level(int level);

int MPI_Init(int *argc, char ***argv);
int MPI_Query_thread(int *level);

/* Looks at UCX until *done. */
int MPI_Recv(const bool *done);

/* Looks once. */
int MPI_Test(void);

#endif
