/*
 * pingpong.c - latency and bandwidth between ranks 0 and 1
 *
 *	pingpong [REPETITIONS [MS]]
 *
 * MS: for so long the ranks exchange single bytes before anything is measured, since
 * a capsule gets its fast path some time after its rank has begun.
 * One JSON line: half the median round trip of 1 byte and of 100 KB in
 * microseconds, and the bandwidth of 1 MB messages (median) in bytes a second.
 */
#include "common.h"

#define MIDDLE 100000
#define BIG    1000000

static unsigned char buf[BIG];

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* A message from rank 0 to rank 1, and one back. */
static void exchange(int rank, int n)
{
	if (rank == 0)
		MPI_Send(buf, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
	MPI_Recv(buf, n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	if (rank == 1)
		MPI_Send(buf, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

/*
 * Exchange single bytes until that time; rank 0's byte says whether to go on.
 */
static void settle(int rank, double end)
{
	do {
		if (rank == 0)
			buf[0] = MPI_Wtime() < end;
		exchange(rank, 1);
	} while (buf[0]);
}

/* The median time of a round trip of n bytes, in seconds. */
static double round_trip(int rank, int n, int times)
{
	double *took = calloc((size_t)times, sizeof(*took)), median;

	if (!took)
		fail("out of memory");
	for (int i = -times / 10; i < times; i++) {
		double start = MPI_Wtime();

		exchange(rank, n);
		if (i >= 0)
			took[i] = MPI_Wtime() - start;
	}
	qsort(took, (size_t)times, sizeof(*took), compare);
	median = took[times / 2];
	free(took);
	return median;
}

int main(int argc, char **argv)
{
	long times = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	long ms = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	double small, middle, big;
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2 || times < 10)
		fail("usage: pingpong [REPETITIONS >= 10 [MS]], with two ranks");
	if (ms > 0)
		settle(rank, MPI_Wtime() + (double)ms / 1e3);
	small = round_trip(rank, 1, (int)times);
	middle = round_trip(rank, MIDDLE, (int)times / 4);
	big = round_trip(rank, BIG, (int)times / 10);
	if (rank == 0)
		printf("{\"latency_us\":%.3f,\"middle_us\":%.3f,"
		       "\"bandwidth\":%.0f,\"n\":%ld}\n",
		       small / 2 * 1e6, middle / 2 * 1e6, 2 * BIG / big, times);
	MPI_Finalize();
	return 0;
}
