/* clock.c - the time as whole numbers, see clock.h */
#include "core/clock.h"

int64_t clock_nsec(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

usec_t clock_usec(clockid_t clock)
{
	return clock_nsec(clock) / 1000;
}
