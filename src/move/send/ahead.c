/*
 * ahead.c - processes that take part in the freeze get the processor before others; see
 * ahead.h
 */
#include "move/send/ahead.h"

#include <stdlib.h>

#include "core/hurry.h"
#include "core/xalloc.h"

/*
 * The longest time for which they may run ahead of others; WATCH_HURRY is the limit for
 * an engine that is kept from looking at the clock.
 */
#define HURRY_MOST (30 * USEC_PER_MSEC)

struct ahead {
	/* on: this end runs ahead of others; told: so does the destination. */
	bool on, told;
	usec_t since;
};

struct ahead *ahead_create(void)
{
	return xcalloc(1, sizeof(struct ahead));
}

void ahead_destroy(struct ahead *a)
{
	free(a);
}

void send_hurry(struct sending *s, bool on)
{
	const struct move_source_ops *ops = s->src->ops;
	bool threads = on && ops && ops->hurry;

	if (on == s->ahead->on)
		return;
	s->ahead->on = on;
	s->ahead->since = send_now();
	watch_hurried(s->watch, on, threads ? s->process.pid : 0, 0);
	if (on) {
		hurry_guard();
		hurry_begin(0);
	} else {
		hurry_end(0);
	}
	if (s->process.tracee)
		s->process.tracee->hurry = threads;
	if (ops && ops->hurry)
		ops->hurry(s->src->ctx, on);
}

int send_hurry_both(struct sending *s, bool on, struct error *err)
{
	int r = 0;

	send_hurry(s, on);
	if (s->ahead->told != on)
		r = frame_send_u64(s->ch, FRAME_HURRY, on, err);
	if (!r)
		s->ahead->told = on;
	return r;
}

void send_hurry_bound(struct sending *s)
{
	struct error err;

	/* if that fails, sending the next frame fails, too */
	if (s->ahead->on && send_now() - s->ahead->since > HURRY_MOST)
		(void)!send_hurry_both(s, false, &err);
}
