/*
 * preload_openmpi.c - in libstint-pmi.so: Open MPI is not started silently as
 * many jobs of one rank
 *
 * Open MPI finds its other ranks by PMIx, which Stint has not wired up.  Without
 * it each rank thinks itself alone, and computes all of the result.  So where it
 * begins, in a job of several ranks, the rank ends with the reason.
 *
 * It may be linked to, or opened by an interpreter (mpi4py): what it calls in
 * its beginning is looked up here first all the same.  Not seen are programs
 * that Open MPI is linked into statically.
 *
 * ompi_mpi_init() is what all of MPI_Init's forms come to up to Open MPI 5;
 * sessions and other programs of PMIx come by PMIx_Init().
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmi/preload.h"

enum { CANNOT_BE_RUN = 126 };

/* Both take at most five words, whatever these are in the one or the other. */
int ompi_mpi_init(long a, long b, long c, long d, long e);
int PMIx_Init(long a, long b, long c, long d, long e);

/* Somebody's own mpirun, inside of a rank, tells its ranks where they belong. */
static int has_other_launcher(void)
{
	return getenv("PMIX_NAMESPACE") || getenv("PMIX_RANK");
}

static void refuse_many(void)
{
	static const char why[] =
		"stint run: this program uses Open MPI (or PMIx), whose ranks "
		"cannot be brought together yet: each would run as a job of its "
		"own. Build it with MPICH (mpicc.mpich), or run it with -n 1.\n";
	const char *size = getenv("PMI_SIZE");

	if (!size || strtol(size, NULL, 10) < 2 || has_other_launcher())
		return;
	(void)!write(STDERR_FILENO, why, strlen(why));
	_exit(CANNOT_BE_RUN);
}

static int call(const char *name, const long *args)
{
	int (*real)(long, long, long, long, long) = preload_next(name);

	return real ? real(args[0], args[1], args[2], args[3], args[4]) : -1;
}

PRELOAD_EXPORT int ompi_mpi_init(long a, long b, long c, long d, long e)
{
	refuse_many();
	return call("ompi_mpi_init", (long[]){ a, b, c, d, e });
}

PRELOAD_EXPORT int PMIx_Init(long a, long b, long c, long d, long e)
{
	refuse_many();
	return call("PMIx_Init", (long[]){ a, b, c, d, e });
}
