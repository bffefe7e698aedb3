/*
 * watch.c - the source's limits: how long the process may stand still without progress
 */
#include <errno.h>
#include <signal.h>

#include "move/fd/fds.h"
#include "move/send/ahead.h"
#include "move/send/throttle.h"
#include "move/send/track.h"

/*
 * For how long an engine may show no progress while the process stands still: some ten
 * times what the slowest step of a freeze takes on a busy machine, and a tenth of how
 * long a connection may be silent otherwise. A destination that is slower, because
 * others have its processors, says BEAT.
 */
#define STANDSTILL   (5 * USEC_PER_SEC / 2)
/* How far a budget may be exceeded before the move is given up. */
#define OVER_BUDGET  (1 * USEC_PER_SEC)
/*
 * The engine itself gives up this much earlier; the watch kills only engines
 * that hang.
 */
#define GRACE	     (500 * USEC_PER_MSEC)
/*
 * Bytes that must get through between two signs of progress, as several moves may share
 * a rate, and each look counts only one flush.
 */
#define FLUSHES	     (UINT64_C(4) << 20)
#define SLOW_CONTENT 20 /* bytes of socket queues and files per microsecond */

static void calm(void *sending)
{
	const struct move_source *src = ((struct sending *)sending)->src;

	if (src->ops && src->ops->hurry)
		src->ops->hurry(src->ctx, false);
}

/*
 * A process that only the engine stopped goes on by itself; one that is held by other
 * means (a freezer) is released by its keeper, which knows the record.
 */
static void ended(void *sending, int note, bool hung)
{
	const struct move_source *src = ((struct sending *)sending)->src;
	bool given = note == SEND_DECIDES;
	const char *why =
		hung && given
			? "the engine hung as it gave the process away: it was ended, and the process stands still here"
		: hung	? "the engine hung while the process stood still: it was ended, and the process goes on here"
		: given ? "the engine was killed as it gave the process away, and the process stands still here"
			: "the engine was killed, by somebody or for want of memory, and the process goes on here";

	if (note == SEND_HELD && !(src->ops && src->ops->hold))
		kill(src->pid, SIGCONT);
	if (src->ended)
		src->ended(src->ctx, given ? MOVE_UNDECIDED : MOVE_ABORTED,
			   why);
	else if (hung)
		send_progress(src, "%s", why);
}

/*
 * How long FLUSHES may take at the rate that the owners of both hosts allow for moves.
 */
static usec_t paced(const struct sending *s)
{
	uint64_t rate = channel_rate(s->ch);

	return rate ? (usec_t)(FLUSHES * USEC_PER_SEC / rate) : 0;
}

/*
 * The destination says that it makes progress: so does this end, as long as it may
 * wait.
 */
static void beat(void *sending)
{
	struct sending *s = sending;

	if (!s->src->budget)
		watch_beat(s->watch);
}

int send_watch(struct sending *s, struct error *err)
{
	const struct watch_spec spec = { calm, ended, s };

	s->frame.beats = (struct frame_beats){ .told = beat, .arg = s };
	s->watch = watch_start(&spec, err);
	if (!s->watch)
		return -EAGAIN;
	watch_limit(s->watch, watch_standstill(STANDSTILL) + paced(s) + GRACE);
	return 0;
}

/*
 * Reading page tables counts as progress; but if there is a budget, that includes it.
 */
static void beat_scans(struct sending *s, bool on)
{
	track_beat(s->process.track, on ? s->watch : NULL);
}

void send_limit(struct sending *s)
{
	usec_t budget = s->src->budget;
	usec_t limit = budget ? OVER_BUDGET + 2 * budget
			      : STANDSTILL + s->report->predicted +
					(usec_t)(fds_content(s->common.fds) /
						 SLOW_CONTENT);

	limit = watch_standstill(limit) + paced(s);
	frame_set_patience(s->ch, limit);
	/*
	 * the limit for standing still is not extended by what the destination says
	 */
	s->frame.beats.most = budget ? limit : 0;
	watch_limit(s->watch, limit + GRACE);
	beat_scans(s, !budget);
}

/*
 * While rounds go on a slow link may be silent for as long as before, so the watch
 * waits as long.
 */
void send_limit_halted(struct sending *s)
{
	watch_limit(s->watch, FRAME_PATIENCE * USEC_PER_SEC + GRACE);
}

void send_unwatched(struct sending *s)
{
	frame_set_patience(s->ch, FRAME_PATIENCE * USEC_PER_SEC);
	s->frame.beats.most = 0;
	watch_limit(s->watch, watch_standstill(STANDSTILL) + paced(s) + GRACE);
	watch_stands(s->watch, false);
	beat_scans(s, true);
}

void send_tick(void *sending)
{
	struct sending *s = sending;

	throttle_tick(s->throttle);
	if (!s->src->budget)
		watch_beat(s->watch);
	send_hurry_bound(s);
}
