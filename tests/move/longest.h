/*
 * longest.h - a thread that notes the longest time in which its process did not
 * run
 */
#ifndef TESTS_MOVE_LONGEST_H
#define TESTS_MOVE_LONGEST_H

#include "check.h"

static volatile int64_t longest; /* ns */
static volatile bool longest_done;

/* Wakes up every 100 us and notes how long it really took. */
static void *longest_watch(void *arg)
{
	struct timespec nap = { .tv_nsec = 100000 };
	int64_t last = check_clock(CLOCK_REALTIME), now;

	while (!longest_done) {
		nanosleep(&nap, NULL);
		now = check_clock(CLOCK_REALTIME);
		if (now - last > longest)
			longest = now - last;
		last = now;
	}
	return NULL;
}

/* In milliseconds; ends the thread. */
static inline double longest_end(pthread_t watcher)
{
	longest_done = true;
	check_join(watcher);
	return (double)longest / 1e6;
}

#endif
