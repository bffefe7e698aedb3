/*
 * signals.c - pending and blocked signals, dispositions, masks
 *
 * Signals that nobody may take yet wait through the moves: sent to the
 * process, sent to one thread, queued with values.  At the end each is taken
 * once, in order, with what it carried.
 *
 *	signals [many]	some, or thousands
 */
#include <signal.h>

#include "check.h"

static int queued = 20, of_thread = 3;

static volatile sig_atomic_t delivered;
static pthread_barrier_t barrier;

static void on_signal(int sig, siginfo_t *si, void *uc)
{
	delivered++;
}

/* Each disposition differs a little from the one before. */
static struct sigaction disposition(int sig)
{
	struct sigaction sa = { 0 };

	sa.sa_handler = sig % 3 ? SIG_IGN : SIG_DFL;
	if (sig % 5 == 0) {
		sa.sa_sigaction = on_signal;
		sa.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
		sigaddset(&sa.sa_mask, sig % 7 + 1);
		sigaddset(&sa.sa_mask, SIGRTMIN + sig % 11);
	}
	return sa;
}

static bool settable(int sig)
{
	return sig != SIGKILL && sig != SIGSTOP && (sig < 32 || sig > 33);
}

static void set_dispositions(void)
{
	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		struct sigaction sa = disposition(sig);

		if (settable(sig))
			CHECK(sigaction(sig, &sa, NULL) == 0);
	}
}

static void check_dispositions(void)
{
	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		struct sigaction want = disposition(sig), sa;

		if (!settable(sig))
			continue;
		CHECK(sigaction(sig, NULL, &sa) == 0);
		CHECK(sa.sa_handler == want.sa_handler, "signal %d", sig);
		CHECK((sa.sa_flags & ~0x04000000) == want.sa_flags,
		      "signal %d: flags %#x", sig, sa.sa_flags);
		CHECK(!memcmp(&sa.sa_mask, &want.sa_mask, 8), "signal %d", sig);
	}
}

static void queue(int sig, int n, int base)
{
	for (int i = 0; i < n; i++) {
		union sigval v = { .sival_int = base + i };

		CHECK(sigqueue(getpid(), sig, v) == 0);
	}
}

static void take(int sig, int code, int value)
{
	struct timespec none = { 0 };
	siginfo_t si = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	CHECK(sigtimedwait(&set, &si, &none) == sig, "signal %d is lost", sig);
	CHECK(si.si_code == code, "signal %d: code %d", sig, si.si_code);
	CHECK(si.si_pid == getpid() && si.si_uid == getuid());
	if (code == SI_QUEUE)
		CHECK(si.si_value.sival_int == value, "signal %d: value %d",
		      sig, si.si_value.sival_int);
}

static void take_none(int sig)
{
	struct timespec none = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	CHECK(sigtimedwait(&set, NULL, &none) < 0 && errno == EAGAIN,
	      "signal %d came twice", sig);
}

/* Signals to one thread wait for that thread, and for no other one. */
static void *run(void *arg)
{
	int id = (int)(intptr_t)arg;
	sigset_t all, own, now;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	for (int i = 0; i < of_thread; i++) {
		union sigval v = { .sival_int = id * 10000 + i };

		CHECK(pthread_sigqueue(pthread_self(), SIGRTMIN + 5, v) == 0);
	}
	CHECK(pthread_kill(pthread_self(), SIGUSR2) == 0);
	own = all;
	sigdelset(&own, SIGRTMIN + 20 + id); /* its own mask */
	pthread_sigmask(SIG_SETMASK, &own, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &own); /* less KILL and STOP */
	pthread_barrier_wait(&barrier);
	while (check_running())
		check_nap();
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	CHECK(!memcmp(&now, &own, 8), "mask of thread %d", id);
	take(SIGUSR2, SI_USER, 0); /* glibc says so for SI_TKILL */
	take_none(SIGUSR2);
	for (int i = 0; i < of_thread; i++)
		take(SIGRTMIN + 5, SI_QUEUE, id * 10000 + i);
	take_none(SIGRTMIN + 5);
	return NULL;
}

static void check_pending(void)
{
	sigset_t set;

	CHECK(sigpending(&set) == 0);
	CHECK(sigismember(&set, SIGUSR1) && sigismember(&set, SIGRTMIN + 3) &&
	      sigismember(&set, SIGRTMIN + 4));
	CHECK(!sigismember(&set, SIGUSR2) && !sigismember(&set, SIGRTMIN + 5));
}

int main(int argc, char **argv)
{
	pthread_t t[3];
	sigset_t all;

	if (argc > 1) {
		queued = 1500;
		of_thread = 700;
	}
	set_dispositions();
	sigfillset(&all);
	sigdelset(&all, SIGINT);
	sigdelset(&all, SIGTERM);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_barrier_init(&barrier, NULL, 4);
	for (int i = 0; i < 3; i++)
		t[i] = check_thread(run, (void *)(intptr_t)i);
	pthread_barrier_wait(&barrier);
	CHECK(kill(getpid(), SIGUSR1) == 0);
	CHECK(kill(getpid(), SIGUSR1) == 0); /* merges with the first */
	queue(SIGRTMIN + 3, queued, 5000);
	queue(SIGRTMIN + 4, queued, 6000);
	check_ready();
	if (check_sabotaged())
		take(SIGRTMIN + 3, SI_QUEUE, 5000);
	while (check_running()) {
		check_dispositions();
		check_pending();
		check_nap();
	}
	for (int i = 0; i < 3; i++)
		check_join(t[i]);
	take(SIGUSR1, SI_USER, 0);
	take_none(SIGUSR1);
	for (int i = 0; i < queued; i++) {
		take(SIGRTMIN + 3, SI_QUEUE, 5000 + i);
		take(SIGRTMIN + 4, SI_QUEUE, 6000 + i);
	}
	take_none(SIGRTMIN + 3);
	take_none(SIGRTMIN + 4);
	CHECK(delivered == 0, "%d signals slipped through", delivered);
	return check_pass();
}
