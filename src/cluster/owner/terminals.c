/*
 * terminals.c - terminals of sessions: who reads from one has typed
 *
 * By inotify, which tells of each read at once, where the time of access is
 * exact to 8 s only.  Two sources name them, and each has its own list.
 */
#include "cluster/owner/terminals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/conn/loop.h"
#include "cluster/owner/priv.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/xalloc.h"

struct owner_terminals {
	struct owner *owner;
	struct owner_inlet *inlet; /* of inotify; NULL: none is left */
	sd_event_source *again;
	struct terminal *list;
	size_t nr, cap;
};

/* "pts/3": below /dev, and no way out of it. */
static bool is_line(const char *line)
{
	return *line && *line != '/' && !strstr(line, "..");
}

static void terminal_path(const char *line, char ret[64])
{
	snprintf(ret, 64, "/dev/%.*s", TERMINAL_LINE, line);
}

static struct terminal *find_wd(struct owner_terminals *t, int wd)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->list[i].wd == wd)
			return &t->list[i];
	return NULL;
}

static void take_event(struct owner_terminals *t, const struct inotify_event *e)
{
	struct terminal *term = find_wd(t, e->wd);

	if (term && e->mask & IN_ACCESS)
		owner_sign(t->owner, PRESENCE_TERMINAL, 0, term->who);
	/* Two lists may name it. */
	while (e->mask & IN_IGNORED && (term = find_wd(t, e->wd)))
		term->wd = -1;
}

static void on_events(void *ctx, int fd)
{
	struct owner_terminals *t = ctx;
	char buf[4096] __attribute__((aligned(8)));
	ssize_t n;

	for (int i = 0; i < 64 && (n = read(fd, buf, sizeof(buf))) > 0; i++)
		for (char *p = buf; p < buf + n;) {
			const struct inotify_event *e = (void *)p;

			take_event(t, e);
			p += sizeof(*e) + e->len;
		}
}

/* When it was used last.  One of the future was so just now. */
static void tell_age(struct owner_terminals *t, const struct terminal *term)
{
	usec_t now = clock_usec(CLOCK_REALTIME), at;
	char path[64];
	struct stat st;

	terminal_path(term->line, path);
	if (stat(path, &st) < 0)
		return;
	at = st.st_atime * USEC_PER_SEC;
	owner_sign(t->owner, PRESENCE_TERMINAL, at < now ? now - at : 0,
		   term->who);
}

static void watch_terminal(struct owner_terminals *t, struct terminal *term)
{
	bool was = term->unwatched;
	char path[64];

	term->unwatched = true;
	if (!t->inlet)
		return;
	terminal_path(term->line, path);
	term->wd = owner_inlet_add(t->inlet, path, IN_ACCESS);
	term->unwatched = owner_inlet_is_full(term->wd);
	/* That of a session whose terminal has gone, or of a screen (":0"). */
	if (term->wd < 0 && term->wd != -ENOENT && !was)
		log_warn(term->wd, "%s: cannot be watched for its user", path);
}

static int on_again(sd_event_source *src, uint64_t usec, void *arg);

/* Those that are not watched: now, or in a while. */
static void watch_all(struct owner_terminals *t)
{
	bool lost;

	if (!t->inlet)
		t->inlet = owner_inlet_inotify(t->owner, on_events, t);
	lost = !t->inlet;
	for (size_t i = 0; i < t->nr; i++) {
		if (t->list[i].wd < 0)
			watch_terminal(t, &t->list[i]);
		lost |= t->list[i].unwatched;
	}
	owner_lost(t->owner, OWNER_TERMINALS, PRESENCE_TERMINAL, lost,
		   "terminals cannot be watched " OWNER_INOTIFY_LIMITS);
	if (lost && !t->again)
		loop_after(t->owner->event, &t->again, OWNER_AGAIN, on_again,
			   t);
}

static int on_again(sd_event_source *src, uint64_t usec, void *arg)
{
	struct owner_terminals *t = arg;

	t->again = sd_event_source_disable_unref(t->again);
	watch_all(t);
	return 0;
}

static struct terminal *find_same(struct owner_terminals *t,
				  const struct terminal *as)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->list[i].from == as->from &&
		    !strcmp(t->list[i].line, as->line) &&
		    !strcmp(t->list[i].who, as->who))
			return &t->list[i];
	return NULL;
}

static bool is_watched(struct owner_terminals *t, int wd)
{
	return wd >= 0 && find_wd(t, wd);
}

/* Those of one source that it does not name any more. */
static void drop_others(struct owner_terminals *t, unsigned from)
{
	size_t kept = 0;
	int wd;

	for (size_t i = 0; i < t->nr; i++)
		if (t->list[i].from != from || t->list[i].named)
			t->list[kept++] = t->list[i];
		else if ((wd = t->list[i].wd) >= 0) {
			t->list[i].wd = -1;
			if (!is_watched(t, wd))
				owner_inlet_drop(t->inlet, wd);
		}
	t->nr = kept;
}

void owner_terminals_set(struct owner_terminals *t, unsigned from,
			 const struct terminal *list, size_t n)
{
	struct terminal *term;

	for (size_t i = 0; i < t->nr; i++)
		t->list[i].named = false;
	for (size_t i = 0; i < n; i++) {
		if (!is_line(list[i].line))
			continue;
		term = find_same(t, &list[i]);
		if (!term) {
			array_room(t->list, t->nr, &t->cap);
			term = &t->list[t->nr++];
			*term = list[i];
			term->wd = -1;
			tell_age(t, term);
		}
		term->named = true;
	}
	drop_others(t, from);
	watch_all(t);
}

struct owner_terminals *owner_terminals_create(struct owner *o)
{
	struct owner_terminals *t = xcalloc(1, sizeof(*t));

	t->owner = o;
	watch_all(t);
	return t;
}

void owner_terminals_destroy(struct owner_terminals *t)
{
	if (!t)
		return;
	owner_inlet_close(t->inlet);
	sd_event_source_disable_unref(t->again);
	free(t->list);
	free(t);
}
