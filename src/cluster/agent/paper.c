/* paper.c - a file that survives a loss of power, see paper.h */
#include "cluster/agent/paper.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/io.h"
#include "core/log.h"
#include "core/xalloc.h"

struct paper {
	char *name, *path, *dir;
	int done; /* eventfd: the thread has */
	sd_event_source *io;
	pthread_t thread;
	bool runs;   /* there is a thread */
	bool behind; /* it may have begun before the last text came */
	int result;  /* the thread's */
};

static int sync_one(const char *path, int flags)
{
	fd_auto fd = open(path, O_RDONLY | O_CLOEXEC | flags);

	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

/* The text, and that it has this name. */
static int sync_both(const struct paper *p)
{
	int r = sync_one(p->path, 0);

	return r ? r : sync_one(p->dir, O_DIRECTORY);
}

static void *run_sync(void *arg)
{
	struct paper *p = arg;

	p->result = sync_both(p);
	eventfd_write(p->done, 1);
	return NULL;
}

static void tell_result(const struct paper *p, int r)
{
	if (r < 0)
		log_warnx("%s=unsynced file=%s error=\"%s\"", p->name, p->path,
			  strerror(-r));
}

static void begin_sync(struct paper *p)
{
	p->behind = false;
	p->runs = !pthread_create(&p->thread, NULL, run_sync, p);
	if (!p->runs)
		tell_result(p, sync_both(p));
}

static void end_sync(struct paper *p)
{
	pthread_join(p->thread, NULL);
	p->runs = false;
	tell_result(p, p->result);
}

static int on_done(sd_event_source *src, int fd, uint32_t events, void *arg)
{
	struct paper *p = arg;
	eventfd_t n;

	if (eventfd_read(fd, &n) < 0)
		return 0;
	end_sync(p);
	if (p->behind)
		begin_sync(p);
	return 0;
}

struct paper *paper_create(sd_event *event, const char *name, const char *path)
{
	struct paper *p = xcalloc(1, sizeof(*p));
	const char *slash = strrchr(path, '/');
	int r;

	p->name = xstrdup(name);
	p->path = xstrdup(path);
	p->dir = slash ? xasprintf("%.*s/", (int)(slash - path), path)
		       : xstrdup(".");
	p->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = p->done < 0 ? -errno : 0;
	if (!r)
		r = sd_event_add_io(event, &p->io, p->done, EPOLLIN, on_done,
				    p);
	/* Who is out of descriptors syncs once, and at the end. */
	if (r < 0)
		log_warnx("%s: its file cannot be synced beside all else: %s",
			  name, strerror(-r));
	return p;
}

void paper_put(struct paper *p, const char *text)
{
	struct error err;

	if (io_replace_file(p->path, text, &err) < 0) {
		log_warnx("%s=unwritten error=\"%s\"", p->name, err.text);
		return;
	}
	p->behind = true;
	if (!p->runs)
		begin_sync(p);
}

void paper_destroy(struct paper *p)
{
	if (!p)
		return;
	if (p->runs)
		end_sync(p);
	if (p->behind)
		tell_result(p, sync_both(p));
	sd_event_source_disable_unref(p->io);
	io_close(&p->done);
	free(p->name);
	free(p->path);
	free(p->dir);
	free(p);
}
