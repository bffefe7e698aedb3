/*
 * watch.c - the destination's limits, as send/watch.c has the source's: how long a copy
 * stands still that this end has to release, and how long processes are ahead of others
 */
#include <errno.h>
#include <time.h>

#include "core/clock.h"
#include "core/hurry.h"
#include "core/procstat.h"
#include "move/land/land.h"
#include "move/proc/watch.h"
#include "move/wire/frame.h"

/* For how long there may be no progress. */
#define STANDSTILL (3 * USEC_PER_SEC)
#define HURRY_MOST (30 * USEC_PER_MSEC)

/*
 * L and F take longer than a freeze may.  Where real-time is shared out by group
 * (RT_GROUP_SCHED) theirs can have none left for the rest of a second, by the
 * work of one process or a pause of the machine; without it they go on at once.
 */
void landing_calm(const struct landing *l)
{
	if (!l->ahead.on)
		return;
	if (!l->ahead.own)
		move_calm(l->pid);
	hurry_end(l->helper.pid);
}

/* Does the process run, or want to? Or has it run since the last time? */
static bool gets_on(struct landing *l, pid_t pid)
{
	uint64_t before = l->beat.ticks;
	struct procstat st;

	if (procstat_read(pid, &st) < 0)
		return false;
	l->beat.ticks = st.user_ticks + st.system_ticks;
	return st.state == 'R' || l->beat.ticks != before;
}

void landing_beat(struct landing *l, pid_t pid)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC);

	if (!l->ch || now - l->beat.at < FRAME_BEAT_EVERY)
		return;
	l->beat.at = now;
	/* if that fails, the next frame will tell */
	if (!pid || gets_on(l, pid))
		(void)!frame_send(l->ch, FRAME_BEAT, NULL, 0,
				  &(struct error)ERROR_INIT);
}

void landing_wait_longer(struct landing *l, pid_t pid)
{
	landing_calm(l);
	landing_beat(l, pid);
}

void landing_own_ahead(struct landing *l)
{
	l->ahead.own = true;
	watch_hurried(l->watch, l->ahead.on, 0, l->helper.pid);
}

void landing_stage(struct landing *l, enum landing_stage stage)
{
	watch_note(l->watch, (int)stage);
	watch_waits(l->watch, stage == LANDING_ASKS);
	watch_stands(l->watch, stage != LANDING_RELEASED);
}

void landing_release(struct landing *l)
{
	/*
	 * Its threads restore their own scheduling as soon as they run; the
	 * engine or its watch does for one that does not get to, since its
	 * group has used up its real-time.
	 */
	landing_release_box(l->box);
	landing_stage(l, LANDING_RELEASED);
}

static void calm(void *landing)
{
	const struct move_dest *dst = ((struct landing *)landing)->dst;

	if (dst->ops->hurry)
		dst->ops->hurry(dst->ctx, false);
}

/*
 * If another process was told that COMMIT has come, that one releases the copy;
 * otherwise this one does.
 */
static void ended(void *landing, int stage, bool hung)
{
	struct landing *l = landing;
	const struct move_dest *dst = l->dst;
	bool ours = stage >= LANDING_COMMITTED;

	if (hung && stage == LANDING_COMMITTED && !dst->ops->committed)
		landing_release(l);
	if (dst->ended)
		dst->ended(
			dst->ctx,
			ours	? MOVE_DONE
			: stage ? MOVE_UNDECIDED
				: MOVE_ABORTED,
			hung ? "the engine hung while the process stood still: it was ended"
			     : "the engine was killed, by somebody or for want of memory");
}

int landing_watch(struct landing *l, struct error *err)
{
	const struct watch_spec spec = { calm, ended, l };

	l->watch = watch_start(&spec, err);
	if (!l->watch)
		return -EAGAIN;
	watch_limit(l->watch, watch_standstill(STANDSTILL));
	return 0;
}

void landing_hurry(struct landing *l, bool on)
{
	const struct move_dest_ops *ops = l->dst->ops;

	if (on == l->ahead.on)
		return;
	if (on) {
		watch_hurried(l->watch, true, l->pid, l->helper.pid);
		hurry_guard();
		hurry_begin(0);
		hurry_begin(l->helper.pid);
		hurry_begin(l->pid);
	} else {
		watch_hurried(l->watch, false, 0, 0);
		hurry_end(0);
		landing_calm(l);
	}
	l->ahead.on = on;
	l->ahead.since = clock_usec(CLOCK_MONOTONIC);
	if (ops->hurry)
		ops->hurry(l->dst->ctx, on);
}

void landing_hurry_bound(struct landing *l)
{
	if (l->ahead.on &&
	    clock_usec(CLOCK_MONOTONIC) - l->ahead.since > HURRY_MOST)
		landing_hurry(l, false);
}
