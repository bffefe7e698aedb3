/*
 * hooks.c - who on this host wants to see forwarded packets, once for all
 * its keepers (host/hooks_word.h)
 */
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "cluster/agent/priv.h"
#include "cluster/conn/loop.h"
#include "cluster/host/hooks_word.h"
#include "core/clock.h"
#include "core/log.h"

static void look_for_hooks(struct agent *a)
{
	struct net_hooks word;

	a->hooks_at = clock_usec(CLOCK_MONOTONIC);
	net_hooks_look((int)if_nametoindex(a->conf->uplink), &word);
	/* Keepers that read no word look for themselves. */
	if (hooks_write(a->hooks_fd, &word) < 0)
		log_warnx("hooks=unwritten");
}

static int on_time(sd_event_source *src, uint64_t usec, void *arg)
{
	struct agent *a = arg;

	sd_event_source_set_time_relative(src, HOOKS_EVERY);
	sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
	if (!TAILQ_EMPTY(&a->relays))
		look_for_hooks(a);
	return 0;
}

void hooks_begin(struct agent *a)
{
	const struct agent_conf *conf = a->conf;
	struct error err;

	if (conf->no_fast_path || strcmp(a->net, "routed") || !conf->uplink ||
	    !*conf->uplink)
		return;
	a->hooks_fd = hooks_open(conf->run_dir, &err);
	if (a->hooks_fd < 0)
		log_warnx("error=\"%s\"", err.text);
	else
		loop_after(a->event, &a->hooks, 0, on_time, a);
}

void hooks_freshen(struct agent *a)
{
	if (a->hooks && clock_usec(CLOCK_MONOTONIC) - a->hooks_at > HOOKS_EVERY)
		look_for_hooks(a);
}

void hooks_end(struct agent *a)
{
	a->hooks = sd_event_source_disable_unref(a->hooks);
	if (a->hooks_fd >= 0)
		close(a->hooks_fd);
}
