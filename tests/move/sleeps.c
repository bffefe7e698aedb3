/*
 * sleeps.c - waits with a time limit, caught in the middle by a move
 *
 * Each thread waits again and again in another system call that ends only by
 * its time limit.  It must end by that, not by EINTR, never early, and not
 * late: the first one lasts longer than the harness takes for its moves, and
 * a wait begun anew by a move would end too late by what had passed.
 *
 * What is late is counted in ticks (ticks.h).
 *
 * Some calls are made here in assembler, to see that all registers but those
 * that any system call changes are what they were.
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

#include "ticks.h"

#define MS    1000000ll
#define SEC   (1000 * MS)
#define LATE  (SEC / 2)
#define FIRST (5 * SEC / 2)

static struct timespec ts_of(int64_t ns)
{
	return (struct timespec){ ns / SEC, ns % SEC };
}

static int wait_nanosleep(int64_t ns)
{
	struct timespec ts = ts_of(ns), rem;

	return nanosleep(&ts, &rem);
}

/*
 * Make a system call, after which its arguments must still be in their
 * registers.
 */
static long bare(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		 uint64_t e, uint64_t f)
{
	uint64_t rdi = a, rsi = b, rdx = c, rcx, after;
	register uint64_t r10 __asm__("r10") = d;
	register uint64_t r8 __asm__("r8") = e;
	register uint64_t r9 __asm__("r9") = f;

	__asm__ volatile("syscall\n1:\tlea 1b(%%rip), %[after]"
			 : "+a"(nr), "+D"(rdi), "+S"(rsi), "+d"(rdx), "+r"(r10),
			   "+r"(r8), "+r"(r9), "=c"(rcx), [after] "=&r"(after)
			 :
			 : "r11", "memory");
	CHECK(rdi == a && rsi == b && rdx == c && r10 == d && r8 == e &&
		      r9 == f && rcx == after,
	      "registers %lx %lx %lx %lx %lx %lx, back to %lx, not %lx", rdi,
	      rsi, rdx, r10, r8, r9, rcx, after);
	return nr;
}

#define ARG(p) ((uint64_t)(uintptr_t)(p))

static int wait_bare_nanosleep(int64_t ns)
{
	const struct timespec ts = ts_of(ns);

	return (int)bare(SYS_nanosleep, ARG(&ts), 0, 11, 12, 13, 14);
}

static int wait_bare_clock(int64_t ns)
{
	const struct timespec ts = ts_of(ns);

	return (int)bare(SYS_clock_nanosleep, CLOCK_BOOTTIME, 0, ARG(&ts), 0,
			 13, 14);
}

static int wait_bare_poll(int64_t ns)
{
	return (int)bare(SYS_poll, 0, 0, (uint64_t)(ns / MS), 12, 13, 14);
}

static int wait_bare_epoll(int64_t ns)
{
	struct epoll_event ev;
	int fd = epoll_create1(0), n;

	n = (int)bare(SYS_epoll_wait, (uint64_t)fd, ARG(&ev), 1,
		      (uint64_t)(ns / MS), 13, 14);
	close(fd);
	return n;
}

static int wait_epoll_pwait2(int64_t ns)
{
	const struct timespec ts = ts_of(ns);
	struct epoll_event ev;
	int fd = epoll_create1(0), n;

	n = (int)bare(SYS_epoll_pwait2, (uint64_t)fd, ARG(&ev), 1, ARG(&ts), 0,
		      8);
	close(fd);
	return n;
}

static int wait_bare_futex(int64_t ns)
{
	const struct timespec ts = ts_of(ns);
	uint32_t word = 7;
	long r = bare(SYS_futex, ARG(&word), FUTEX_WAIT, 7, ARG(&ts), 13, 14);

	return r == -ETIMEDOUT ? 0 : -1;
}

/*
 * The limit is in memory that cannot be written: the kernel keeps the rest of
 * it itself.
 */
static int wait_constant(int64_t ns)
{
	static const struct timespec short_time = { 0, 200 * MS };

	CHECK(ns == 200 * MS);
	return (int)bare(SYS_ppoll, 0, 0, ARG(&short_time), 0, 8, 14);
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

/*
 * late: by how much more time the call may take; fixed: its only length. A
 * limit that only the socket knows, and one whose rest the kernel cannot write
 * back, begin anew at a move.
 */
static const struct way {
	const char *name;
	int (*wait)(int64_t ns);
	int64_t late, fixed;
} ways[] = {
	{ "nanosleep, bare", wait_bare_nanosleep }, /* in the main thread */
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
	{ "clock_nanosleep, bare", wait_bare_clock },
	{ "poll, bare", wait_bare_poll },
	{ "epoll_wait, bare", wait_bare_epoll },
	{ "epoll_pwait2, bare", wait_epoll_pwait2 },
	{ "futex, bare", wait_bare_futex },
	{ "recv with SO_RCVTIMEO", wait_recv, 3 * SEC, 50 * MS },
	{ "ppoll, constant", wait_constant, 3 * SEC, 200 * MS },
};

#define NR (sizeof(ways) / sizeof(*ways))

static void wait_once(const struct way *w, int64_t ns)
{
	int64_t passed = ticks_passed, start = check_now(), took;
	int64_t late = w->late ? w->late : LATE;
	int r = w->wait(ns);

	took = check_now() - start;
	passed = ticks_since(passed);
	if (check_sabotaged())
		passed += ns + late;
	CHECK(r == 0, "%s of %lld ms gave %d", w->name, (long long)(ns / MS),
	      r);
	/* SO_RCVTIMEO counts in jiffies, which may be 10 ms. */
	if (w->late)
		took += 10 * MS;
	CHECK(took >= ns && passed < ns + late,
	      "%s of %.3f s took %.6f s, %.3f s by ticks", w->name,
	      (double)ns / SEC, (double)took / SEC, (double)passed / SEC);
}

/* The first wait of each lasts for several moves. */
static void *run(void *arg)
{
	const struct way *w = arg;
	uint64_t seed = (uint64_t)(w - ways);

	wait_once(w, w->fixed ? w->fixed : FIRST);
	while (check_running()) {
		int64_t ns = (int64_t)(check_rand(&seed) % 400 + 1) * MS;

		wait_once(w, w->fixed ? w->fixed : ns);
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
	for (unsigned i = 1; i < NR; i++)
		t[i] = check_thread(run, (void *)&ways[i]);
	ticks_begin();
	check_ready();
	run((void *)&ways[0]);
	for (unsigned i = 1; i < NR; i++)
		check_join(t[i]);
	ticks_end();
	return check_pass();
}
