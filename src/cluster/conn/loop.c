/* loop.c - event loops whose timers cannot fail, see loop.h */
#include "cluster/conn/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"

/*
 * These calls fail only without memory or at the loop's end: all else that
 * they need is there.
 */
static void must(int r)
{
	if (r >= 0 || r == -ESTALE)
		return;
	log_warn(r, "event loop");
	abort();
}

static int on_never(sd_event_source *src, uint64_t usec, void *ctx)
{
	return 0;
}

int loop_create(sd_event **ret, struct error *err)
{
	sd_event_source *first = NULL;
	sd_event *event;
	int r = sd_event_new(&event);

	if (r < 0)
		return error_sys(err, r, "event loop");
	/* The loop keeps the clock's descriptor. */
	r = sd_event_add_time(event, &first, CLOCK_MONOTONIC, UINT64_MAX, 1,
			      on_never, NULL);
	sd_event_source_disable_unref(first);
	if (r < 0) {
		sd_event_unref(event);
		return loop_unwatched(err, r, "a timer for the event loop");
	}
	*ret = event;
	return 0;
}

void loop_after(sd_event *event, sd_event_source **source, usec_t after,
		sd_event_time_handler_t fn, void *ctx)
{
	must(sd_event_add_time_relative(event, source, CLOCK_MONOTONIC, after,
					USEC_PER_MSEC, fn, ctx));
}

void loop_defer(sd_event *event, sd_event_source **source,
		sd_event_handler_t fn, void *ctx)
{
	must(sd_event_add_defer(event, source, fn, ctx));
}

int loop_unwatched(struct error *err, int code, const char *what)
{
	if (code != -ENOSPC)
		return error_sys(err, code, "%s", what);
	return error_set(err, code,
			 "%s: %s: raise the limit of descriptors that a user "
			 "may watch, the sysctl fs.epoll.max_user_watches",
			 what, strerror(-code));
}

int loop_signals(sd_event *event, const int *signals,
		 sd_event_signal_handler_t fn, void *ctx, struct error *err)
{
	int r = 0;

	for (; *signals && r >= 0; signals++)
		r = sd_event_add_signal(event, NULL, *signals, fn, ctx);
	return r < 0 ? loop_unwatched(err, r, "signals for the event loop") : 0;
}
