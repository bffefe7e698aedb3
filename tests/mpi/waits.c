/*
 * waits.c - what waiting costs, for bench/mpi-waits
 *
 *	waits work STEPS N	N pieces of own work of STEPS each, by each rank
 *	waits allreduce STEPS N	... and an allreduce after each
 *	waits probe STEPS N	... and an MPI_Iprobe after each; nothing comes
 *	waits flush STEPS N	... and an MPI_Win_flush_all, of nothing
 *	waits receive MS	rank 0 waits MS milliseconds in MPI_Recv, or
 *				until SIGUSR1; ranks from 2 on wait in Finalize
 *
 * One JSON line by rank 0: the seconds it took, and the CPU seconds of the
 * rank itself meanwhile.
 */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

static volatile double sink;

static void work(long steps)
{
	double sum = 0;

	for (long i = 1; i <= steps; i++)
		sum += 1.0 / (double)i;
	sink = sum;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void work_and(const char *what, long steps, long n)
{
	double mine = 1, all;
	int came;

	for (long i = 0; i < n; i++) {
		work(steps);
		if (!strcmp(what, "allreduce"))
			MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM,
				      MPI_COMM_WORLD);
		else if (!strcmp(what, "probe"))
			MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &came,
				   MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD); /* the slowest rank counts */
}

static void work_and_flush(long steps, long n)
{
	double mine = 1;
	MPI_Win win;

	MPI_Win_create(&mine, sizeof(mine), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
		       &win);
	MPI_Win_lock_all(0, win);
	for (long i = 0; i < n; i++) {
		work(steps);
		MPI_Win_flush_all(win);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}

static void interrupted(int sig)
{
	(void)sig;
}

/*
 * Wait for SIGUSR1, which has been blocked since before MPI made threads, or
 * for so long. It interrupts the waits of the other ranks, which must go on.
 */
static void sleep_until_told(long ms, const sigset_t *usr1)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	sigtimedwait(usr1, NULL, &t);
}

static void receive(int rank, long ms, const sigset_t *usr1)
{
	char c = 'w';

	if (rank != 1)
		sigprocmask(SIG_UNBLOCK, usr1, NULL);
	if (rank == 0) {
		c = 0;
		puts("waiting");
		fflush(stdout);
		MPI_Recv(&c, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (c != 'w')
			fail("got %d", c);
	} else if (rank == 1) {
		sleep_until_told(ms, usr1);
		MPI_Send(&c, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	double start, cpu;
	sigset_t usr1;
	int rank;

	signal(SIGUSR1, interrupted);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc < 3)
		fail("usage: waits work|allreduce|probe|flush STEPS N, or receive MS");
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	cpu = cpu_seconds();
	if (!strcmp(argv[1], "receive"))
		receive(rank, strtol(argv[2], NULL, 10), &usr1);
	else if (argc > 3 && !strcmp(argv[1], "flush"))
		work_and_flush(strtol(argv[2], NULL, 10),
			       strtol(argv[3], NULL, 10));
	else if (argc > 3)
		work_and(argv[1], strtol(argv[2], NULL, 10),
			 strtol(argv[3], NULL, 10));
	if (rank == 0)
		printf("{\"seconds\":%.6f,\"cpu\":%.6f}\n", MPI_Wtime() - start,
		       cpu_seconds() - cpu);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
