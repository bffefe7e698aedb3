/*
 * libsignals.c - the signals that the C library keeps for itself
 *
 * Signal 32 tells of timers that call a function (SIGEV_THREAD) and cancels
 * threads, 33 has all threads change their user.  They wait through the moves
 * like any other one, and each arrives once: a chain of one-shot timers, each
 * of which arms the next, would end with one that is lost.
 *
 *	libsignals		timers
 *	libsignals cancel	a thread that is cancelled
 *	libsignals setuid	a thread that changes the user of all
 */
#include <signal.h>
#include <sys/syscall.h>

#include "check.h"

#define CHAINS 6

struct chain {
	timer_t timer;
	_Atomic unsigned links;
};

static struct chain chains[CHAINS];
static timer_t fast;
static _Atomic unsigned fast_ticks;
static _Atomic bool release, cancelled, changed;
static pthread_barrier_t barrier;

/* 0: block none, ~0: block all; sigprocmask() would refuse these two. */
static void set_mask(uint64_t mask)
{
	CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL,
		      sizeof(mask)) == 0);
}

static bool is_pending(int sig)
{
	uint64_t set;

	CHECK(syscall(SYS_rt_sigpending, &set, sizeof(set)) == 0);
	return set >> (sig - 1) & 1;
}

static void next_link(union sigval v)
{
	const struct itimerspec soon = { .it_value.tv_nsec = 300000 };
	struct chain *c = v.sival_ptr;

	c->links++;
	if (!release)
		CHECK(timer_settime(c->timer, 0, &soon, NULL) == 0);
}

static void tick(union sigval v)
{
	fast_ticks++;
}

static void make_timer(timer_t *ret, void (*fn)(union sigval), void *arg,
		       const struct itimerspec *when)
{
	struct sigevent se = { .sigev_notify = SIGEV_THREAD,
			       .sigev_notify_function = fn,
			       .sigev_value.sival_ptr = arg };

	CHECK(timer_create(CLOCK_MONOTONIC, &se, ret) == 0);
	CHECK(timer_settime(*ret, 0, when, NULL) == 0);
}

static void on_cancel(void *arg)
{
	cancelled = true;
}

/* The thread was cancelled long ago, but blocks the signal. */
static void *run_deaf(void *arg)
{
	int old;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	pthread_cleanup_push(on_cancel, NULL);
	set_mask(~0ull);
	pthread_barrier_wait(&barrier);
	while (!release)
		check_nap();
	CHECK(is_pending(32));
	if (!check_sabotaged())
		set_mask(0);
	for (;;)
		syscall(SYS_pause);
	pthread_cleanup_pop(0);
	return NULL;
}

/* Holds up the thread that changes the user of all threads. */
static void *run_slow(void *arg)
{
	set_mask(~0ull);
	pthread_barrier_wait(&barrier);
	while (!release)
		check_nap();
	CHECK(is_pending(33));
	while (check_sabotaged())
		check_nap();
	set_mask(0);
	CHECK(!is_pending(33));
	return NULL;
}

static void *run_setuid(void *arg)
{
	CHECK(setuid(getuid()) == 0);
	CHECK(release, "it did not wait for all threads");
	changed = true;
	return NULL;
}

static void all_go_on(void)
{
	unsigned before[CHAINS], ticks = fast_ticks;

	for (int i = 0; i < CHAINS; i++)
		before[i] = chains[i].links;
	for (int i = 0; i < CHAINS; i++)
		CHECK_WAIT(chains[i].links != before[i]);
	CHECK_WAIT(fast_ticks != ticks);
}

/* Waits for the slow thread; meanwhile no thread is made or ended. */
static int wait_for_setuid(void)
{
	pthread_t slow, other;

	pthread_barrier_init(&barrier, NULL, 2);
	slow = check_thread(run_slow, NULL);
	pthread_barrier_wait(&barrier);
	other = check_thread(run_setuid, NULL);
	check_ready();
	while (check_running())
		check_nap();
	release = true;
	CHECK_WAIT(changed);
	check_join(slow);
	check_join(other);
	return check_pass();
}

static int wait_for_cancel(void)
{
	pthread_t deaf;

	pthread_barrier_init(&barrier, NULL, 2);
	deaf = check_thread(run_deaf, NULL);
	pthread_barrier_wait(&barrier);
	CHECK(pthread_cancel(deaf) == 0);
	check_ready();
	while (check_running()) {
		CHECK(!cancelled);
		check_nap();
	}
	release = true;
	CHECK_WAIT(cancelled);
	check_join(deaf);
	return check_pass();
}

int main(int argc, char **argv)
{
	const struct itimerspec soon = { .it_value.tv_nsec = 300000 };
	const struct itimerspec often = { .it_value.tv_nsec = 50000,
					  .it_interval.tv_nsec = 50000 };

	if (argc > 1)
		return strcmp(argv[1], "setuid") ? wait_for_cancel()
						 : wait_for_setuid();
	for (int i = 0; i < CHAINS; i++)
		make_timer(&chains[i].timer, next_link, &chains[i], &soon);
	make_timer(&fast, tick, NULL, &often);
	all_go_on();
	check_ready();
	if (check_sabotaged())
		CHECK(timer_delete(chains[2].timer) == 0);
	while (check_running())
		all_go_on();
	CHECK(timer_delete(fast) == 0);
	release = true;
	return check_pass();
}
