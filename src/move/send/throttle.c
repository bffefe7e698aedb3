/*
 * throttle.c - slow a process down; see throttle.h
 *
 * It stops the threads in the same way as the freeze: that works without a cgroup, and
 * ends by itself if the engine dies.
 */
#include "move/send/throttle.h"

#include <stdlib.h>

#include "core/xalloc.h"
#include "move/send/send.h"

#define RUN_USEC  (1 * USEC_PER_MSEC)
#define STOP_USEC (3 * USEC_PER_MSEC)

struct throttle {
	struct tracee *tracee;
	usec_t budget;
	usec_t since; /* when the process was last stopped or resumed */
};

struct throttle *throttle_create(struct tracee *t, usec_t budget)
{
	struct throttle *th = xcalloc(1, sizeof(*th));

	tracee_look(t);
	*th = (struct throttle){ t, budget, send_now() };
	if (!budget) /* at once */
		th->since -= RUN_USEC;
	return th;
}

void throttle_tick(struct throttle *th)
{
	usec_t now, stop = STOP_USEC;
	struct error err;

	if (!th)
		return;
	now = send_now();
	if (th->budget < stop)
		stop = th->budget;
	if (th->tracee->nr && th->budget && now - th->since >= stop) {
		tracee_resume(th->tracee);
	} else if (!th->tracee->nr && now - th->since >= RUN_USEC) {
		/* if that fails, the next step of the move fails, too */
		if (tracee_stop(th->tracee, &err) < 0)
			tracee_resume(th->tracee);
	} else {
		return;
	}
	th->since = now;
}

void throttle_destroy(struct throttle *th)
{
	if (!th)
		return;
	tracee_resume(th->tracee);
	free(th);
}
