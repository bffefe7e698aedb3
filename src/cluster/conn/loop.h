/*
 * loop.h - event loops whose timers cannot fail
 *
 * What cannot be put on a loop would never be heard of, so every
 * sd_event_add_*() is looked at.  A timer can fail for two reasons: there is no
 * descriptor for the first of its clock, which loop_create() makes, and memory
 * has run out, which aborts (core/xalloc.h).  A descriptor or a signal can fail
 * for others, and whoever adds one knows what follows.  On a loop that has ended
 * nothing is put any more.
 */
#ifndef CLUSTER_CONN_LOOP_H
#define CLUSTER_CONN_LOOP_H

#include <systemd/sd-event.h>

#include "core/error.h"
#include "core/units.h"

/* A loop that has all it needs for timers. */
int loop_create(sd_event **ret, struct error *err) must_check;

/*
 * Call fn in `after` from now, by the monotonic clock.  *source must be NULL and
 * is then the caller's; source NULL: the loop's.
 */
void loop_after(sd_event *event, sd_event_source **source, usec_t after,
		sd_event_time_handler_t fn, void *ctx);

/* Call fn as soon as the loop comes round, now or when it is enabled again. */
void loop_defer(sd_event *event, sd_event_source **source,
		sd_event_handler_t fn, void *ctx);

/* Take blocked signals, up to a 0. */
int loop_signals(sd_event *event, const int *signals,
		 sd_event_signal_handler_t fn, void *ctx,
		 struct error *err) must_check;

#endif
