/* wake.c - the instants at which the policy asked to be woken */
#include <stdlib.h>
#include <string.h>

#include "cluster/conn/loop.h"
#include "cluster/controller/sched/priv.h"
#include "cluster/controller/state/find.h"
#include "core/xalloc.h"

void sched_forget_wakes(struct ctl *ctl)
{
	struct sched_wakes *w = &ctl->sched->wakes;

	sd_event_source_disable_unref(w->timer);
	free(w->at);
	*w = (struct sched_wakes){ .at = NULL };
}

static void set_timer(struct ctl *ctl);

static int on_wake(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ctl *ctl = arg;
	struct sched_wakes *w = &ctl->sched->wakes;
	usec_t now = ctl_now();

	while (w->nr && w->at[w->nr - 1] <= now)
		w->nr--;
	set_timer(ctl);
	ctl_sched_timer(ctl);
	return 0;
}

static void set_timer(struct ctl *ctl)
{
	struct sched_wakes *w = &ctl->sched->wakes;
	usec_t left;

	w->timer = sd_event_source_disable_unref(w->timer);
	if (!w->nr)
		return;
	left = w->at[w->nr - 1] - ctl_now();
	loop_after(ctl->event, &w->timer, left > 0 ? left : 0, on_wake, ctl);
}

void ctl_sched_wake(struct ctl *ctl, usec_t at)
{
	struct sched_wakes *w = &ctl->sched->wakes;
	size_t i = w->nr;

	if (at < 0 || at == USEC_MAX)
		return;
	while (i > 0 && w->at[i - 1] < at)
		i--;
	if (i > 0 && w->at[i - 1] == at)
		return;
	array_room(w->at, w->nr, &w->cap);
	memmove(w->at + i + 1, w->at + i, (w->nr - i) * sizeof(*w->at));
	w->at[i] = at;
	w->nr++;
	set_timer(ctl);
}
