/* await.c - waiting for news of traced threads; see tracee.h */
#include <signal.h>
#include <time.h>

#include "core/clock.h"
#include "core/units.h"
#include "move/tracee/tracee.h"

bool tracee_await(bool (*look)(void *arg), void *arg, usec_t limit)
{
	/* SIGCHLD signals events, unless it is ignored */
	const struct timespec slice = { .tv_nsec = NSEC_PER_MSEC };
	usec_t end = clock_usec(CLOCK_MONOTONIC) + limit;
	bool done = look(arg);
	sigset_t chld, old;

	if (done)
		return true;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &old);
	while (!(done = look(arg)) && clock_usec(CLOCK_MONOTONIC) < end)
		sigtimedwait(&chld, NULL, &slice);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return done;
}
