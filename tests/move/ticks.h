/*
 * ticks.h - time as it passes for this process: what is late, and what only waits its turn
 *
 * A thread of its own takes a turn of a processor for each tick.  Where others have
 * the processors the ticks are as late as who is waited for, and while the process
 * stands still, in a move, there are none; so what is many ticks late was not woken,
 * whatever the load.  There are never more of them than time for them has passed.
 */
#ifndef TICKS_H
#define TICKS_H

#include "check.h"

#define TICK 50000000ll

static _Atomic int64_t ticks_passed;
static _Atomic bool ticks_over;
static pthread_t ticks_thread;

static void *ticks_run(void *arg)
{
	const struct timespec tick = { .tv_nsec = TICK };

	while (!ticks_over) {
		CHECK(nanosleep(&tick, NULL) == 0);
		ticks_passed++;
	}
	return NULL;
}

static inline void ticks_begin(void)
{
	ticks_thread = check_thread(ticks_run, NULL);
}

static inline void ticks_end(void)
{
	ticks_over = true;
	check_join(ticks_thread);
	CHECK(ticks_passed > 0);
}

/*
 * How many nanoseconds have surely passed since ticks_passed had that value:
 * all ticks except one that had begun.
 */
static inline int64_t ticks_since(int64_t passed)
{
	int64_t n = ticks_passed - passed - 1;

	return n > 0 ? n * TICK : 0;
}

#endif
