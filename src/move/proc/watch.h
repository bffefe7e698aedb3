/*
 * watch.h - somebody who does not hang while a process stands still
 *
 * An engine that hangs (a SIGSTOP, a debugger, a disk that does not answer)
 * would keep the process that it has stopped standing still until it goes on.
 * So each engine forks a watch, which looks at it WATCH_RATE times a second.
 * While the process stands still the engine has to get on (watch_beat());
 * if it does not for its limit, the watch kills it.  No more than that, which
 * may happen to an engine at any instant anyway: what has been decided by then
 * is found out as after any other death (doc/design/41).
 *
 * It also ends the hurry (core/hurry.h) of all who take part once that has
 * lasted for WATCH_HURRY looks: where real-time is shared out by group, or
 * where the work is more than was thought, they would stand still, or keep
 * the host to themselves.
 *
 * Time is counted by looks, not by a clock: on a host that is paused, or too
 * busy to let the watch look, it takes as much longer.
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
 * Called in the watch, which has no descriptors but the standard ones; either
 * may be left out.
 */
struct watch_spec {
	/* Who takes part besides is not to be ahead any more. */
	void (*calm)(void *arg);
	/* It has killed the engine, whose last watch_note() was that. */
	void (*killed)(void *arg, int note);
	void *arg;
};

/*
 * Of the calling process.  NULL, with *err: it could not be made.  All else
 * here takes NULL.
 */
struct watch *watch_start(const struct watch_spec *spec,
			  struct error *err) must_check;
void watch_stop(struct watch *w);

/*
 * The usual limit, or as many seconds as STINT_STANDSTILL in the environment
 * says, for whoever wants to look at an engine that stands.
 */
usec_t watch_standstill(usec_t usual);
/* How long it may stand still without a beat, from now on. */
void watch_limit(struct watch *w, usec_t limit);
/* It stands still because of us, or not any more. */
void watch_stands(struct watch *w, bool on);
/* The engine gets on. */
void watch_beat(struct watch *w);
/*
 * It waits for others, who may take their time, and is taken for hung only
 * when it is stopped (SIGSTOP, a debugger).
 */
void watch_waits(struct watch *w, bool on);
/* The engine and threads of the processes a and b (0: none) are ahead. */
void watch_hurried(struct watch *w, bool on, pid_t a, pid_t b);
/* How far it is, for killed(). */
void watch_note(struct watch *w, int note);

#endif
