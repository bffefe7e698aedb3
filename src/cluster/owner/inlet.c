/*
 * inlet.c - a descriptor from which signs come, however fast
 *
 * What comes first is told at once; then it is looked at once a second only: a
 * mouse makes a thousand events in that time, and who plays with a source makes
 * more.
 */
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cluster/conn/loop.h"
#include "cluster/owner/priv.h"
#include "core/xalloc.h"

#define INLET_REST USEC_PER_SEC

struct owner_inlet {
	sd_event *event;
	int fd;
	sd_event_source *io, *rest;
	owner_inlet_fn come;
	void *ctx;
};

static int on_rested(sd_event_source *src, uint64_t usec, void *arg)
{
	struct owner_inlet *i = arg;

	i->rest = sd_event_source_disable_unref(i->rest);
	sd_event_source_set_enabled(i->io, SD_EVENT_ON);
	return 0;
}

static int on_come(sd_event_source *src, int fd, uint32_t events, void *arg)
{
	struct owner_inlet *i = arg;

	sd_event_source_set_enabled(src, SD_EVENT_OFF);
	loop_after(i->event, &i->rest, INLET_REST, on_rested, i);
	i->come(i->ctx, fd); /* which may close it */
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
	if (sd_event_add_io(o->event, &i->io, fd, EPOLLIN, on_come, i) >= 0)
		return i;
	owner_inlet_close(i);
	return NULL;
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
