/*
 * random.h - named streams of random numbers
 *
 * A stream depends on a seed, the name of its purpose and the number of the
 * replication, and on nothing else: what one part of a simulation draws never
 * shifts the numbers of another part.  So two policies see the same arrivals
 * (common random numbers), and the same seed gives the same bytes everywhere.
 *
 * xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", 2021), its state filled by SplitMix64.  GSL's generators are
 * seeded with only 32 bits: of the ten thousand or so streams of a sweep, two
 * would soon be equal.
 */
#ifndef CORE_RANDOM_H
#define CORE_RANDOM_H

#include <stdint.h>

struct random_stream {
	uint64_t s[4];
};

/* Always succeeds; name is not kept. */
void random_init(struct random_stream *r, uint64_t seed, const char *name,
		 uint64_t replication);

uint64_t random_bits(struct random_stream *r);

/* Uniform in the open interval (0, 1): its logarithm is finite. */
double random_unit(struct random_stream *r);

/* Uniform among 0 .. n-1, without bias; n > 0. */
uint64_t random_below(struct random_stream *r, uint64_t n);

/* Uniform in (low, high). */
double random_uniform(struct random_stream *r, double low, double high);

/* Exponential with that mean. */
double random_exponential(struct random_stream *r, double mean);

/* The same, draws outside [low, high] discarded (not clamped). */
double random_exponential_in(struct random_stream *r, double mean, double low,
			     double high);

#endif
