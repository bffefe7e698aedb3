/*
 * wait.h - system calls that wait for a limited time, and what is left of it
 *
 * The freeze interrupts such a call, and the kernel that could continue it
 * stays behind.  So the engine finds out when the wait ends, and has the call
 * made again for the rest.  Where the kernel tells the rest (select, ppoll,
 * nanosleep with a second argument), that is it.  Elsewhere (poll, epoll_wait,
 * futex, sigtimedwait, nanosleep without) it is the limit less the time slept
 * so far, which the scheduler's notes in /proc/TID/sched tell of a thread that
 * has not been disturbed yet: tracee_look().  Every doubt is decided for the
 * later end: a wait may take longer by the doubt, never shorter.
 *
 * All ends are instants of this process's CLOCK_MONOTONIC, in nanoseconds.
 */
#ifndef MOVE_TRACEE_WAIT_H
#define MOVE_TRACEE_WAIT_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* How a limit is written down: in memory, or (msec) in the argument itself. */
enum wait_form { WAIT_TIMESPEC = 1, WAIT_TIMEVAL, WAIT_MSEC };

struct wait_kind {
	long nr;
	enum wait_form form;
	int limit; /* the argument that says how long */
	int rest;  /* the one by which the kernel tells the rest, or -1 */
};

/* NULL: that call does not wait for a length of time. */
const struct wait_kind *wait_kind(int64_t nr, const uint64_t arg[6]);

void wait_args(const struct user_regs_struct *regs, uint64_t ret[6]);
/* Where argument i of a call stands. */
unsigned long long *wait_arg(struct user_regs_struct *regs, int i);

/* The limit of a call of pid, ns; -1: none, or not readable. */
int64_t wait_limit(pid_t pid, const struct wait_kind *k, const uint64_t arg[6]);

/*
 * Two words of memory, or one argument, and the time they say; malformed is
 * -1.  Storing rounds up, and what is not positive becomes at_least.
 */
int64_t wait_load(enum wait_form form, const uint64_t v[2]);
void wait_store(enum wait_form form, int64_t ns, int64_t at_least,
		uint64_t v[2]);

/*
 * Which call restart_syscall is continuing, judged by its arguments, where
 * its number is lost because somebody else has interrupted it before; -1.
 */
int64_t wait_guess(pid_t pid, const uint64_t arg[6]);

/* CLOCK_MONOTONIC, ns. */
int64_t wait_now(void);

#endif
