/*
 * keeper_fast.c - looking after the capsule's fast path
 *
 * It is the keeper's, not the agent's: agents come and go.  What the host's
 * owner hooks into forwarding is looked for every second, since not everything
 * tells of itself; each change is told in one line of the log.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/keeper_priv.h"
#include "core/log.h"
#include "core/xalloc.h"

static const usec_t every = USEC_PER_SEC;

static void tell(struct keeper *k, int now, const char *why)
{
	if (k->why_slow && now == k->fast_path && !strcmp(why, k->why_slow))
		return;
	k->fast_path = now;
	free(k->why_slow);
	k->why_slow = xstrdup(why);
	if (now > 0)
		log_info("fast-path=on");
	else
		log_info("fast-path=off why=\"%s\"", why);
}

static int on_time(sd_event_source *src, uint64_t now, void *ctx)
{
	struct keeper *k = ctx;
	struct error why = ERROR_INIT;
	int r = capsule_fast_path(k->capsule, &why);

	if (r != -ENODEV)
		tell(k, r, why.text);
	if (r < 0)
		return 0; /* what cannot be today cannot be tomorrow */
	sd_event_source_set_time_relative(src, every);
	return sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
}

void keeper_fast_path_begin(struct keeper *k)
{
	if (!k->want_fast_path)
		tell(k, 0, "the agent's setting is fast-path=no");
	else if (sd_event_add_time_relative(k->event, &k->fast_path_source,
					    CLOCK_MONOTONIC, 0, USEC_PER_MSEC,
					    on_time, k) < 0)
		log_warnx("no timer for the fast path");
}

void keeper_fast_path_end(struct keeper *k)
{
	k->fast_path_source =
		sd_event_source_disable_unref(k->fast_path_source);
	free(k->why_slow);
	k->why_slow = NULL;
}
