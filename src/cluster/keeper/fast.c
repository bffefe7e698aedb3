/*
 * fast.c - looking after the capsule's fast path
 *
 * The keeper owns it, as agents come and go. Hooks into forwarding on the host
 * are looked for every second, since not all of them can be notified: by the
 * agent for all keepers (host/hooks_word.h), and by each keeper itself while
 * the agent is silent. Each change is one line of the log.
 *
 * A rank that has just begun may be over at once, and to attach and detach two
 * programs waits 30 ms for grace periods, with locks held that others' starts
 * wait for: it is given its path when it has lived for a while.  One that lands
 * has lived.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "cluster/host/hooks_word.h"
#include "cluster/keeper/priv.h"
#include "core/log.h"
#include "core/xalloc.h"

#define YOUNG (200 * USEC_PER_MSEC)

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
	rank->fast.hooks = sd_event_source_disable_unref(rank->fast.hooks);
}

/* Look at the path, when told of a change or not told anything for too long. */
static void look_at_path(struct keeper_rank *rank, usec_t again)
{
	struct error why = ERROR_INIT;
	struct net_hooks word;
	bool told = hooks_read(rank->id.run_dir, &word);
	int r = capsule_fast_path(rank->capsule, told ? &word : NULL, &why);

	if (r != -ENODEV)
		tell_path(rank, r, why.text);
	if (r < 0) { /* a path that cannot be made now cannot be made later */
		stop_looking(rank);
		return;
	}
	sd_event_source_set_time_relative(rank->fast.timer, again);
	sd_event_source_set_enabled(rank->fast.timer, SD_EVENT_ONESHOT);
}

static int on_word(sd_event_source *src, const struct inotify_event *ev,
		   void *ctx)
{
	look_at_path(ctx, HOOKS_FRESH);
	return 0;
}

/*
 * Before the first agent the file does not exist.  If changes to it cannot be
 * watched, it is read every second.
 */
static void listen_to_agent(struct keeper_rank *rank)
{
	char *path = hooks_path(rank->id.run_dir);
	int r = 0;

	if (!rank->fast.hooks && !access(path, F_OK))
		r = sd_event_add_inotify(rank->k->event, &rank->fast.hooks,
					 path, IN_MODIFY, on_word, rank);
	if (r < 0)
		log_debug("hooks=unheard");
	free(path);
}

static int on_time(sd_event_source *src, uint64_t now, void *ctx)
{
	listen_to_agent(ctx);
	look_at_path(ctx, HOOKS_EVERY);
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
