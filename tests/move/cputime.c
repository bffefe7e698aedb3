/*
 * cputime.c - the time of the processor
 *
 * CPU clocks of the process and its threads never go back for who asks
 * clock_gettime(), as clock() does, for a clock by its number or by its owner's;
 * a thread's is not another's, and a child's begins at 0.  CPU timers
 * and those of setitimer() expire after as much CPU time as they were set to,
 * wherever that was used.  What a system call tells begins anew, and no call can
 * set it: the last lines say how far that is off.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>

#include "check.h"

#define MSEC	  1000000ll
#define TIMER_SET (600 * MSEC)
#define TIMERS	  4

static _Atomic bool over, expired[TIMERS];

static int64_t raw(clockid_t clock)
{
	struct timespec t;

	CHECK(syscall(SYS_clock_gettime, clock, &t) == 0);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* The clock under both of its names, neither of which goes back. */
struct watch {
	clockid_t clock[2];
	int64_t last[2];
};

static void look(struct watch *w)
{
	for (int i = 0; i < 2; i++) {
		int64_t now = check_clock(w->clock[i]);

		CHECK(now >= w->last[i], "clock %d went back by %lld ns",
		      w->clock[i], (long long)(w->last[i] - now));
		CHECK(i == 0 || now >= w->last[0], "its two names differ");
		w->last[i] = now;
	}
}

/* This thread itself uses little time. */
static void *idle(void *arg)
{
	struct watch w = { { CLOCK_THREAD_CPUTIME_ID, 0 }, { 0 } };

	CHECK(pthread_getcpuclockid(pthread_self(), &w.clock[1]) == 0);
	while (!over) {
		look(&w);
		check_nap();
	}
	CHECK(w.last[0] < check_clock(CLOCK_PROCESS_CPUTIME_ID));
	return NULL;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	expired[sig == SIGVTALRM ? 0
		: sig == SIGPROF ? 1
				 : info->si_value.sival_int] = true;
}

static void set_timers(void)
{
	struct sigaction sa = { .sa_sigaction = on_signal,
				.sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval old = { .it_value.tv_usec = TIMER_SET / 1000 };
	static const clockid_t clock[] = { CLOCK_PROCESS_CPUTIME_ID,
					   CLOCK_THREAD_CPUTIME_ID };

	sigaction(SIGVTALRM, &sa, NULL);
	sigaction(SIGPROF, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	CHECK(setitimer(ITIMER_VIRTUAL, &old, NULL) == 0);
	CHECK(setitimer(ITIMER_PROF, &old, NULL) == 0);
	for (int i = 0; i < 2; i++) {
		struct sigevent e = { .sigev_notify = SIGEV_SIGNAL,
				      .sigev_signo = SIGUSR2,
				      .sigev_value.sival_int = 2 + i };
		struct itimerspec s = { .it_value.tv_nsec = TIMER_SET };
		timer_t timer;

		CHECK(timer_create(clock[i], &e, &timer) == 0);
		CHECK(timer_settime(timer, 0, &s, NULL) == 0);
	}
}

static int64_t of_timeval(const struct timeval *t)
{
	return t->tv_sec * 1000000000ll + t->tv_usec * 1000ll;
}

static void look_at_child(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(check_clock(CLOCK_PROCESS_CPUTIME_ID) > 200 * MSEC);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(status == 0, "the child's clock is its parent's");
}

/*
 * Printed, not checked: these clocks tell what was used since the last landing.
 */
static void tell(void)
{
	struct rusage ru;
	struct tms tms;

	getrusage(RUSAGE_SELF, &ru);
	times(&tms);
	dprintf(STDOUT_FILENO,
		"clock_gettime() %lld ms, the system call %lld, getrusage() %lld, times() %lld\n",
		(long long)(check_clock(CLOCK_PROCESS_CPUTIME_ID) / MSEC),
		(long long)(raw(CLOCK_PROCESS_CPUTIME_ID) / MSEC),
		(long long)((of_timeval(&ru.ru_utime) +
			     of_timeval(&ru.ru_stime)) /
			    MSEC),
		(long long)((tms.tms_utime + tms.tms_stime) * 1000 /
			    sysconf(_SC_CLK_TCK)));
}

/*
 * No timer expires too early, and all have expired after three times their
 * time.
 */
static void look_at_timers(int64_t used)
{
	for (int i = 0; i < TIMERS; i++) {
		/* setitimer() counts ticks that find the process running */
		CHECK(used >= TIMER_SET - 150 * MSEC || !expired[i],
		      "timer %d expired after %lld ms", i,
		      (long long)(used / MSEC));
		CHECK(used < 3 * TIMER_SET || expired[i],
		      "timer %d has not expired after %lld ms", i,
		      (long long)(used / MSEC));
	}
}

int main(void)
{
	struct watch w[2] = { { { CLOCK_PROCESS_CPUTIME_ID, 0 }, { 0 } },
			      { { CLOCK_THREAD_CPUTIME_ID, 0 }, { 0 } } };
	int64_t start;
	pthread_t t;

	CHECK(clock_getcpuclockid(getpid(), &w[0].clock[1]) == 0);
	CHECK(pthread_getcpuclockid(pthread_self(), &w[1].clock[1]) == 0);
	for (int64_t end = 300 * MSEC; raw(CLOCK_THREAD_CPUTIME_ID) < end;)
		look(&w[0]); /* so that it shows if a clock begins anew */
	t = check_thread(idle, NULL);
	set_timers();
	start = check_clock(CLOCK_PROCESS_CPUTIME_ID);
	check_ready();
	while (check_running()) {
		look(&w[0]);
		look(&w[1]);
		CHECK(clock() >= 0);
		for (volatile int i = 0; i < 200000; i++) {
			/* in user mode, which is what ITIMER_VIRTUAL counts */
		}
		look_at_timers(check_clock(CLOCK_PROCESS_CPUTIME_ID) - start);
	}
	while (check_clock(CLOCK_THREAD_CPUTIME_ID) - start < 4 * TIMER_SET)
		for (volatile int i = 0; i < 200000; i++) {
		}
	look_at_timers(4 * TIMER_SET);
	over = true;
	check_join(t);
	if (check_sabotaged())
		w[0].last[0] = INT64_MAX;
	look(&w[0]);
	look_at_child();
	tell();
	return check_pass();
}
