/* run_signals.c - signals for a job, see run_signals.h */
#include "cmd/client/run_signals.h"

#include <signal.h>
#include <stddef.h>

static const int signals[] = { SIGINT,	SIGTERM, SIGHUP, SIGQUIT,
			       SIGUSR1, SIGUSR2, SIGALRM };

/* As nohup(1) wants it. */
static bool is_ignored(int signo)
{
	struct sigaction now;

	return !sigaction(signo, NULL, &now) && now.sa_handler == SIG_IGN;
}

int run_signals_take(sd_event *event, sd_event_signal_handler_t handler,
		     void *ctx)
{
	sigset_t block;
	int r = 0;

	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals) && r >= 0;
	     i++) {
		if (signals[i] == SIGHUP && is_ignored(SIGHUP))
			continue;
		sigemptyset(&block);
		sigaddset(&block, signals[i]);
		sigprocmask(SIG_BLOCK, &block, NULL);
		r = sd_event_add_signal(event, NULL, signals[i], handler, ctx);
	}
	return r;
}

bool run_signal_ends(int signo)
{
	return signo == SIGINT || signo == SIGTERM || signo == SIGHUP ||
	       signo == SIGQUIT;
}
