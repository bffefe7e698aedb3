/*
 * kernels.c - runs one of the kernels of kernels.h for so many steps: what
 * bench/decider moves among loaded hosts
 *
 *	kernels NAME STEPS
 *
 * Two runs of as many steps print the same result, wherever their ranks were.
 */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kernel *const kernels[] = {
	&kernel_cg, &kernel_ep, &kernel_ft, &kernel_is, &kernel_lu, &kernel_mg,
};

/* Only rank 0 prints; all ranks call this. */
static int explain(int rank)
{
	if (rank == 0)
		fprintf(stderr, "usage: kernels cg|ep|ft|is|lu|mg STEPS\n");
	MPI_Finalize();
	return 2;
}

void *kernel_alloc(size_t nr, size_t size)
{
	void *p = calloc(nr, size);

	if (p)
		return p;
	fprintf(stderr, "kernels: out of memory\n");
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

uint64_t kernel_hash(uint64_t n)
{
	n = (n + 1) * 0x9e3779b97f4a7c15ull;
	n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ull;
	return n ^ (n >> 29);
}

double kernel_unit(uint64_t n)
{
	return (double)(kernel_hash(n) >> 11) / 9007199254740992.0;
}

static const struct kernel *find(const char *name)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		if (!strcmp(kernels[i]->name, name))
			return kernels[i];
	return NULL;
}

/* Added up in the order of ranks, so that it is rounded alike each time. */
static double sum_of_all(double mine, int rank, int nr)
{
	double *all = kernel_alloc((size_t)nr, sizeof(*all)), sum = 0;

	MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	for (int i = 0; rank == 0 && i < nr; i++)
		sum += all[i];
	free(all);
	return sum;
}

static void run(const struct kernel *k, int steps, int rank, int nr)
{
	void *state = k->begin(rank, nr);
	double begin, sum;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int i = 0; i < steps; i++)
		k->step(state, i);
	sum = sum_of_all(k->sum(state), rank, nr);
	if (rank)
		return;
	printf("result %s steps=%d sum=%a\n", k->name, steps, sum);
	fprintf(stderr, "%s: %.3f s\n", k->name, MPI_Wtime() - begin);
}

int main(int argc, char **argv)
{
	const struct kernel *k = NULL;
	int rank, nr, steps = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &nr);
	if (argc == 3) {
		k = find(argv[1]);
		steps = atoi(argv[2]);
	}
	if (!k || steps < 1)
		return explain(rank);
	run(k, steps, rank, nr);
	MPI_Finalize();
	return 0;
}
