/*
 * timers.c - interval timers, POSIX timers and timerfds go on as they were
 *
 * Periodic ones must still fire after the move, one that expired unread
 * included; long ones must have kept what remained; ids stay.  Tolerances
 * are a second or more: this is about what is kept, not how exactly.
 */
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>

#include "check.h"

#define MS   1000000ll
#define SEC  (1000 * MS)
#define HOUR (3600 * SEC)

static volatile sig_atomic_t fired[3]; /* ITIMER_REAL, _VIRTUAL, _PROF */
static volatile sig_atomic_t posix_fired[8], wrong_value;
static volatile unsigned long burnt;

static struct timespec ts_of(int64_t ns)
{
	return (struct timespec){ ns / SEC, ns % SEC };
}

static int64_t ns_of(struct timespec ts)
{
	return ts.tv_sec * SEC + ts.tv_nsec;
}

static void on_itimer(int sig)
{
	fired[sig == SIGALRM ? 0 : sig == SIGVTALRM ? 1 : 2]++;
}

static void start_itimers(void)
{
	static const int sigs[] = { SIGALRM, SIGVTALRM, SIGPROF };
	struct sigaction sa = { .sa_handler = on_itimer,
				.sa_flags = SA_RESTART };

	for (int i = 0; i < 3; i++) {
		struct itimerval it = {
			.it_interval.tv_usec = 20000 + 1000 * i,
			.it_value.tv_usec = 10000,
		};

		sigaction(sigs[i], &sa, NULL);
		CHECK(setitimer(i, &it, NULL) == 0);
	}
}

static void check_itimers(void)
{
	for (int i = 0; i < 3; i++) {
		struct itimerval it;
		int before = fired[i];

		CHECK(getitimer(i, &it) == 0);
		CHECK(it.it_interval.tv_sec == 0);
		/* CPU clocks count in ticks, and round up. */
		CHECK(it.it_interval.tv_usec >= 20000 + 1000 * i &&
			      it.it_interval.tv_usec < 30000,
		      "timer %d: every %ld us", i,
		      (long)it.it_interval.tv_usec);
		for (int64_t end = check_now() + 10 * SEC;
		     fired[i] == before;) {
			CHECK(check_now() < end, "timer %d is dead", i);
			burnt++;
		}
	}
}

/* POSIX timers, by the kernel's own ids; number 1 was deleted. */
enum { T_SIGNAL, T_HOLE, T_THREAD, T_NONE, T_LONG, T_ABS, NR_T };

static int ids[NR_T];

static void on_posix(int sig, siginfo_t *si, void *uc)
{
	int i = si->si_value.sival_int - 1000;

	if (si->si_code != SI_TIMER || i < 0 || i >= NR_T ||
	    si->si_timerid != ids[i])
		wrong_value = i + 1;
	else
		posix_fired[i]++;
}

static int make_posix(int i, clockid_t clock, int notify)
{
	struct sigevent ev = {
		.sigev_notify = notify,
		.sigev_signo = SIGRTMIN + 2,
		.sigev_value.sival_int = 1000 + i,
	};
	int id = -1;

	ev._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	CHECK(syscall(SYS_timer_create, clock, &ev, &id) == 0);
	return id;
}

static void set_posix(int i, int flags, int64_t first, int64_t every)
{
	struct itimerspec it = { ts_of(every), ts_of(first) };

	CHECK(syscall(SYS_timer_settime, ids[i], flags, &it, NULL) == 0);
}

static void start_posix(void)
{
	struct sigaction sa = { .sa_sigaction = on_posix,
				.sa_flags = SA_SIGINFO | SA_RESTART };

	sigaction(SIGRTMIN + 2, &sa, NULL);
	ids[T_SIGNAL] = make_posix(T_SIGNAL, CLOCK_MONOTONIC, SIGEV_SIGNAL);
	ids[T_HOLE] = make_posix(T_HOLE, CLOCK_MONOTONIC, SIGEV_SIGNAL);
	ids[T_THREAD] = make_posix(T_THREAD, CLOCK_REALTIME, SIGEV_THREAD_ID);
	ids[T_NONE] = make_posix(T_NONE, CLOCK_MONOTONIC, SIGEV_NONE);
	ids[T_LONG] = make_posix(T_LONG, CLOCK_MONOTONIC, SIGEV_SIGNAL);
	ids[T_ABS] = make_posix(T_ABS, CLOCK_REALTIME, SIGEV_SIGNAL);
	CHECK(syscall(SYS_timer_delete, ids[T_HOLE]) == 0);
	set_posix(T_SIGNAL, 0, 10 * MS, 15 * MS);
	set_posix(T_THREAD, 0, 10 * MS, 17 * MS);
	set_posix(T_NONE, 0, 10 * MS, 19 * MS);
	set_posix(T_LONG, 0, HOUR, 0);
	set_posix(T_ABS, TIMER_ABSTIME, check_clock(CLOCK_REALTIME) + HOUR, 0);
}

static struct itimerspec get_posix(int i)
{
	struct itimerspec it;

	CHECK(syscall(SYS_timer_gettime, ids[i], &it) == 0, "timer %d", i);
	return it;
}

static void about(const char *what, int64_t is, int64_t should)
{
	int64_t off = is > should ? is - should : should - is;

	CHECK(off < 2 * SEC, "%s: %.3f s, should be %.3f s", what,
	      (double)is / SEC, (double)should / SEC);
}

static void check_posix(int64_t start, int64_t start_real)
{
	int before[2] = { posix_fired[T_SIGNAL], posix_fired[T_THREAD] };

	CHECK(!wrong_value, "timer %d gave wrong siginfo", wrong_value - 1);
	CHECK(ns_of(get_posix(T_SIGNAL).it_interval) == 15 * MS);
	CHECK(ns_of(get_posix(T_NONE).it_interval) == 19 * MS);
	CHECK(ns_of(get_posix(T_NONE).it_value) <= 19 * MS);
	CHECK(ns_of(get_posix(T_NONE).it_value) > 0);
	CHECK(syscall(SYS_timer_getoverrun, ids[T_SIGNAL]) >= 0);
	about("hour timer", ns_of(get_posix(T_LONG).it_value),
	      HOUR - (check_now() - start));
	about("absolute timer", ns_of(get_posix(T_ABS).it_value),
	      HOUR - (check_clock(CLOCK_REALTIME) - start_real));
	CHECK_WAIT(posix_fired[T_SIGNAL] != before[0] &&
		   posix_fired[T_THREAD] != before[1]);
	CHECK(syscall(SYS_timer_delete, ids[T_HOLE]) < 0);
}

/* Timerfds: read now and then, never read, expired once, far away. */
static struct {
	int read, unread, once, far;
} fds;

static int make_timerfd(clockid_t clock, int flags, int64_t first,
			int64_t every)
{
	struct itimerspec it = { ts_of(every), ts_of(first) };
	int fd = timerfd_create(clock, TFD_NONBLOCK | TFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(timerfd_settime(fd, flags, &it, NULL) == 0);
	return fd;
}

static uint64_t ticks_of(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t n = 0;
	int64_t end = check_now() + 10 * SEC;

	while (poll(&p, 1, 1000) != 1)
		CHECK(check_now() < end, "timerfd is dead");
	CHECK(read(fd, &n, sizeof(n)) == sizeof(n));
	return n;
}

static void start_timerfds(void)
{
	int64_t real = check_clock(CLOCK_REALTIME);

	fds.read = make_timerfd(CLOCK_MONOTONIC, 0, 5 * MS, 11 * MS);
	fds.unread = make_timerfd(CLOCK_MONOTONIC, 0, 10 * MS, 10 * MS);
	fds.once = make_timerfd(CLOCK_BOOTTIME, 0, MS, 0);
	fds.far =
		make_timerfd(CLOCK_REALTIME, TFD_TIMER_ABSTIME, real + HOUR, 0);
}

static void check_timerfds(int64_t start_real)
{
	struct itimerspec it;

	ticks_of(fds.read);
	CHECK(timerfd_gettime(fds.read, &it) == 0);
	CHECK(ns_of(it.it_interval) == 11 * MS);
	CHECK(timerfd_gettime(fds.far, &it) == 0);
	about("absolute timerfd", ns_of(it.it_value),
	      HOUR - (check_clock(CLOCK_REALTIME) - start_real));
}

/* Expirations that nobody read during the moves were counted, and go on. */
static void finish_timerfds(int64_t start)
{
	uint64_t n;

	about("unread ticks", (int64_t)ticks_of(fds.unread) * 10 * MS,
	      check_now() - start);
	for (int i = 0; i < 3; i++)
		CHECK(ticks_of(fds.unread) >= 1);
	CHECK(ticks_of(fds.once) == 1);
	CHECK(read(fds.once, &n, sizeof(n)) < 0 && errno == EAGAIN);
}

int main(void)
{
	int64_t start = check_now(), start_real = check_clock(CLOCK_REALTIME);

	start_itimers();
	start_posix();
	start_timerfds();
	check_ready();
	if (check_sabotaged())
		set_posix(T_LONG, 0, HOUR / 2, 0);
	while (check_running()) {
		check_itimers();
		check_posix(start, start_real);
		check_timerfds(start_real);
		for (int i = 0; i < 20; i++)
			check_nap();
	}
	check_itimers();
	finish_timerfds(start);
	return check_pass();
}
