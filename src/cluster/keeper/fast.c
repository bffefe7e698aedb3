/*
 * fast.c - looking after the capsule's fast path
 *
 * The keeper owns it, as agents come and go. Hooks into forwarding on the host
 * are looked for every second, since not all of them can be notified: by the
 * agent for all keepers (host/hooks_word.h), and by each keeper itself while
 * the agent is silent. Each change is one line of the log.
 *
 * The agent's word says when it was written, so the keeper reads it shortly
 * after the next one is due.  Nothing wakes it for that: inotify would, but a
 * user has 128 instances of it, and the owner's signs (cluster/owner) need some.
 *
 * A rank that has just begun may be over at once, and to attach and detach two
 * programs waits 30 ms for grace periods, with locks held that others' starts
 * wait for: it is given its path when it has lived for a while.  One that lands
 * has lived.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/host/hooks_word.h"
#include "cluster/keeper/priv.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/xalloc.h"

#define YOUNG (200 * USEC_PER_MSEC)
#define LATE \
	(100 * USEC_PER_MSEC) /* a word may come, and is looked for again */

static void tell_path(struct keeper_rank *rank, int now, const char *why)
{
	if (rank->fast.why_slow && now == rank->fast.told &&
	    !strcmp(why, rank->fast.why_slow))
		return;
	rank->fast.told = now;
	free(rank->fast.why_slow);
	rank->fast.why_slow = xstrdup(why);
	if (now > 0)
		log_info("fast-path=on");
	else
		log_info("fast-path=off why=\"%s\"", why);
}

static void stop_looking(struct keeper_rank *rank)
{
	rank->fast.timer = sd_event_source_disable_unref(rank->fast.timer);
}

/* False: it cannot be made now, and so cannot be made later. */
static bool look_at_path(struct keeper_rank *rank, const struct net_hooks *word)
{
	struct error why = ERROR_INIT;
	int r = capsule_fast_path(rank->capsule, word, &why);

	if (r != -ENODEV)
		tell_path(rank, r, why.text);
	return r >= 0;
}

static usec_t until_next_word(usec_t last)
{
	usec_t wait = last + HOOKS_EVERY + LATE - clock_usec(CLOCK_MONOTONIC);

	return wait > LATE ? wait : LATE;
}

static int on_time(sd_event_source *src, uint64_t now, void *ctx)
{
	struct keeper_rank *rank = ctx;
	struct net_hooks word;
	usec_t when = 0;
	bool told = hooks_read(rank->id.run_dir, &word, &when);
	bool news = !told || when != rank->fast.heard;

	rank->fast.heard = when;
	if (news && !look_at_path(rank, told ? &word : NULL)) {
		stop_looking(rank);
		return 0;
	}
	sd_event_source_set_time_relative(src, told ? until_next_word(when)
						    : HOOKS_EVERY);
	sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
	return 0;
}

void keeper_fast_path_begin(struct keeper_rank *rank, bool fresh)
{
	if (!rank->fast.wanted)
		tell_path(rank, 0, "the agent's setting is fast-path=no");
	else if (sd_event_add_time_relative(rank->k->event, &rank->fast.timer,
					    CLOCK_MONOTONIC, fresh ? YOUNG : 0,
					    USEC_PER_MSEC, on_time, rank) < 0)
		log_warnx("no timer for the fast path");
}

void keeper_fast_path_end(struct keeper_rank *rank)
{
	stop_looking(rank);
	free(rank->fast.why_slow);
	rank->fast.why_slow = NULL;
}
