/*
 * sigwait.c - waiting for a signal under a temporary mask
 *
 * sigsuspend, ppoll, pselect, epoll_pwait, sigwaitinfo and pause hold a mask
 * that is not the thread's own.  The signal that ends the wait comes after
 * the moves; its handler runs once, and the own mask is back.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>

#include "check.h"

#define NR_KINDS 6

static _Thread_local volatile sig_atomic_t handled, handled_value;
static _Atomic unsigned waiting, rounds[NR_KINDS];
static _Atomic pid_t pauser;
static sigset_t open_mask; /* nothing blocked but SIGRTMIN + 9 */

static void on_signal(int sig, siginfo_t *si, void *uc)
{
	handled++;
	handled_value = si->si_value.sival_int;
}

static int wait_suspend(void)
{
	return sigsuspend(&open_mask);
}

static int wait_ppoll(void)
{
	return ppoll(NULL, 0, NULL, &open_mask);
}

static int wait_pselect(void)
{
	return pselect(0, NULL, NULL, NULL, NULL, &open_mask);
}

static int wait_epoll(void)
{
	struct epoll_event ev;
	int fd = epoll_create1(EPOLL_CLOEXEC), n, e;

	n = epoll_pwait(fd, &ev, 1, -1, &open_mask);
	e = errno;
	close(fd);
	errno = e;
	return n;
}

/* This call takes the signal itself; the handler does not run. */
static int wait_info(void)
{
	siginfo_t si;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	CHECK(sigwaitinfo(&set, &si) == SIGRTMIN + 1);
	handled++;
	handled_value = si.si_value.sival_int;
	errno = EINTR;
	return -1;
}

/* pause() has no mask: the signal must not come before it is called. */
static int wait_pause(void)
{
	pauser = gettid();
	pthread_sigmask(SIG_SETMASK, &open_mask, NULL);
	return pause();
}

static bool is_pausing(void)
{
	char path[64], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", pauser);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return strtol(text, NULL, 10) == SYS_pause;
}

static int (*const waits[NR_KINDS])(void) = { wait_suspend, wait_ppoll,
					      wait_pselect, wait_epoll,
					      wait_info,    wait_pause };

static void *run(void *arg)
{
	int kind = (int)(intptr_t)arg;
	sigset_t own, now;

	sigfillset(&own);
	pthread_sigmask(SIG_SETMASK, &own, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &own);
	for (unsigned round = 0;; round++) {
		handled = 0;
		waiting |= 1u << kind;
		CHECK(waits[kind]() < 0 && errno == EINTR, "kind %d", kind);
		if (kind == 5)
			pthread_sigmask(SIG_SETMASK, &own, NULL);
		CHECK(handled == 1, "kind %d: %d times", kind, handled);
		pthread_sigmask(SIG_SETMASK, NULL, &now);
		CHECK(!memcmp(&now, &own, 8), "kind %d: mask", kind);
		rounds[kind]++;
		if (handled_value < 0)
			return NULL;
		CHECK(handled_value == (int)round, "kind %d: got %d in %u",
		      kind, handled_value, round);
	}
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on_signal,
				.sa_flags = SA_SIGINFO | SA_RESTART };
	pthread_t t[NR_KINDS];
	unsigned sent = 0;
	bool go_on;

	sigemptyset(&open_mask);
	sigaddset(&open_mask, SIGRTMIN + 9);
	sigaction(SIGRTMIN + 1, &sa, NULL);
	for (int i = 0; i < NR_KINDS; i++)
		t[i] = check_thread(run, (void *)(intptr_t)i);
	CHECK_WAIT(waiting == (1u << NR_KINDS) - 1);
	check_ready();
	if (check_sabotaged())
		pthread_kill(t[1], SIGRTMIN + 1);
	do {
		/* Long enough to be asleep now and then. */
		for (int i = 0; i < 30 && check_running(); i++)
			check_nap();
		CHECK_WAIT(is_pausing());
		go_on = check_running();
		for (int i = 0; i < NR_KINDS; i++) {
			union sigval v = { .sival_int =
						   go_on ? (int)sent : -1 };

			pthread_sigqueue(t[i], SIGRTMIN + 1, v);
		}
		sent++;
		for (int i = 0; i < NR_KINDS; i++)
			CHECK_WAIT(rounds[i] == sent);
	} while (go_on);
	for (int i = 0; i < NR_KINDS; i++)
		check_join(t[i]);
	return check_pass();
}
