/*
 * fake_mpi.h - an MPI whose calls progress UCX as MPICH's do, for test_wait.c
 */
#ifndef PMI_PRELOAD_FAKE_MPI_H
#define PMI_PRELOAD_FAKE_MPI_H

#include <stdbool.h>

/* Sets what MPI_Query_thread() returns. */
void fake_mpi_thread_level(int level);

int MPI_Init(int *argc, char ***argv);
int MPI_Query_thread(int *level);

/* Progresses UCX until *done. */
int MPI_Recv(const bool *done);

/* Progresses UCX once. */
int MPI_Test(void);

#endif
