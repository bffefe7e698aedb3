/*
 * clocks.c - the clocks of a process go on, and what depends on them keeps time
 *
 * CLOCK_MONOTONIC and CLOCK_BOOTTIME, read by several threads, never go back,
 * and keep their distance from the wall clock, which is the same on both
 * hosts here.  Periodic timers keep their rhythm: no tick more, none less.
 * What shall happen at an instant happens then.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "ticks.h"

#define MS     1000000ll
#define SEC    (1000 * MS)
#define PERIOD (20 * MS)
#define OFF    (SEC / 5) /* a clock may be off by so much; a jump is more */
/* Moves may make timers late by the time it takes to read them. */
#define SLOP   (9 * MS)

static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME };
static _Atomic int64_t last[2];
static int64_t distance[2];

static void look_at(int i)
{
	int64_t before = last[i], real = check_clock(CLOCK_REALTIME);
	int64_t now = check_clock(clocks[i]), off = real - now - distance[i];

	CHECK(off < OFF, "clock %d is behind by %.6f s", clocks[i],
	      (double)off / SEC);
	off = check_clock(CLOCK_REALTIME) - now - distance[i];
	CHECK(off > -OFF, "clock %d is ahead by %.6f s", clocks[i],
	      (double)-off / SEC);

	CHECK(now >= before, "clock %d went back by %.6f s", clocks[i],
	      (double)(before - now) / SEC);
	while (now > before &&
	       !atomic_compare_exchange_weak(&last[i], &before, now))
		;
}

static void *run(void *arg)
{
	while (check_running()) {
		look_at(0);
		look_at(1);
	}
	return NULL;
}

/* Sleep until an instant of a clock: not less than that. */
static void *sleep_until(void *arg)
{
	while (check_running())
		for (int i = 0; i < 2; i++) {
			int64_t end = check_clock(clocks[i]) + 70 * MS, now;
			struct timespec ts = { end / SEC, end % SEC };
			int64_t passed = ticks_passed;

			CHECK(clock_nanosleep(clocks[i], TIMER_ABSTIME, &ts,
					      NULL) == 0);
			now = check_clock(clocks[i]);
			CHECK(now >= end && ticks_since(passed) < SEC,
			      "clock %d: %.6f s late", clocks[i],
			      (double)(now - end) / SEC);
		}
	return NULL;
}

static int64_t ns_of(struct timespec ts)
{
	return ts.tv_sec * SEC + ts.tv_nsec;
}

static struct itimerspec at(int64_t first, int64_t period)
{
	return (struct itimerspec){ { period / SEC, period % SEC },
				    { first / SEC, first % SEC } };
}

/*
 * Periodic from an instant on; never read, or asked only for its remaining
 * time.
 */
static int64_t began;
static int unread, posix[2], fd_once;

static void start_timers(void)
{
	struct sigevent none = { .sigev_notify = SIGEV_NONE };
	struct itimerspec it, late;

	began = check_clock(CLOCK_MONOTONIC);
	it = at(began + PERIOD, PERIOD);
	late = at(began + SEC, 0);
	unread = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	CHECK(timerfd_settime(unread, TFD_TIMER_ABSTIME, &it, NULL) == 0);
	fd_once = timerfd_create(CLOCK_MONOTONIC, 0);
	CHECK(timerfd_settime(fd_once, TFD_TIMER_ABSTIME, &late, NULL) == 0);
	for (int i = 0; i < 2; i++) {
		CHECK(syscall(SYS_timer_create, CLOCK_MONOTONIC, &none,
			      &posix[i]) == 0);
		CHECK(syscall(SYS_timer_settime, posix[i], TIMER_ABSTIME,
			      i ? &late : &it, NULL) == 0);
	}
}

/*
 * The instant at which the timer expires, computed from its remaining time. The
 * clock is read before and after, so the instant is between these two.
 */
static void expires(int timer, int64_t *ret_from, int64_t *ret_to)
{
	struct itimerspec it;
	int64_t before = check_clock(CLOCK_MONOTONIC);

	CHECK(syscall(SYS_timer_gettime, timer, &it) == 0);
	*ret_from = before + ns_of(it.it_value);
	*ret_to = check_clock(CLOCK_MONOTONIC) + ns_of(it.it_value);
}

static void check_timers(void)
{
	int64_t from, to, once;

	expires(posix[0], &from, &to);
	once = (to - began) / PERIOD * PERIOD + began;
	CHECK(once >= from - SLOP, "out of step by %.3f ms",
	      (double)(from - once) / MS);
	expires(posix[1], &from, &to);
	once = began + SEC;
	CHECK(from > once || (to >= once && from <= once + SLOP),
	      "single shot %.3f ms off", (double)(from - once) / MS);
}

static void finish_timers(void)
{
	int64_t before = (check_clock(CLOCK_MONOTONIC) - SLOP - began) / PERIOD;
	int64_t after;
	uint64_t n;

	CHECK(read(unread, &n, sizeof(n)) == sizeof(n));
	after = (check_clock(CLOCK_MONOTONIC) - began) / PERIOD;
	CHECK((int64_t)n >= before && (int64_t)n <= after,
	      "%lu ticks, should be %ld to %ld", n, before, after);
	CHECK(read(fd_once, &n, sizeof(n)) == sizeof(n) && n == 1);
	CHECK(check_clock(CLOCK_MONOTONIC) >= began + SEC);
}

int main(void)
{
	pthread_t t[3];

	for (int i = 0; i < 2; i++)
		distance[i] =
			check_clock(CLOCK_REALTIME) - check_clock(clocks[i]);
	start_timers();
	for (int i = 0; i < 2; i++)
		t[i] = check_thread(run, NULL);
	ticks_begin();
	t[2] = check_thread(sleep_until, NULL);
	check_ready();
	if (check_sabotaged())
		distance[0] += SEC;
	while (check_running()) {
		check_timers();
		check_nap();
	}
	for (int i = 0; i < 3; i++)
		check_join(t[i]);
	ticks_end();
	finish_timers();
	look_at(0);
	look_at(1);
	return check_pass();
}
