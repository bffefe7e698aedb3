/*
 * late.c - ranks that wait for rank 0 in MPI_Init and in MPI_Finalize
 *
 *	late INIT FINALIZE	rank 0 enters each when that file is there
 *	late spawn		what comes of starting others is printed
 *	late spawn-fatal	it ends the job
 *	late join		what comes of joining another job
 *	late abort CODE		rank 1 calls MPI_Abort
 *
 * Each rank prints "in RANK" behind MPI_Init, "sum N" with the sum of all ranks
 * and, unless it is rank 0, goes on to MPI_Finalize at once.
 */
#include <unistd.h>

#include "common.h"

/* By the environment, whatever the launcher, because there is no MPI yet. */
static bool is_first(void)
{
	const char *rank = getenv("PMI_RANK");

	return rank && !strcmp(rank, "0");
}

static void wait_for(const char *file)
{
	while (is_first() && access(file, F_OK))
		usleep(10000);
}

static const char *answer(int error, int class)
{
	if (!error)
		return "done";
	return class == MPI_ERR_SPAWN ? "refused" : "failed";
}

static void spawn(bool fatal)
{
	char program[] = "/bin/true", *programs[] = { program };
	MPI_Info info = MPI_INFO_NULL;
	char text[MPI_MAX_ERROR_STRING];
	int n = 1, error, class;
	MPI_Comm others;

	if (!fatal)
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	error = MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, info, 0,
			       MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
	MPI_Error_class(error, &class);
	MPI_Error_string(error, text, &n);
	printf("spawn %s: %s\n", answer(error, class), text);
	n = 1;
	error = MPI_Comm_spawn_multiple(1, programs, MPI_ARGVS_NULL, &n, &info,
					0, MPI_COMM_WORLD, &others,
					MPI_ERRCODES_IGNORE);
	MPI_Error_class(error, &class);
	printf("several %s\n", answer(error, class));
}

static void join(void)
{
	MPI_Info info = MPI_INFO_NULL;
	MPI_Comm others;
	int error, class;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	error = MPI_Comm_connect("0.0:1", info, 0, MPI_COMM_WORLD, &others);
	MPI_Error_class(error, &class);
	printf("connect %d\n", class == MPI_ERR_UNSUPPORTED_OPERATION);
	error = MPI_Comm_accept("0.0:1", info, 0, MPI_COMM_WORLD, &others);
	MPI_Error_class(error, &class);
	printf("accept %d\n", class == MPI_ERR_UNSUPPORTED_OPERATION);
}

int main(int argc, char **argv)
{
	int rank, sum;

	if (argc == 3 && strcmp(argv[1], "abort"))
		wait_for(argv[1]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("in %d\nsum %d\n", rank, sum);
	fflush(stdout);
	if (argc == 2 && !strcmp(argv[1], "join"))
		join();
	else if (argc == 2)
		spawn(!strcmp(argv[1], "spawn-fatal"));
	else if (argc == 3 && strcmp(argv[1], "abort"))
		wait_for(argv[2]);
	else if (argc == 3 && rank == 1)
		MPI_Abort(MPI_COMM_WORLD, (int)strtol(argv[2], NULL, 10));
	MPI_Finalize();
	return 0;
}
