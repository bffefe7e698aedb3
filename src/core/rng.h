/*
 * rng.h - named streams of random numbers
 *
 * A stream is determined by a seed and a name ("arrivals", "sizes"), so that
 * two policies compared on one seed see the same workload whatever else they
 * draw: common random numbers.  The generator is xoshiro256++ (Blackman and
 * Vigna, public domain), seeded by splitmix64; the same seed and name give
 * the same numbers on every machine.
 */
#ifndef CORE_RNG_H
#define CORE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_init(struct rng *rng, uint64_t seed, const char *name);

uint64_t rng_next(struct rng *rng);

/* Uniform in the open interval (0, 1): never 0, so its logarithm exists. */
double rng_uniform(struct rng *rng);

/* A whole number, uniform in [min, max], without bias. */
int64_t rng_int(struct rng *rng, int64_t min, int64_t max);

double rng_exponential(struct rng *rng, double mean);

/* Exponential, draws outside [min, max] discarded (not clamped). */
double rng_exponential_in(struct rng *rng, double mean, double min, double max);

/* One of two exponentials: mean a with probability p, else mean b. */
double rng_hyperexponential(struct rng *rng, double p, double a, double b);

double rng_normal(struct rng *rng, double mean, double sd);

#endif
