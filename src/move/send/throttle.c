/*
 * throttle.c - slow a process down; see throttle.h
 *
 * By stopping its threads as the freeze does: works without a cgroup, and
 * ends by itself should the engine die.
 */
#include "move/send/throttle.h"

#define RUN_USEC  (1 * USEC_PER_MSEC)
#define STOP_USEC (3 * USEC_PER_MSEC)

void throttle_start(struct sending *s)
{
	tracee_look(s->tracee);
	s->throttling = true;
	s->throttled_since = send_now();
}

void throttle_tick(void *sending)
{
	struct sending *s = sending;
	usec_t now, stop = STOP_USEC;
	struct error err;

	if (!s->throttling)
		return;
	now = send_now();
	if (s->src->budget < stop)
		stop = s->src->budget;
	if (s->tracee->nr && now - s->throttled_since >= stop) {
		tracee_resume(s->tracee);
	} else if (!s->tracee->nr && now - s->throttled_since >= RUN_USEC) {
		/* if that fails, whatever comes next will say so */
		if (tracee_stop(s->tracee, &err) < 0)
			tracee_resume(s->tracee);
	} else {
		return;
	}
	s->throttled_since = now;
}

void throttle_stop(struct sending *s)
{
	s->throttling = false;
	tracee_resume(s->tracee);
}
