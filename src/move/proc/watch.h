/*
 * watch.h - a watchdog process for an engine
 *
 * An engine that hangs (a SIGSTOP, a debugger, a disk that does not answer)
 * would keep the process that it has stopped frozen. So each engine forks a
 * watch, which checks it WATCH_RATE times a second. While the process is frozen
 * the engine must report progress (watch_beat()); if it does not within its
 * limit, the watch kills it, and tells.  It does nothing else: an engine may die at any
 * instant anyway, and the outcome of the move is determined as after any other
 * death (doc/design/41).
 *
 * It also ends the real-time priority (core/hurry.h) of all processes that take
 * part after WATCH_HURRY checks: otherwise, if the work is more than was
 * predicted, they would exhaust their cgroup's real-time share and be stopped,
 * or starve the rest of the host.  It does so at once when the engine has ended
 * before it did.
 *
 * Time is counted in checks, not by a clock: on a host that is paused, or too
 * busy to run the watch, limits last correspondingly longer.  Nor does a check
 * count that finds the engine waiting for a processor.
 */
#ifndef MOVE_PROC_WATCH_H
#define MOVE_PROC_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/error.h"
#include "core/units.h"

#define WATCH_RATE  50
#define WATCH_HURRY 2

struct watch;

/*
 * Called in the watch, which has only the standard descriptors open; either may
 * be NULL.
 */
struct watch_spec {
	/* End the real-time priority of other processes that take part. */
	void (*calm)(void *arg);
	/*
	 * The engine has ended before watch_stop(): since it hung, and the watch
	 * has killed it, or by itself or another's hand.  note is its last
	 * watch_note().
	 */
	void (*ended)(void *arg, int note, bool hung);
	void *arg;
};

/*
 * Start a watch of the calling process; NULL with *err on failure.  All other
 * functions accept NULL.
 */
struct watch *watch_start(const struct watch_spec *spec,
			  struct error *err) must_check;
void watch_stop(struct watch *w);

/*
 * The usual limit, or STINT_STANDSTILL seconds if that is set in the
 * environment, for debugging a stopped engine.
 */
usec_t watch_standstill(usec_t usual);
/* How long the process may be frozen without a beat, from now on. */
void watch_limit(struct watch *w, usec_t limit);
/* The process is frozen by this engine (on), or no longer. */
void watch_stands(struct watch *w, bool on);
/* The engine makes progress. */
void watch_beat(struct watch *w);
/*
 * The engine waits for others (on), for any time: then it counts as hung only
 * when it is stopped (SIGSTOP, a debugger).
 */
void watch_waits(struct watch *w, bool on);
/*
 * The engine and the threads of processes a and b (0: none) have real-time
 * priority.
 */
void watch_hurried(struct watch *w, bool on, pid_t a, pid_t b);
/* Record how far the move has got, for ended(). */
void watch_note(struct watch *w, int note);

#endif
