/*
 * common.h - what the MPI test programs share
 */
#ifndef COMMON_H
#define COMMON_H

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Any rank: print what is wrong, and end the job with status 1. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void fail(
	const char *fmt, ...)
{
	char text[256];
	int rank;
	va_list ap;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "FAIL rank %d: %s\n", rank, text);
	fflush(stderr);
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

/* CLOCK_REALTIME in nanoseconds: no time namespace hides a pause from it. */
static inline int64_t real_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static inline uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Fill n bytes in a way that depends on the seed alone (splitmix64). */
static inline void make_bytes(unsigned char *p, size_t n, uint64_t seed)
{
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t v = mix(seed += 0x9e3779b97f4a7c15ull);

		memcpy(p + i, &v, 8);
	}
	if (i < n) {
		uint64_t v = mix(seed + 0x9e3779b97f4a7c15ull);

		memcpy(p + i, &v, n - i);
	}
}

/* The index of the first byte that is not as make_bytes() makes it, or -1. */
static inline long wrong_byte(const unsigned char *p, size_t n, uint64_t seed)
{
	for (size_t i = 0; i < n; i += 8) {
		uint64_t v = mix(seed += 0x9e3779b97f4a7c15ull);

		if (!memcmp(p + i, &v, n - i < 8 ? n - i : 8))
			continue;
		for (size_t k = 0; k < 8 && i + k < n; k++)
			if (p[i + k] != ((unsigned char *)&v)[k])
				return (long)(i + k);
	}
	return -1;
}

#endif
