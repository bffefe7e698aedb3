/*
 * timers.c - POSIX timers, as /proc/PID/timers lists them
 *
 *	ID: 0
 *	signal: 14/00007fff8a1d0000
 *	notify: signal/tid.1234
 *	ClockID: 1
 */
#include "move/tracee/timers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "move/proc/proc.h"
#include "move/wire/append.h"

static int parse_notify(const char *how, const char *whom, Move__PosixTimer *t)
{
	t->notify = !strcmp(how, "none")     ? SIGEV_NONE
		    : !strcmp(how, "signal") ? SIGEV_SIGNAL
					     : SIGEV_THREAD;
	if (!strcmp(whom, "tid") && t->notify == SIGEV_SIGNAL)
		t->notify = SIGEV_THREAD_ID;
	return t->notify == SIGEV_THREAD ? -ENOTSUP : 0;
}

int timers_parse(const char *text, Move__State *s, size_t max,
		 struct error *err)
{
	while (*text) {
		Move__PosixTimer *t;
		int id, signo, tid, clock, used = 0;
		unsigned long value;
		char how[16], whom[16];

		if (sscanf(text,
			   "ID: %d signal: %d/%lx notify: %15[^/]/%15[^.].%d ClockID: %d%n",
			   &id, &signo, &value, how, whom, &tid, &clock,
			   &used) != 7)
			return error_set(err, -EPROTO,
					 "timers: cannot read it");
		if (s->n_timer == max)
			return error_set(err, -E2BIG,
					 "more than %zu POSIX timers", max);
		t = append_new(&move__posix_timer__descriptor);
		t->id = id;
		t->signo = signo;
		t->sigval = value;
		t->clock = clock;
		t->tid = tid;
		append_to(s->timer, s->n_timer, t);
		if (parse_notify(how, whom, t) < 0)
			return error_set(err, -ENOTSUP,
					 "POSIX timer %d notifies by '%s'", id,
					 how);
		text += used;
		while (*text == '\n')
			text++;
	}
	return 0;
}

bool timers_of_cpu(int32_t clock)
{
	/* others' and threads' clocks have negative numbers */
	return clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID ||
	       clock == CLOCK_THREAD_CPUTIME_ID;
}

int timers_read(pid_t pid, Move__State *s, size_t max, struct error *err)
{
	char *text;
	ssize_t n = proc_read(pid, "timers", &text, err);
	int r;

	if (n < 0)
		return (int)n;
	r = timers_parse(text, s, max, err);
	free(text);
	return r;
}
