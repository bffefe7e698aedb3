/*
 * rng.c - named streams of random numbers (xoshiro256++ over splitmix64)
 */
#include "core/rng.h"

#include <math.h>

static uint64_t splitmix(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

void rng_init(struct rng *rng, uint64_t seed, const char *name)
{
	uint64_t h = 0xcbf29ce484222325; /* FNV-1a of the name */

	for (const char *c = name; *c; c++)
		h = (h ^ (unsigned char)*c) * 0x100000001b3;
	h ^= splitmix(&seed);
	for (int i = 0; i < 4; i++)
		rng->s[i] = splitmix(&h);
}

static uint64_t rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotl(s[0] + s[3], 23) + s[0];
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

double rng_uniform(struct rng *rng)
{
	/* 52 bits and a half: the middles of equal cells, so never 0 or 1. */
	return ((double)(rng_next(rng) >> 12) + 0.5) * 0x1p-52;
}

int64_t rng_int(struct rng *rng, int64_t min, int64_t max)
{
	uint64_t range = (uint64_t)max - (uint64_t)min + 1;
	uint64_t x, limit;

	if (!range)
		return (int64_t)rng_next(rng);
	limit = -range % range; /* 2^64 mod range: draws below it are biased */
	do
		x = rng_next(rng);
	while (x < limit);
	return (int64_t)((uint64_t)min + x % range);
}

double rng_exponential(struct rng *rng, double mean)
{
	return -mean * log(rng_uniform(rng));
}

double rng_exponential_in(struct rng *rng, double mean, double min, double max)
{
	double x;

	do
		x = rng_exponential(rng, mean);
	while (x < min || x > max);
	return x;
}

double rng_hyperexponential(struct rng *rng, double p, double a, double b)
{
	return rng_exponential(rng, rng_uniform(rng) < p ? a : b);
}

double rng_normal(struct rng *rng, double mean, double sd)
{
	double r = sqrt(-2 * log(rng_uniform(rng)));

	return mean + sd * r * cos(2 * M_PI * rng_uniform(rng));
}
