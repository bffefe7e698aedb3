/* hurry.c - to run ahead of other processes for a moment; see hurry.h */
#include "core/hurry.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/io.h"
#include "core/units.h"

/*
 * A value that others are unlikely to use, so that hurry_end() recognizes its
 * own.
 */
#define PRIORITY 3
#define FIRST	 -20 /* nice value */

static int set_class(pid_t tid, int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	return sched_setscheduler(tid, policy, &param);
}

static bool has_usual_slack(pid_t tid)
{
	char path[40], *text;
	bool usual;

	snprintf(path, sizeof(path), "/proc/%d/timerslack_ns",
		 tid ? tid : getpid());
	if (io_read_file(AT_FDCWD, path, 64, &text) < 0)
		return false;
	usual = strtoull(text, NULL, 10) == HURRY_SLACK;
	free(text);
	return usual;
}

bool hurry_begin(pid_t tid)
{
	if (!has_usual_slack(tid) || sched_getscheduler(tid) != SCHED_OTHER ||
	    getpriority(PRIO_PROCESS, (id_t)tid) != 0)
		return false;
	return set_class(tid, SCHED_FIFO, PRIORITY) == 0 ||
	       setpriority(PRIO_PROCESS, (id_t)tid, FIRST) == 0;
}

void hurry_end(pid_t tid)
{
	struct sched_param param;

	if (getpriority(PRIO_PROCESS, (id_t)tid) == FIRST)
		(void)!setpriority(PRIO_PROCESS, (id_t)tid, 0);
	if (sched_getscheduler(tid) == SCHED_FIFO &&
	    sched_getparam(tid, &param) == 0 &&
	    param.sched_priority == PRIORITY)
		(void)!set_class(tid, SCHED_OTHER, 0);
}

bool hurry_is_like(unsigned policy, int priority, int nice)
{
	return nice == FIRST || (policy == SCHED_FIFO && priority == PRIORITY);
}

/* Nobody could tell of an end by the limit: so leave the class before that. */
static void too_long(int sig)
{
	(void)!set_class(0, SCHED_OTHER, 0);
}

void hurry_guard(void)
{
	struct rlimit limit = { USEC_PER_SEC, 2 * USEC_PER_SEC };
	struct sigaction act = { .sa_handler = too_long,
				 .sa_flags = SA_RESTART };

	sigaction(SIGXCPU, &act, NULL);
	(void)!setrlimit(RLIMIT_RTTIME, &limit);
}
