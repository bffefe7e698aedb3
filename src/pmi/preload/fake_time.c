#include "pmi/preload/fake_time.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "pmi/preload/idle.h"

struct fake_time t;

int clock_gettime(clockid_t id, struct timespec *ret)
{
	t.clock_reads++;
	*ret = (struct timespec){ t.now / 1000000000, t.now % 1000000000 };
	return 0;
}

int sched_yield(void)
{
	t.yields++;
	t.now += t.yield;
	return 0;
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
	  const sigset_t *mask)
{
	t.waits++;
	t.last_wait = timeout->tv_nsec;
	t.nr_fds = n;
	memcpy(t.fds, fds, (n < 4 ? n : 4) * sizeof(*fds));
	if (!t.ready)
		t.now += timeout->tv_nsec;
	errno = EINTR;
	return t.ready;
}

int set_up(void **state)
{
	int64_t now = t.now ? t.now : START; /* it never goes back */

	memset(&t, 0, sizeof(t));
	t.now = now;
	t.yield = 200;
	idle_allow(IDLE_BLOCK);
	return 0;
}

void call(bool progressed)
{
	idle_enter();
	idle_looked(7, POLLIN, false);
	t.now += POLL_NS;
	idle_leave(progressed);
}

void calls(int n)
{
	while (n--)
		call(false);
}

void forget_sharing(void)
{
	t.now += 1000 * INT64_C(1000000);
	for (int i = 0; i < 8; i++) {
		call(true);
		calls(2);
	}
	t.waits = 0;
	while (!t.waits) /* ends by its bound, and with no event */
		call(false);
	call(true);
	t.waits = t.clock_reads = t.yields = 0;
}

int64_t wait_of_a_row(int ready)
{
	t.ready = ready;
	t.waits = 0;
	while (!t.waits)
		call(false);
	t.ready = 0;
	return t.last_wait;
}
