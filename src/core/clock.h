/*
 * clock.h - the time as whole numbers, for the rooms that may read clocks
 *
 * Not for model and policy: drivers pass them the time.
 */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "core/units.h"

/*
 * For clocks that every kernel has (CLOCK_REALTIME, CLOCK_MONOTONIC): cannot
 * fail.
 */
int64_t clock_nsec(clockid_t clock);
usec_t clock_usec(clockid_t clock);

/* Nanoseconds (may be negative) to a normalized struct timespec, and back. */
struct timespec clock_timespec(int64_t ns);
int64_t clock_of_timespec(const struct timespec *t);

#endif
