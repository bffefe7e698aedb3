/*
 * talk.c - ranks that send each other known amounts, and stay
 *
 *	talk MEGABYTES
 *
 * Rank r sends 2 (r + 1) messages of so many million bytes to the next one, and
 * half as many to the one before; rank 0 says when all have come, and all wait
 * until they are ended.
 */
#include "common.h"

#include <unistd.h>

#define MILLION 1000000

static void swap(unsigned char *buf, int n, int to, int from)
{
	static unsigned char got[100 * MILLION];

	MPI_Sendrecv(buf, n, MPI_BYTE, to, 0, got, sizeof(got), MPI_BYTE, from,
		     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, size, n = argc > 1 ? atoi(argv[1]) * MILLION : 0;
	unsigned char *buf;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	buf = calloc(1, 100 * MILLION);
	if (!buf || n <= 0 || n > 100 * MILLION || size < 2)
		fail("usage: talk MEGABYTES (at most 100), with two ranks or more");
	for (int i = 0; i < 2 * size; i++) {
		int next = (rank + 1) % size, last = (rank + size - 1) % size;

		/* A rank that has sent enough sends messages of no bytes. */
		swap(buf, i < 2 * (rank + 1) ? n : 0, next, last);
		swap(buf, i < rank + 1 ? n : 0, last, next);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank) {
		puts("all have come");
		fflush(stdout);
	}
	for (;;)
		pause();
}
