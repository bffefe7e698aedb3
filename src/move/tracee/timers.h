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
 * Append the timers listed in text, the content of such a file, to s (their
 * values are read later): 0, -E2BIG for more than max, -EPROTO or -ENOTSUP for
 * timers that cannot be parsed or moved.
 */
int timers_parse(const char *text, Move__State *s, size_t max,
		 struct error *err) must_check;
/* Is it a CPU clock, which stops while the process is stopped? */
bool timers_of_cpu(int32_t clock);
/* The same for a process that we may trace. */
int timers_read(pid_t pid, Move__State *s, size_t max,
		struct error *err) must_check;

#endif
