/*
 * loop.h - event loops whose timers cannot fail
 *
 * An event source that cannot be added would be lost silently, so the result of
 * every sd_event_add_*() is checked.  Adding a timer fails only if there is no
 * descriptor for the first timer of a clock, which loop_create() avoids by
 * making one, or if memory runs out, which aborts (core/xalloc.h).  Adding a
 * descriptor or a signal can fail for other reasons, which the caller handles.
 * Nothing is added to a loop that has ended.
 */
#ifndef CLUSTER_CONN_LOOP_H
#define CLUSTER_CONN_LOOP_H

#include <systemd/sd-event.h>

#include "core/error.h"
#include "core/units.h"

/*
 * How long an agent waits until a keeper is ready; who waits for that agent's
 * answer waits longer.
 */
#define KEEPER_PATIENCE (60 * USEC_PER_SEC)

/* A loop with the descriptors that its timers need. */
int loop_create(sd_event **ret, struct error *err) must_check;

/*
 * Call fn in `after` from now, by the monotonic clock.  *source must be NULL
 * and then belongs to the caller; with source NULL the loop owns the timer.
 */
void loop_after(sd_event *event, sd_event_source **source, usec_t after,
		sd_event_time_handler_t fn, void *ctx);

/* Call fn as soon as the loop comes round, now or when it is enabled again. */
void loop_defer(sd_event *event, sd_event_source **source,
		sd_event_handler_t fn, void *ctx);

/*
 * What to say where a descriptor cannot be watched, and of ENOSPC which limit is
 * in the way.  Returns code.
 */
int loop_unwatched(struct error *err, int code, const char *what);

/* Handle these signals (a list that ends with 0), which must be blocked. */
int loop_signals(sd_event *event, const int *signals,
		 sd_event_signal_handler_t fn, void *ctx,
		 struct error *err) must_check;

#endif
