/*
 * rounds.c - what messages take, again and again, for bench/mpi-beside
 *
 * Two ranks, until they are ended.  A line for each round of some 50 ms: its end
 * (CLOCK_REALTIME, seconds), and the medians, in microseconds, of half a round trip of 1 byte
 * and of 8 kB, and of an allreduce of 8 bytes and of 8 kB after a barrier.
 */
#include "common.h"

enum { TIMES = 400, BIG = 8192 };

static unsigned char out[BIG], in[BIG];
static double took[TIMES];

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(int n)
{
	qsort(took, (size_t)n, sizeof(*took), compare);
	return took[n / 2] * 1e6;
}

static double half_round_trip(int rank, int bytes, int times)
{
	for (int i = 0; i < times; i++) {
		double start = MPI_Wtime();

		if (rank == 0)
			MPI_Send(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(in, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
		took[i] = (MPI_Wtime() - start) / 2;
	}
	return median(times);
}

/* As OSU's benchmark: the barrier is not in it. */
static double allreduce(int bytes, int times)
{
	for (int i = 0; i < times; i++) {
		double start = MPI_Wtime();

		MPI_Allreduce(out, in, bytes / 4, MPI_FLOAT, MPI_SUM,
			      MPI_COMM_WORLD);
		took[i] = MPI_Wtime() - start;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	return median(times);
}

int main(int argc, char **argv)
{
	double t[4];
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2)
		fail("two ranks are needed");
	memset(out, 1,
	       sizeof(out)); /* pages of its own, not the kernel's page of zeros */
	memset(in, 1, sizeof(in));
	for (;;) {
		t[0] = half_round_trip(rank, 1, TIMES);
		t[1] = half_round_trip(rank, BIG, TIMES / 2);
		t[2] = allreduce(8, TIMES);
		t[3] = allreduce(BIG, TIMES / 2);
		if (rank == 0) {
			printf("%.4f %.3f %.3f %.3f %.3f\n",
			       (double)real_ns() / 1e9, t[0], t[1], t[2], t[3]);
			fflush(stdout);
		}
	}
}
