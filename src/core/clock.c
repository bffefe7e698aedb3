/* clock.c - the time as whole numbers, see clock.h */
#include "core/clock.h"

#include "core/units.h"

int64_t clock_of_timespec(const struct timespec *t)
{
	return t->tv_sec * NSEC_PER_SEC + t->tv_nsec;
}

struct timespec clock_timespec(int64_t ns)
{
	struct timespec t = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };

	if (t.tv_nsec < 0) {
		t.tv_nsec += NSEC_PER_SEC;
		t.tv_sec--;
	}
	return t;
}

int64_t clock_nsec(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return clock_of_timespec(&t);
}

usec_t clock_usec(clockid_t clock)
{
	return clock_nsec(clock) / 1000;
}
