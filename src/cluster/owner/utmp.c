/*
 * utmp.c - who is logged in, by the file that login programs write
 *
 * Read as it is, not by getutxent(), which waits for whoever holds its lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utmpx.h>

#include "cluster/conn/loop.h"
#include "cluster/owner/priv.h"
#include "cluster/owner/source.h"
#include "cluster/owner/terminals.h"
#include "core/io.h"
#include "core/xalloc.h"

#define UTMP_AGAIN (60 * USEC_PER_SEC) /* who was killed writes no end */

enum { UTMP_MOST = 4 << 20, UTMP_NAMES = 256 };

struct utmp {
	struct owner *owner;
	char *path;
	char *dir, *file;
	struct owner_inlet *inlet; /* of inotify */
	sd_event_source *again;
	bool ever;    /* it has been there */
	bool watched; /* changes are told at once */
	struct terminal *list;
	size_t nr, cap;
	unsigned users;
	struct owner_uids uids;
};

/* An entry stays behind when whoever made it was killed. */
static bool is_over(const struct utmpx *u)
{
	return u->ut_pid > 0 && kill(u->ut_pid, 0) < 0 && errno == ESRCH;
}

/* From elsewhere; ":0" is a screen of this host. */
static bool is_remote(const struct utmpx *u)
{
	return *u->ut_host && *u->ut_host != ':';
}

/* Whose a terminal is, login has said to the kernel. */
static void add_uid(struct utmp *w, const char *line)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/dev/%s", line);
	if (!stat(path, &st))
		owner_uids_add(&w->uids, st.st_uid);
}

static void take_entry(struct utmp *w, const struct utmpx *u)
{
	struct terminal t = { .from = OWNER_UTMP };

	/* At LOGIN_PROCESS someone may be about to log in. */
	if ((u->ut_type != USER_PROCESS && u->ut_type != LOGIN_PROCESS) ||
	    is_over(u))
		return;
	snprintf(t.line, sizeof(t.line), "%.*s", (int)sizeof(u->ut_line),
		 u->ut_line);
	if (u->ut_type == USER_PROCESS) {
		snprintf(t.who, sizeof(t.who), "%.*s", (int)sizeof(u->ut_user),
			 u->ut_user);
		w->users++;
	}
	if (!owner_counts(w->owner, t.who, is_remote(u)) || w->nr >= UTMP_NAMES)
		return;
	array_room(w->list, w->nr, &w->cap);
	w->list[w->nr++] = t;
	if (u->ut_type == USER_PROCESS)
		add_uid(w, t.line);
}

static int read_all(struct utmp *w)
{
	struct utmpx u;
	char *text;
	ssize_t n = io_read_file(AT_FDCWD, w->path, UTMP_MOST, &text);

	w->nr = w->users = w->uids.nr = 0;
	if (n < 0)
		return (int)n;
	for (ssize_t at = 0; at + (ssize_t)sizeof(u) <= n; at += sizeof(u)) {
		memcpy(&u, text + at, sizeof(u));
		take_entry(w, &u);
	}
	free(text);
	return 0;
}

static void read_utmp(struct utmp *w)
{
	int r = read_all(w);

	w->ever |= !r;
	/* A host on which nobody ever logged in has none. */
	owner_lost(
		w->owner, OWNER_UTMP, PRESENCE_TERMINAL,
		!w->watched || (r < 0 && (w->ever || r != -ENOENT)),
		w->watched
			? "who is logged in cannot be read"
			: "who is logged in cannot be watched " OWNER_INOTIFY_LIMITS);
	if (r < 0 && w->ever)
		return;
	owner_users(w->owner, OWNER_UTMP, w->users);
	owner_set_uids(w->owner, OWNER_UTMP, &w->uids);
	owner_terminals_set(w->owner->terminals, OWNER_UTMP, w->list, w->nr);
}

static void on_change(void *ctx, int fd);

/*
 * The file, while it is there; else the directory, where others come and go.
 * What else is wrong with it reading tells.
 */
static void watch_file(struct utmp *w)
{
	int r;

	if (!w->inlet)
		w->inlet = owner_inlet_inotify(w->owner, on_change, w);
	w->watched = w->inlet;
	if (!w->inlet)
		return;
	r = owner_inlet_add(w->inlet, w->path,
			    IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF);
	if (r < 0)
		r = owner_inlet_add(w->inlet, w->dir,
				    IN_CREATE | IN_MOVED_TO | IN_ONESHOT);
	w->watched = !owner_inlet_is_full(r);
}

static void look(struct utmp *w)
{
	watch_file(w);
	read_utmp(w);
}

static void on_change(void *ctx, int fd)
{
	char buf[4096] __attribute__((aligned(8)));

	while (read(fd, buf, sizeof(buf)) > 0)
		continue;
	look(ctx);
}

static int on_again(sd_event_source *src, uint64_t usec, void *arg)
{
	struct utmp *w = arg;

	look(w);
	sd_event_source_set_time_relative(src, w->watched ? UTMP_AGAIN
							  : OWNER_AGAIN);
	sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
	return 0;
}

static void utmp_end(void *source)
{
	struct utmp *w = source;

	owner_inlet_close(w->inlet);
	sd_event_source_disable_unref(w->again);
	free(w->path);
	free(w->dir);
	free(w->list);
	free(w);
}

static void *utmp_begin(struct owner *o)
{
	struct utmp *w = xcalloc(1, sizeof(*w));
	char *slash;

	w->owner = o;
	w->path = xstrdup(o->conf.utmp);
	w->dir = xstrdup(w->path);
	slash = strrchr(w->dir, '/');
	if (slash && slash > w->dir)
		*slash = '\0';
	look(w);
	loop_after(o->event, &w->again, w->watched ? UTMP_AGAIN : OWNER_AGAIN,
		   on_again, w);
	return w;
}

static bool utmp_reread(void *source)
{
	struct utmp *w = source;

	if (strcmp(w->path, w->owner->conf.utmp))
		return false;
	read_utmp(w);
	return true;
}

const struct owner_source owner_source_utmp = {
	.name = "utmp",
	.voices = 1u << OWNER_UTMP,
	.begin = utmp_begin,
	.end = utmp_end,
	.reread = utmp_reread,
};
