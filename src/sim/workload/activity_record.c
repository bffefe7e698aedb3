/* activity_record.c - what owners did on the hosts of a live cluster, see activity_import.h */
#include <errno.h>
#include <stdlib.h>

#include "core/xalloc.h"
#include "model/playback.h"
#include "sim/workload/activity_import.h"
#include "sim/workload/inflate.h"

struct watcher {
	struct activity made;
	uint32_t *ours; /* the view's hosts to the script's */
	usec_t last;	/* a controller's clock may have been set back */
};

/* Bytes that are neither free nor, as far as was seen, its guests'. */
static double other_memory(const struct view *view, const struct host *h)
{
	double taken = (double)h->memory - (double)h->memory_free;
	const struct job *job;

	for_each_running(job, view)
	{
		for (uint32_t i = 0; i < job->n; i++)
			if (job->hosts[i] == h->ix)
				taken -= (double)job->demand;
	}
	return h->memory && taken > 0 ? taken : 0;
}

/* Who is there touches it, as far as a record tells; and of a host that does not answer
 * nobody knows whether it is left alone. */
static void look(struct watcher *w, const struct view *view,
		 const struct host *h, usec_t at)
{
	bool here = !h->up || h->idle_since == USEC_MAX;
	const double is[ACTIVITY_WHATS] = {
		[ACTIVITY_OWNER] = here,
		[ACTIVITY_KEYBOARD] = here,
		[ACTIVITY_LOAD] = h->load,
		[ACTIVITY_MEMORY] = other_memory(view, h),
		[ACTIVITY_USERS] = h->users < ACTIVITY_USERS_MAX
					   ? h->users
					   : ACTIVITY_USERS_MAX,
		[ACTIVITY_OWN] = h->nr_owners ? h->owner[0] + 1. : 0,
	};

	w->last = at > w->last ? at : w->last;
	for (unsigned what = 0; what < ACTIVITY_WHATS; what++)
		(void)activity_add(&w->made, w->last, w->ours[h->ix], what,
				   is[what]);
}

static int on_begin(void *ctx, const struct view *view, const char *policy,
		    uint64_t seed, struct error *err)
{
	struct watcher *w = ctx;
	const struct host *h;

	(void)policy;
	(void)seed;
	free(w->ours);
	w->ours = xcalloc(view->nr_hosts + 1, sizeof(*w->ours));
	for_each_host (h, view) {
		if (!activity_name_good(h->name))
			return error_set(err, -EINVAL,
					 "a host of a script cannot be called "
					 "'%.64s'",
					 h->name);
		w->ours[h->ix] = activity_add_host(&w->made, h->name);
		if (w->made.nr_hosts > ACTIVITY_HOSTS_MAX)
			return error_set(err, -EINVAL,
					 "a script has %d hosts at most",
					 ACTIVITY_HOSTS_MAX);
		look(w, view, h, view->now);
	}
	return 0;
}

static int on_event(void *ctx, const struct view *view, const struct event *e,
		    bool told, struct error *err)
{
	(void)told;
	(void)err;
	if (e->type == EVENT_HOST)
		look(ctx, view, &view->hosts[e->host], e->at);
	return 0;
}

int activity_import_record(const char *path, struct activity *ret,
			   struct error *err)
{
	static const struct playback_ops reader = { .begin = on_begin,
						    .event = on_event };
	struct watcher w = { .made = ACTIVITY_INIT };
	struct playback play = { .ops = &reader, .ctx = &w, .name = path };
	char *text;
	size_t size;
	int r = inflate_read(path, &text, &size, err);

	if (r < 0)
		return r;
	r = playback_run(&play, text, size, err);
	free(text);
	free(w.ours);
	if (r < 0)
		activity_clear(&w.made);
	else
		*ret = w.made;
	return r;
}
