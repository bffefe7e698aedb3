/*
 * wait.h - system calls that wait for a limited time, and the remaining time
 *
 * The freeze interrupts such a call, and only the source's kernel could
 * continue it.  So the engine computes when the wait would end, and has the
 * call repeated for the remaining time.  Some calls report the remaining time
 * (select, ppoll, nanosleep with a second argument).  For the others (poll,
 * epoll_wait, futex, sigtimedwait, nanosleep without) it is the limit minus the
 * time slept so far, which /proc/TID/sched shows as long as the thread has not
 * been disturbed: tracee_look().  In doubt a wait ends later, never earlier.
 *
 * All ends are instants of this process's CLOCK_MONOTONIC, in nanoseconds.
 */
#ifndef MOVE_TRACEE_WAIT_H
#define MOVE_TRACEE_WAIT_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* The form of a limit: in memory, or (msec) the argument itself. */
enum wait_form { WAIT_TIMESPEC = 1, WAIT_TIMEVAL, WAIT_MSEC };

struct wait_kind {
	long nr;
	enum wait_form form;
	int limit; /* the argument with the time limit */
	int rest;  /* the argument that reports the remaining time, or -1 */
};

/* NULL if the call has no time limit. */
const struct wait_kind *wait_kind(int64_t nr, const uint64_t arg[6]);

void wait_args(const struct user_regs_struct *regs, uint64_t ret[6]);
/* Where argument i of a call stands. */
unsigned long long *wait_arg(struct user_regs_struct *regs, int i);

/* The limit of a call of pid, ns; -1: none, or not readable. */
int64_t wait_limit(pid_t pid, const struct wait_kind *k, const uint64_t arg[6]);

/*
 * Convert between a limit (two words of memory, or one argument) and
 * nanoseconds; a malformed limit is -1.  Storing rounds up; values that are not
 * positive become at_least.
 */
int64_t wait_load(enum wait_form form, const uint64_t v[2]);
void wait_store(enum wait_form form, int64_t ns, int64_t at_least,
		uint64_t v[2]);

/*
 * Guess by its arguments which call restart_syscall is continuing, if the
 * number is lost because the call was interrupted before by something else; or
 * -1.
 */
int64_t wait_guess(pid_t pid, const uint64_t arg[6]);

/* CLOCK_MONOTONIC, ns. */
int64_t wait_now(void);

#endif
