/*
 * timers.h - POSIX timers, as /proc/PID/timers lists them
 */
#ifndef MOVE_TRACEE_TIMERS_H
#define MOVE_TRACEE_TIMERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"
#include "move/wire/state.pb-c.h"

/*
 * Append the timers that text, such a file, lists to s (their values come
 * later): 0, -E2BIG beyond max of them, -EPROTO or -ENOTSUP for what cannot be
 * read or moved.
 */
int timers_parse(const char *text, Move__State *s, size_t max,
		 struct error *err) must_check;
/* Of a clock that stands still while the process does? */
bool timers_of_cpu(int32_t clock);
/* The same for a process that we may trace. */
int timers_read(pid_t pid, Move__State *s, size_t max,
		struct error *err) must_check;

#endif
