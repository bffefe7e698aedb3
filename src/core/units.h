/*
 * units.h - times, sizes and numbers, and parsing them
 *
 * Time is counted in whole microseconds (usec_t), so that the same input gives
 * the same bytes on every machine.
 */
#ifndef CORE_UNITS_H
#define CORE_UNITS_H

#include <stdint.h>

#include "core/error.h"

typedef int64_t usec_t;

#define USEC_PER_SEC  ((usec_t)1000000)
#define USEC_PER_MSEC ((usec_t)1000)
#define USEC_PER_HOUR (3600 * USEC_PER_SEC)
#define USEC_PER_DAY  (24 * USEC_PER_HOUR)
#define USEC_MAX      INT64_MAX

/* The sum; USEC_MAX, which stands for never, if that cannot be counted.  b >= 0. */
static inline usec_t usec_add(usec_t a, usec_t b)
{
	usec_t sum;

	return __builtin_add_overflow(a, b, &sum) ? USEC_MAX : sum;
}

/* For what is computed in real numbers, or shown. */
static inline double usec_to_seconds(usec_t t)
{
	return (double)t / USEC_PER_SEC;
}

/* For the kernel's nanoseconds (struct timespec). */
#define NSEC_PER_SEC  INT64_C(1000000000)
#define NSEC_PER_MSEC INT64_C(1000000)
#define NSEC_PER_USEC INT64_C(1000)

/*
 * "90", "1.5s", "250ms", "30min", "2h", "1d": a bare number is seconds.
 * Refuses negative, overflowing and trailing text.
 */
int parse_usec(const char *text, usec_t *ret, struct error *err) must_check;

/*
 * Makes a clock that people set never go back: a step forward is followed; when
 * it is set back, onward() continues from the last value, at the pace of
 * `tick`, a clock that nobody sets.  Initially all 0.
 */
struct onward {
	usec_t last, tick;
};
usec_t onward(struct onward *o, usec_t clock, usec_t tick);

/*
 * Bytes: "65536", "64K", "256M", "1.5G", "2T", also "1GiB" and "1GB": each unit
 * is 1024 of the one before.  Refuses negative, overflowing and trailing text.
 */
int parse_size(const char *text, uint64_t *ret, struct error *err) must_check;

/* "256 MiB": bytes in the largest unit that gives at least 1, for people. */
#define SIZE_TEXT 32
const char *size_text(uint64_t bytes, char ret[SIZE_TEXT]);

/*
 * As llround(), below 2^63.  Keepers use no more of the mathematical library than that,
 * and each process that they fork pays for a library.
 */
static inline int64_t whole(double v)
{
	int64_t i = (int64_t)v;
	double rest = v - (double)i;

	return rest >= 0.5 ? i + 1 : rest <= -0.5 ? i - 1 : i;
}

/* A whole decimal number in [min, max]; `what` names it in the error. */
int parse_int(const char *text, int64_t min, int64_t max, const char *what,
	      int64_t *ret, struct error *err) must_check;

/* A number in [min, max], all of text. */
int parse_real(const char *text, double min, double max, double *ret,
	       struct error *err) must_check;

/* With as few digits as parse_real() needs to read exactly it again. */
#define REAL_TEXT 32
const char *real_text(double v, char ret[REAL_TEXT]);

#endif
