/*
 * kernels.h - MPI programs of the shapes of the NAS parallel benchmarks
 *
 * Overeinder 2000 section 7.6.3 says what matters of each: how much it computes
 * between two messages, who talks to whom, and how large a rank is.  That is
 * what these have in common with them; they solve nothing.
 */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct kernel {
	const char *name;
	void *(*begin)(int rank, int nr);
	void (*step)(void *state, int step); /* all steps cost the same */
	double (*sum)(const void *state);    /* of this rank: its result */
};

extern const struct kernel kernel_cg, kernel_ep, kernel_ft, kernel_is,
	kernel_lu, kernel_mg;

/* Zeroed memory; ends the job if there is none. */
void *kernel_alloc(size_t nr, size_t size);
/*
 * Numbers that look random and depend on n alone; the second one is in [0, 1).
 */
uint64_t kernel_hash(uint64_t n);
double kernel_unit(uint64_t n);

#endif
