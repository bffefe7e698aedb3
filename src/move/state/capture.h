/*
 * capture.h - capture everything about a stopped process but memory and
 * descriptors
 *
 * capture_static() while the process runs: what rarely changes and is slow to
 * read.  capture_state() with all threads stopped: the rest, by ptrace and by
 * lists of calls that the threads make themselves.
 */
#ifndef MOVE_STATE_CAPTURE_H
#define MOVE_STATE_CAPTURE_H

#include "core/error.h"
#include "move/proc/proc.h"
#include "move/tracee/tracee.h"
#include "move/wire/state.pb-c.h"

/* Allocated; move__state__free_unpacked() frees it. */
int capture_static(pid_t pid, Move__State **ret, struct error *err) must_check;
/* What a program may change at any time: limits, directory, umask. */
int capture_changing(pid_t pid, const struct proc_status *stopped,
		     Move__State *s, struct error *err) must_check;
/*
 * With all threads stopped: -EAGAIN if a thread is in a call that was
 * interrupted before by something else, and it is not known which call.  Try
 * again later.
 */
int capture_calls(const struct tracee *t, struct error *err) must_check;
/* stopped: read since all threads stand still, and so below. */
int capture_state(struct tracee *t, const struct proc_status *stopped,
		  Move__State *s, struct error *err) must_check;
/* User, groups and capabilities, as far as /proc shows them. */
Move__Creds *capture_creds(const struct proc_status *stopped) must_check;

#endif
