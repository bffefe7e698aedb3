/*
 * thread.c - are the threads of a process one process?
 *
 * By clone(2), unshare(2) and raw system calls a thread can have what in every
 * other program belongs to the process; a move would give all the leader's.
 */
#include <errno.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "move/check/check.h"
#include "move/proc/proc.h"

#define SCHED_DEADLINE 6

/* Lines of status that must be the same in all threads. */
static const struct {
	const char *line, *what;
} alike[] = {
	{ "\nSeccomp:", "a seccomp filter" },
	{ "\nUid:", "users" },
	{ "\nGid:", "groups" },
	{ "\nGroups:", "groups" },
	{ "\nCapInh:", "capabilities" },
	{ "\nCapPrm:", "capabilities" },
	{ "\nCapEff:", "capabilities" },
	{ "\nCapBnd:", "capabilities" },
	{ "\nCapAmb:", "capabilities" },
	{ "\nNoNewPrivs:", "no_new_privs" },
};

static bool same_line(const char *a, const char *b, const char *line)
{
	size_t n;

	a = strstr(a, line);
	b = strstr(b, line);
	if (!a || !b)
		return a == b;
	n = strcspn(a + 1, "\n") + 1;
	return !strncmp(a, b, n + 1);
}

static int compare_status(pid_t tid, const char *leader, const char *thread,
			  struct error *err)
{
	for (size_t i = 0; i < sizeof(alike) / sizeof(*alike); i++)
		if (!same_line(leader, thread, alike[i].line))
			return error_set(err, -ENOTSUP,
					 "thread %d has %s of its own", tid,
					 alike[i].what);
	return 0;
}

/* If the kernel cannot compare them, threads count as sharing. */
static int compare_shared(pid_t pid, pid_t tid, struct error *err)
{
	static const struct {
		int type;
		const char *what;
	} shared[] = {
		{ KCMP_FILES, "descriptor table" },
		{ KCMP_FS, "working directory" },
	};

	for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++)
		if (syscall(SYS_kcmp, pid, tid, shared[i].type, 0, 0) > 0)
			return error_set(err, -ENOTSUP,
					 "thread %d has a %s of its own", tid,
					 shared[i].what);
	return 0;
}

static int check_thread(pid_t pid, pid_t tid, const char *leader,
			struct error *err)
{
	char what[48], *text;
	int r;

	/*
	 * only its own kernel can keep the promise of a deadline's processor
	 * time
	 */
	if (syscall(SYS_sched_getscheduler, tid) == SCHED_DEADLINE)
		return error_set(err, -ENOTSUP,
				 "thread %d has deadlines (SCHED_DEADLINE)",
				 tid);
	snprintf(what, sizeof(what), "task/%d/status", tid);
	if (tid == pid || proc_read(pid, what, &text, NULL) < 0)
		return 0; /* the latter has ended */
	r = compare_status(tid, leader, text, err);
	free(text);
	return r < 0 ? r : compare_shared(pid, tid, err);
}

int check_threads(pid_t pid, struct error *err)
{
	char *leader;
	pid_t *tid;
	ssize_t n = proc_read(pid, "status", &leader, err);
	int r = 0;

	if (n < 0)
		return (int)n;
	n = proc_read_tasks(pid, &tid, err);
	for (ssize_t i = 0; i < n && !r; i++)
		r = check_thread(pid, tid[i], leader, err);
	free(leader);
	if (n < 0)
		return (int)n;
	free(tid);
	return r;
}
