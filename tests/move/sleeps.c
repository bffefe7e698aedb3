/*
 * sleeps.c - waits with a time limit, caught in the middle by a move
 *
 * Each thread waits again and again in another system call that ends only by
 * its time limit.  It must end by that, not by EINTR, not early, and not much
 * late: a wait begun anew by every move would never end.
 */
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "check.h"

#define MS   1000000ll
#define SEC  (1000 * MS)
#define LATE (3 * SEC)

static struct timespec ts_of(int64_t ns)
{
	return (struct timespec){ ns / SEC, ns % SEC };
}

static int wait_nanosleep(int64_t ns)
{
	struct timespec ts = ts_of(ns), rem;

	return nanosleep(&ts, &rem);
}

static int wait_abs_monotonic(int64_t ns)
{
	struct timespec ts = ts_of(check_clock(CLOCK_MONOTONIC) + ns);

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static int wait_abs_realtime(int64_t ns)
{
	struct timespec ts = ts_of(check_clock(CLOCK_REALTIME) + ns);

	return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ts, NULL);
}

static int wait_poll(int64_t ns)
{
	struct pollfd p = { .fd = eventfd(0, 0), .events = POLLIN };
	int n = poll(&p, 1, (int)(ns / MS));

	close(p.fd);
	return n;
}

static int wait_ppoll(int64_t ns)
{
	struct timespec ts = ts_of(ns);
	sigset_t set;

	sigfillset(&set);
	return ppoll(NULL, 0, &ts, &set);
}

static int wait_select(int64_t ns)
{
	struct timeval tv = { ns / SEC, ns % SEC / 1000 };

	return select(0, NULL, NULL, NULL, &tv);
}

static int wait_pselect(int64_t ns)
{
	struct timespec ts = ts_of(ns);
	sigset_t set;

	sigfillset(&set);
	return pselect(0, NULL, NULL, NULL, &ts, &set);
}

static int wait_futex(int64_t ns)
{
	struct timespec ts = ts_of(ns);
	uint32_t word = 7;
	long r = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 7, &ts, NULL, 0);

	return r < 0 && errno == ETIMEDOUT ? 0 : -1;
}

static int wait_futex_abs(int64_t ns)
{
	struct timespec ts = ts_of(check_clock(CLOCK_MONOTONIC) + ns);
	uint32_t word = 7;
	long r = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 7, &ts,
			 NULL, FUTEX_BITSET_MATCH_ANY);

	return r < 0 && errno == ETIMEDOUT ? 0 : -1;
}

static int wait_cond(int64_t ns)
{
	struct timespec ts = ts_of(check_clock(CLOCK_REALTIME) + ns);
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	int e = 0;

	pthread_mutex_lock(&m);
	while (!e)
		e = pthread_cond_timedwait(&c, &m, &ts);
	pthread_mutex_unlock(&m);
	return e == ETIMEDOUT ? 0 : -1;
}

static int wait_sem(int64_t ns)
{
	struct timespec ts = ts_of(check_clock(CLOCK_REALTIME) + ns);
	sem_t sem;
	int r;

	sem_init(&sem, 0, 0);
	r = sem_timedwait(&sem, &ts);
	return r < 0 && errno == ETIMEDOUT ? 0 : -1;
}

static int wait_epoll(int64_t ns)
{
	struct epoll_event ev;
	int fd = epoll_create1(0), n;

	n = epoll_wait(fd, &ev, 1, (int)(ns / MS));
	close(fd);
	return n;
}

static int wait_signal(int64_t ns)
{
	struct timespec ts = ts_of(ns);
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMAX);
	sig = sigtimedwait(&set, NULL, &ts);
	return sig < 0 && errno == EAGAIN ? 0 : -1;
}

/* SO_RCVTIMEO: the call ends with EAGAIN. */
static int wait_recv(int64_t ns)
{
	struct timeval tv = { ns / SEC, ns % SEC / 1000 };
	int sv[2];
	char c;
	ssize_t n;
	int e;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sv) == 0);
	setsockopt(sv[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	n = recv(sv[0], &c, 1, 0);
	e = errno;
	close(sv[0]);
	close(sv[1]);
	errno = e;
	return n < 0 && e == EAGAIN ? 0 : -1;
}

static const struct way {
	const char *name;
	int (*wait)(int64_t ns);
} ways[] = {
	{ "nanosleep", wait_nanosleep },
	{ "clock_nanosleep monotonic", wait_abs_monotonic },
	{ "clock_nanosleep realtime", wait_abs_realtime },
	{ "poll", wait_poll },
	{ "ppoll", wait_ppoll },
	{ "select", wait_select },
	{ "pselect", wait_pselect },
	{ "futex", wait_futex },
	{ "futex absolute", wait_futex_abs },
	{ "pthread_cond_timedwait", wait_cond },
	{ "sem_timedwait", wait_sem },
	{ "epoll_wait", wait_epoll },
	{ "sigtimedwait", wait_signal },
	{ "recv with SO_RCVTIMEO", wait_recv },
};

#define NR (sizeof(ways) / sizeof(*ways))

static void *run(void *arg)
{
	const struct way *w = arg;
	uint64_t seed = (uint64_t)(w - ways);

	while (check_running()) {
		int64_t ns = (int64_t)(check_rand(&seed) % 400 + 1) * MS;
		int64_t start, took;
		int r;

		if (check_rand(&seed) % 8 == 0)
			ns += SEC;
		start = check_now();
		r = w->wait(ns);
		took = check_now() - start;
		if (check_sabotaged())
			took += LATE;
		CHECK(r == 0, "%s of %lld ms gave %d", w->name,
		      (long long)(ns / MS), r);
		/* Coarse timers of the kernel may round by a tick. */
		CHECK(took >= ns - 11 * MS && took < ns + LATE,
		      "%s of %.3f s took %.3f s", w->name, (double)ns / SEC,
		      (double)took / SEC);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[NR];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMAX);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (unsigned i = 0; i < NR; i++)
		t[i] = check_thread(run, (void *)&ways[i]);
	check_ready();
	for (unsigned i = 0; i < NR; i++)
		check_join(t[i]);
	return check_pass();
}
