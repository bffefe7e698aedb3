/*
 * session.c - sessions of logind, and whose are in use
 *
 * Of a graphical session its desktop says whether it is idle.  Of one at a
 * terminal logind looks at the terminal only when it is asked, so that we watch
 * it ourselves (terminals.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/owner/logind.h"
#include "core/clock.h"
#include "core/plain.h"
#include "core/xalloc.h"

struct session *sessions_find(struct sessions *list, const char *path)
{
	struct session *s;

	TAILQ_FOREACH (s, list, link)
		if (!strcmp(s->path, path))
			return s;
	return NULL;
}

void session_destroy(struct sessions *list, struct session *s)
{
	TAILQ_REMOVE(list, s, link);
	sd_bus_slot_unref(s->ask);
	free(s->path);
	free(s);
}

void sessions_clear(struct sessions *list)
{
	while (!TAILQ_EMPTY(list))
		session_destroy(list, TAILQ_FIRST(list));
}

static struct session *session_create(struct sessions *list, const char *id,
				      const char *path)
{
	struct session *s = xcalloc(1, sizeof(*s));

	snprintf(s->id, sizeof(s->id), "%s", id);
	s->path = xstrdup(path);
	TAILQ_INSERT_TAIL(list, s, link);
	return s;
}

static void drop_unlisted(struct sessions *list)
{
	struct session *s, *next;

	for (s = TAILQ_FIRST(list); s; s = next) {
		next = TAILQ_NEXT(s, link);
		if (!s->listed)
			session_destroy(list, s);
	}
}

bool sessions_take_list(struct sessions *list, sd_bus_message *m,
			void (*fresh)(void *ctx, struct session *s), void *ctx)
{
	const char *id, *user, *seat, *path;
	unsigned nr = 0;
	struct session *s;
	uint32_t uid;
	int r = sd_bus_message_enter_container(m, 'a', "(susso)");

	TAILQ_FOREACH (s, list, link)
		s->listed = false;
	while (r >= 0 && (r = sd_bus_message_read(m, "(susso)", &id, &uid,
						  &user, &seat, &path)) > 0) {
		if (++nr > SESSIONS_MOST)
			return false;
		s = sessions_find(list, path);
		if (!s)
			s = session_create(list, id, path);
		s->listed = true;
		s->uid = uid;
		snprintf(s->who, sizeof(s->who), "%s", user);
		plain_text(s->who);
		if ((!s->known || s->broken) && !s->ask)
			fresh(ctx, s);
	}
	if (r < 0)
		return false;
	drop_unlisted(list);
	return true;
}

/* ---- properties ---- */

static int read_bool(sd_bus_message *m, bool *ret)
{
	int b, r = sd_bus_message_read(m, "v", "b", &b);

	if (r > 0)
		*ret = b;
	return r;
}

static int read_text(sd_bus_message *m, const char **ret)
{
	return sd_bus_message_read(m, "v", "s", ret);
}

static bool is_graphical(const char *type)
{
	return strcmp(type, "tty") && strcmp(type, "unspecified");
}

/* The name has been read; its value is next. */
static int take_property(void *ctx, const char *name, sd_bus_message *m)
{
	struct session *s = ctx;
	const struct {
		const char *name;
		bool *to;
	} flags[] = { { "Remote", &s->remote },
		      { "IdleHint", &s->idle },
		      { "LockedHint", &s->locked } };
	const char *text = "";
	uint64_t t = 0;
	int r;

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (!strcmp(name, flags[i].name))
			return read_bool(m, flags[i].to);
	if (!strcmp(name, "IdleSinceHintMonotonic")) {
		r = sd_bus_message_read(m, "v", "t", &t);
		s->idle_since = t < INT64_MAX ? (usec_t)t : 0;
		return r;
	}
	if (strcmp(name, "Class") && strcmp(name, "Type") &&
	    strcmp(name, "TTY") && strcmp(name, "State"))
		return sd_bus_message_skip(m, "v");
	r = read_text(m, &text);
	if (r <= 0)
		return r;
	if (*name == 'C')
		s->user = !strncmp(text, "user", 4);
	else if (*name == 'S')
		s->closing = !strcmp(text, "closing");
	else if (name[1] == 'y')
		s->graphical = is_graphical(text);
	else
		snprintf(s->tty, sizeof(s->tty), "%s", text);
	return r;
}

int each_property(sd_bus_message *m,
		  int (*take)(void *ctx, const char *name, sd_bus_message *m),
		  void *ctx)
{
	const char *name;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 &&
	       (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read(m, "s", &name);
		if (r > 0)
			r = take(ctx, name, m);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r;
}

void session_take(struct session *s, sd_bus_message *m)
{
	s->broken = each_property(m, take_property, s) < 0;
	s->known = true;
}

/* ---- what follows ---- */

static bool counts(const struct session *s, const struct owner *o)
{
	return s->known && s->user && !s->closing &&
	       owner_counts(o, s->who, s->remote);
}

/* What its desktop says was so before we looked. */
static void tell_idle(struct owner *o, const struct session *s)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC);

	if (s->idle_since > 0 && s->idle_since <= now)
		owner_sign(o, PRESENCE_SESSION, now - s->idle_since, s->who);
}

static void add_terminal(struct terminal *list, size_t *n,
			 const struct session *s)
{
	struct terminal *t = &list[*n];

	if (!*s->tty || s->graphical)
		return;
	*t = (struct terminal){ .from = OWNER_LOGIND };
	snprintf(t->line, sizeof(t->line), "%s", s->tty);
	snprintf(t->who, sizeof(t->who), "%s", s->who);
	++*n;
}

void sessions_tell(struct sessions *list, struct owner *o)
{
	struct terminal *terminals = xcalloc(SESSIONS_MOST, sizeof(*terminals));
	const struct session *used = NULL;
	struct owner_uids uids = { .nr = 0 };
	bool broken = false;
	unsigned users = 0;
	size_t n = 0;
	struct session *s;

	TAILQ_FOREACH (s, list, link) {
		broken |= s->broken;
		users += s->known && s->user;
		if (!counts(s, o))
			continue;
		owner_uids_add(&uids, s->uid);
		add_terminal(terminals, &n, s);
		if (s->graphical && !s->idle && !s->locked)
			used = used ? used : s;
		else if (s->graphical)
			tell_idle(o, s);
	}
	owner_users(o, OWNER_LOGIND, users);
	owner_set_uids(o, OWNER_LOGIND, &uids);
	owner_terminals_set(o->terminals, OWNER_LOGIND, terminals, n);
	owner_hold(o, PRESENCE_SESSION, used, used ? used->who : NULL);
	owner_lost(o, OWNER_SESSIONS, PRESENCE_SESSION, broken,
		   "logind describes a session in a malformed way");
	free(terminals);
}
