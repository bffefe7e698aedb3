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

/* The same, and once if it is *done already. */
int MPI_Win_flush_all(const bool *done);

/* Progresses UCX once; the request is p. */
int MPI_Ibsend(const void *p, int n, void *type, int to, int tag, void *comm,
	       const void **request);

/* Progresses UCX once. */
int MPI_Test(void);

#endif
