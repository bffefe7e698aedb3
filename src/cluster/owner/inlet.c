/*
 * inlet.c - a descriptor from which signs come, however fast
 *
 * What comes first is told at once; then it is looked at once a second only: a
 * mouse makes a thousand events in that time, and who plays with a source makes
 * more.  Where the loop cannot watch it (fs.epoll.max_user_watches), it is
 * looked at as often, whether there is anything or not.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "cluster/conn/loop.h"
#include "cluster/owner/priv.h"
#include "core/log.h"
#include "core/xalloc.h"

#define INLET_REST USEC_PER_SEC

struct owner_inlet {
	sd_event *event;
	int fd;
	bool unwatched; /* that was told */
	sd_event_source *io, *rest;
	owner_inlet_fn come;
	void *ctx;
};

static int on_rested(sd_event_source *src, uint64_t usec, void *arg);

static int on_come(sd_event_source *src, int fd, uint32_t events, void *arg)
{
	struct owner_inlet *i = arg;

	sd_event_source_set_enabled(src, SD_EVENT_OFF);
	loop_after(i->event, &i->rest, INLET_REST, on_rested, i);
	i->come(i->ctx, fd); /* which may close it */
	return 0;
}

/* False: it is not watched, but looked at again soon. */
static bool watch_inlet(struct owner_inlet *i)
{
	int r = i->io ? sd_event_source_set_enabled(i->io, SD_EVENT_ON)
		      : sd_event_add_io(i->event, &i->io, i->fd, EPOLLIN,
					on_come, i);
	struct error err;

	if (r < 0 && !i->unwatched) {
		loop_unwatched(&err, r,
			       "a sign of the owner is looked at "
			       "once a second");
		log_warnx("owner: %s", err.text);
	}
	i->unwatched = r < 0;
	if (r < 0)
		loop_after(i->event, &i->rest, INLET_REST, on_rested, i);
	return r >= 0;
}

static int on_rested(sd_event_source *src, uint64_t usec, void *arg)
{
	struct owner_inlet *i = arg;

	i->rest = sd_event_source_disable_unref(i->rest);
	if (!watch_inlet(i))
		i->come(i->ctx, i->fd); /* which may close it */
	return 0;
}

struct owner_inlet *owner_inlet_open(struct owner *o, int fd,
				     owner_inlet_fn come, void *ctx)
{
	struct owner_inlet *i = xcalloc(1, sizeof(*i));

	i->event = o->event;
	i->fd = fd;
	i->come = come;
	i->ctx = ctx;
	watch_inlet(i);
	return i;
}

struct owner_inlet *owner_inlet_inotify(struct owner *o, owner_inlet_fn come,
					void *ctx)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	return fd < 0 ? NULL : owner_inlet_open(o, fd, come, ctx);
}

int owner_inlet_add(const struct owner_inlet *i, const char *path,
		    uint32_t mask)
{
	int wd = inotify_add_watch(i->fd, path, mask);

	return wd < 0 ? -errno : wd;
}

void owner_inlet_drop(const struct owner_inlet *i, int watch)
{
	inotify_rm_watch(i->fd, watch);
}

bool owner_inlet_is_full(int code)
{
	return code == -ENOSPC || code == -ENOMEM;
}

void owner_inlet_close(struct owner_inlet *i)
{
	if (!i)
		return;
	sd_event_source_disable_unref(i->io);
	sd_event_source_disable_unref(i->rest);
	close(i->fd);
	free(i);
}
