/*
 * stall.c - the longest pause that each rank feels, by CLOCK_REALTIME
 *
 *	stall [SECONDS [MEGABYTES]]
 *
 * Ranks exchange small messages with both neighbours as fast as they can and
 * note the longest time between two exchanges: a move of one rank shows at
 * its peers as well.  MEGABYTES is memory that each rank fills first and then
 * writes at 10 000 pages a second.  Prints one JSON line per rank.
 */
#include "common.h"

#define PAGE 4096ul

static struct {
	unsigned char *mem;
	size_t pages;
	uint64_t seed;
	int64_t last;
} load;

static void write_pages(int64_t now)
{
	int64_t due = (now - load.last) / 100000; /* one in 100 us */

	if (!load.pages || due <= 0)
		return;
	load.last += due * 100000;
	for (int64_t i = 0; i < due && i < 1000; i++) {
		size_t page = mix(load.seed++) % load.pages;

		load.mem[page * PAGE + (load.seed & 4095)]++;
	}
}

static int64_t exchange(int rank, int size)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	int64_t start = real_ns(), out[2] = { start, rank }, in[2];

	MPI_Sendrecv(out, 2, MPI_INT64_T, right, 0, in, 2, MPI_INT64_T, left, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (in[1] != left)
		fail("a message from rank %lld", (long long)in[1]);
	return real_ns();
}

static void report(int rank, int size, int64_t longest, uint64_t count)
{
	for (int r = 0; r < size; r++) {
		if (r == rank) {
			printf("{\"rank\":%d,\"longest_ms\":%.3f,"
			       "\"exchanges\":%llu}\n",
			       rank, (double)longest / 1e6,
			       (unsigned long long)count);
			fflush(stdout);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 10;
	double mb = argc > 2 ? strtod(argv[2], NULL) : 0;
	int64_t longest = 0, last, end;
	uint64_t count = 0;
	int rank, size, on = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	load.pages = (size_t)(mb * 256);
	load.mem = malloc(load.pages * PAGE + 1);
	if (!load.mem)
		fail("out of memory");
	make_bytes(load.mem, load.pages * PAGE, (uint64_t)rank);
	/* the first messages make the connections: they are not measured */
	for (int i = 0; i < 1000; i++)
		exchange(rank, size);
	MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		printf("started\n");
		fflush(stdout);
	}
	last = load.last = real_ns();
	end = last + (int64_t)(seconds * 1e9);
	while (on) {
		int64_t now = exchange(rank, size);

		if (now - last > longest)
			longest = now - last;
		last = now;
		write_pages(now);
		if (++count % 256)
			continue;
		on = now < end; /* rank 0's clock decides for all */
		MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	report(rank, size, longest, count);
	MPI_Finalize();
	return 0;
}
