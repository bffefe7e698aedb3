/*
 * clock.h - the time as whole numbers, for those who may know it
 *
 * Not for model and policy, which are told the time they reckon with.
 */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "core/units.h"

/* One that is always there: CLOCK_REALTIME, CLOCK_MONOTONIC and the like. */
int64_t clock_nsec(clockid_t clock);
usec_t clock_usec(clockid_t clock);

/* Nanoseconds, negative ones too, as a struct timespec wants them, and back. */
struct timespec clock_timespec(int64_t ns);
int64_t clock_of_timespec(const struct timespec *t);

#endif
