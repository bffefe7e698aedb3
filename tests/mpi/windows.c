/*
 * windows.c - ranks put into each other's memory until a file is there
 *
 *	windows FILE
 *
 * In each round every rank puts the round's number into its right neighbour, adds
 * one to a counter of rank 0, and looks at what its left neighbour has put.
 * Prints a line when that begins and, if no round was wrong, one at the end.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { LEFT, COUNTER, OVER, SLOTS };

static long slots[SLOTS]; /* memory that other ranks write */

static void put_round(MPI_Win win, int rank, int n, long round)
{
	const long one = 1;

	MPI_Win_fence(0, win);
	MPI_Put(&round, 1, MPI_LONG, (rank + 1) % n, LEFT, 1, MPI_LONG, win);
	MPI_Accumulate(&one, 1, MPI_LONG, 0, COUNTER, 1, MPI_LONG, MPI_SUM,
		       win);
	MPI_Win_fence(0, win);
}

/* Rank 0 uses the window to say when it is over as well. */
static void put_over(MPI_Win win, int rank, int n, const char *file)
{
	const long over = rank == 0 && access(file, F_OK) == 0;

	for (int i = 0; over && i < n; i++)
		MPI_Put(&over, 1, MPI_LONG, i, OVER, 1, MPI_LONG, win);
	MPI_Win_fence(0, win);
}

int main(int argc, char **argv)
{
	int rank, n;
	long round = 0;
	MPI_Win win;

	if (argc != 2)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Win_create(slots, sizeof(slots), sizeof(*slots), MPI_INFO_NULL,
		       MPI_COMM_WORLD, &win);
	printf("window of %d\n", rank);
	fflush(stdout);
	while (!slots[OVER]) {
		put_round(win, rank, n, ++round);
		if (slots[LEFT] != round ||
		    (rank == 0 && slots[COUNTER] != n * round)) {
			printf("round %ld of %d: %ld, %ld\n", round, rank,
			       slots[LEFT], slots[COUNTER]);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		put_over(win, rank, n, argv[1]);
	}
	MPI_Win_free(&win);
	printf("right\n");
	MPI_Finalize();
	return 0;
}
