/* modest.c - an engine that leaves some of the processors to others, see modest.h */
#include "move/send/modest.h"

#include <time.h>

#include "core/clock.h"

#define LONGEST (5 * USEC_PER_MSEC) /* at a time, so that all else is in time */
#define PAUSE	(2 * USEC_PER_MSEC) /* between two checks */
#define SAVED \
	(20 * USEC_PER_MSEC) /* what it did not take before that is no credit */

usec_t modest_wait(double share, usec_t ran, usec_t time)
{
	usec_t due = (usec_t)((double)ran / share) - time;

	return due < 0 ? 0 : due < LONGEST ? due : LONGEST;
}

void modest_let_go(struct sending *s)
{
	const struct move_source *src = s->src;
	struct error err;

	if (src->share <= 0 || s->modest.let_go || !src->ops || !src->ops->hold)
		return;
	s->modest.let_go = true;
	if (src->ops->hold(src->ctx, false, &err) < 0)
		send_progress(src, "%s", err.text);
}

void modest_pause(struct sending *s)
{
	modest_let_go(s);
	nanosleep(&(struct timespec){ .tv_nsec = PAUSE * 1000 }, NULL);
}

void modest_tick(struct sending *s)
{
	usec_t now = send_now(), ran = clock_usec(CLOCK_PROCESS_CPUTIME_ID);
	usec_t wait;

	if (s->src->share <= 0 || now >= s->started + s->src->deadline / 2)
		return;
	wait = modest_wait(s->src->share, ran - s->modest.ran,
			   now - s->modest.since);
	if (wait)
		nanosleep(&(struct timespec){ .tv_nsec = (long)wait * 1000 },
			  NULL);
	else if ((usec_t)((double)(ran - s->modest.ran) / s->src->share) +
			 SAVED <
		 now - s->modest.since) {
		s->modest.ran = ran;
		s->modest.since = now;
	}
}
