/*
 * interrupts.c - signals that come while a thread sleeps in a call
 *
 *	interrupts		sends them itself, over and over
 *	interrupts outside	somebody else sends each thread one, or several
 *
 * Every thread sleeps in another kind of call and takes one signal, SIGRTMIN+2
 * and so on, which the others block.  Its handler ends the call with EINTR,
 * or, where it was installed to restart it and the call is one of those, does
 * not.  A call that waits on, or one that ends without need, is noticed.
 */
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "check.h"

#define FIRST	 (SIGRTMIN + 2)
#define FOR_EVER 1000000 /* seconds, or milliseconds */

static const struct timespec long_time = { .tv_sec = FOR_EVER };
static int fds[2];     /* nothing comes here until the end */
static int limited[2]; /* sockets, with a limit of their own */
static uint32_t word;

static int do_pause(void)
{
	return pause();
}

static int do_read(void)
{
	char c;

	return (int)read(fds[0], &c, 1);
}

static int do_recv(void)
{
	char c;

	return (int)recv(limited[0], &c, 1, 0);
}

static int do_nanosleep(void)
{
	return nanosleep(&long_time, NULL);
}

static int do_rest(void)
{
	struct timespec rest = { 0 };
	int r = nanosleep(&long_time, &rest), e = errno;

	CHECK(r == 0 ||
		      (rest.tv_sec > FOR_EVER - 1000 && rest.tv_sec < FOR_EVER),
	      "%lld s are left", (long long)rest.tv_sec);
	return errno = e, r;
}

static int do_poll(void)
{
	return poll(NULL, 0, -1);
}

static int do_poll_limited(void)
{
	return poll(NULL, 0, FOR_EVER);
}

static int do_ppoll(void)
{
	return ppoll(NULL, 0, &long_time, NULL);
}

static int do_select(void)
{
	return select(0, NULL, NULL, NULL, NULL);
}

static int wait_epoll(int limit)
{
	struct epoll_event ev;
	int fd = epoll_create1(EPOLL_CLOEXEC), n, e;

	n = epoll_wait(fd, &ev, 1, limit);
	e = errno;
	close(fd);
	return errno = e, n;
}

static int do_epoll(void)
{
	return wait_epoll(-1);
}

static int do_epoll_limited(void)
{
	return wait_epoll(FOR_EVER);
}

static int wait_futex(const struct timespec *limit)
{
	return (int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, limit,
			    NULL, 0);
}

static int do_futex(void)
{
	return wait_futex(NULL);
}

static int do_futex_limited(void)
{
	return wait_futex(&long_time);
}

static int do_sigwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	return sigtimedwait(&set, NULL, &long_time);
}

static int do_suspend(void)
{
	sigset_t own;

	pthread_sigmask(SIG_SETMASK, NULL, &own);
	return sigsuspend(&own);
}

/* Those with SA_RESTART: do they go on after the handler? */
static const struct kind {
	int (*call)(void);
	int flags;
	bool goes_on;
} kinds[] = {
	{ do_pause, 0, false },
	{ do_pause, SA_RESTART, false },
	{ do_read, 0, false },
	{ do_read, SA_RESTART, true },
	{ do_recv, SA_RESTART, false },
	{ do_nanosleep, 0, false },
	{ do_rest, SA_RESTART, false },
	{ do_poll, 0, false },
	{ do_poll_limited, SA_RESTART, false },
	{ do_ppoll, 0, false },
	{ do_select, 0, false },
	{ do_epoll, 0, false },
	{ do_epoll_limited, SA_RESTART, false },
	{ do_futex, 0, false },
	{ do_futex, SA_RESTART, true },
	{ do_futex_limited, 0, false },
	{ do_sigwait, 0, false },
	{ do_suspend, SA_RESTART, false },
};
#define NR_KINDS (int)(sizeof(kinds) / sizeof(*kinds))

static struct {
	_Atomic unsigned handled, ended;
	_Atomic bool calls, last;
} at[NR_KINDS];

static void on_signal(int sig)
{
	at[sig - FIRST].handled++;
}

/*
 * Half of the threads block all other signals, the others only those of this
 * program.
 */
static void choose_signals(int i)
{
	sigset_t set;

	sigemptyset(&set);
	if (i % 2)
		sigfillset(&set);
	for (int k = 0; k < NR_KINDS; k++)
		sigaddset(&set, FIRST + k);
	sigdelset(&set, FIRST + i);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
}

static void *run(void *arg)
{
	int i = (int)(intptr_t)arg, r;

	choose_signals(i);
	while (!at[i].last) {
		at[i].calls = true;
		r = kinds[i].call();
		at[i].calls = false;
		if (at[i].last)
			break;
		CHECK(r < 0 && errno == EINTR && !kinds[i].goes_on,
		      "kind %d gave %d", i, r);
		at[i].ended++;
	}
	return NULL;
}

/*
 * Wait until all threads are in their calls: a signal before that would end
 * nothing. A thread says that it is about to call, and there is next to nothing
 * between that and the call, so a few milliseconds are plenty.
 */
static void all_sleep(void)
{
	for (int i = 0; i < NR_KINDS; i++)
		CHECK_WAIT(at[i].calls);
	for (int i = 0; i < 20; i++)
		check_nap();
}

/*
 * A call has ended as often as its handler ran, and never for another reason.
 */
static bool is_right(int i, unsigned handled)
{
	CHECK(at[i].ended <= at[i].handled, "kind %d", i);
	return at[i].handled == handled &&
	       at[i].ended == (kinds[i].goes_on ? 0 : handled);
}

static void wake_last(pthread_t t, int i)
{
	CHECK(write(fds[1], "x", 1) == 1 && write(limited[1], "x", 1) == 1);
	word = 1;
	do {
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, NR_KINDS, NULL,
			NULL, 0);
		pthread_kill(t, FIRST + i);
		check_nap();
	} while (pthread_tryjoin_np(t, NULL) == EBUSY);
	word = 0;
}

int main(int argc, char **argv)
{
	bool outside = argc > 1 && !strcmp(argv[1], "outside");
	struct timeval limit = { .tv_sec = FOR_EVER };
	pthread_t t[NR_KINDS];
	unsigned sent = 0;
	sigset_t all;

	CHECK(pipe(fds) == 0 &&
	      socketpair(AF_UNIX, SOCK_STREAM, 0, limited) == 0);
	CHECK(setsockopt(limited[0], SOL_SOCKET, SO_RCVTIMEO, &limit,
			 sizeof(limit)) == 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	for (int i = 0; i < NR_KINDS; i++) {
		struct sigaction sa = { .sa_handler = on_signal,
					.sa_flags = kinds[i].flags };

		sigaction(FIRST + i, &sa, NULL);
		t[i] = check_thread(run, (void *)(intptr_t)i);
	}
	all_sleep();
	check_ready();
	if (check_sabotaged())
		at[1].ended++;
	while (check_running()) {
		all_sleep();
		for (int i = 0; i < NR_KINDS && !outside; i++)
			pthread_kill(t[i], FIRST + i);
		sent += !outside;
		for (int i = 0; i < NR_KINDS; i++)
			CHECK_WAIT(is_right(i, outside ? at[i].handled : sent));
	}
	for (int i = 0; i < NR_KINDS; i++) {
		CHECK(!outside || at[i].handled, "nobody has sent %d a signal",
		      i);
		CHECK(is_right(i, at[i].handled), "kind %d", i);
		at[i].last = true;
	}
	for (int i = 0; i < NR_KINDS; i++)
		wake_last(t[i], i);
	return check_pass();
}
