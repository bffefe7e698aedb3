/* random.c - named streams of random numbers, see random.h */
#include "core/random.h"

#include <math.h>

static uint64_t splitmix(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

void random_init(struct random_stream *r, uint64_t seed, const char *name,
		 uint64_t replication)
{
	uint64_t x = 0xcbf29ce484222325; /* FNV-1a over the name */

	for (; *name; name++)
		x = (x ^ (unsigned char)*name) * 0x100000001b3;
	x ^= splitmix(&seed);
	x = splitmix(&x) ^ replication;
	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix(&x);
}

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t random_bits(struct random_stream *r)
{
	uint64_t *s = r->s;
	uint64_t ret = rotl(s[0] + s[3], 23) + s[0];
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return ret;
}

double random_unit(struct random_stream *r)
{
	return ((double)(random_bits(r) >> 12) + 0.5) * 0x1p-52;
}

uint64_t random_below(struct random_stream *r, uint64_t n)
{
	uint64_t least = -n % n; /* 2^64 mod n: what would be drawn too often */
	uint64_t x;

	do
		x = random_bits(r);
	while (x < least);
	return x % n;
}

double random_uniform(struct random_stream *r, double low, double high)
{
	return low + random_unit(r) * (high - low);
}

double random_exponential(struct random_stream *r, double mean)
{
	return -mean * log(random_unit(r));
}

double random_exponential_in(struct random_stream *r, double mean, double low,
			     double high)
{
	double x;

	do
		x = random_exponential(r, mean);
	while (x < low || x > high);
	return x;
}
