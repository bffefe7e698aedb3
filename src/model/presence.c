/* presence.c - is the owner of a host there, see presence.h */
#include "model/presence.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
	const char *name, *text;
	bool lasts; /* for some time after its last sign */
} causes[] = {
	[PRESENCE_NOBODY] = { "nobody", "nobody is there", false },
	[PRESENCE_GOING] = { "going", "the host goes down or to sleep", false },
	[PRESENCE_UNREADABLE] = { "unreadable",
				  "whether somebody is there cannot be told",
				  false },
	[PRESENCE_SAID] = { "said", "somebody there said so", false },
	[PRESENCE_SESSION] = { "session", "a session is in use", true },
	[PRESENCE_INPUT] = { "input", "a key or the mouse was touched", true },
	[PRESENCE_TERMINAL] = { "terminal", "a terminal was used", true },
	[PRESENCE_POWER] = { "power", "the host runs on its battery", false },
	[PRESENCE_NOTICE] = { "notice", "the host was told that it goes soon",
			      false },
};

const char *presence_cause_name(enum presence_cause cause)
{
	return (unsigned)cause < PRESENCE_CAUSES ? causes[cause].name : NULL;
}

const char *presence_cause_text(enum presence_cause cause)
{
	return (unsigned)cause < PRESENCE_CAUSES ? causes[cause].text : NULL;
}

static void set_who(char *to, const char *who)
{
	snprintf(to, PRESENCE_WHO, "%s", who ? who : "");
}

void presence_init(struct presence_signs *s, usec_t linger, usec_t now)
{
	*s = (struct presence_signs){ .linger = linger, .is.since = now };
}

void presence_sign(struct presence_signs *s, enum presence_cause cause,
		   usec_t at, usec_t now, const char *who)
{
	struct presence_sign *g = &s->sign[cause];

	if (at > now)
		at = now;
	if (g->ever && at < g->last)
		return;
	g->ever = true;
	g->last = at;
	set_who(g->who, who);
}

void presence_hold(struct presence_signs *s, enum presence_cause cause,
		   bool held, usec_t now, const char *who)
{
	struct presence_sign *g = &s->sign[cause];

	if (held && !g->held)
		g->began = now;
	if (held || g->held)
		presence_sign(s, cause, now, now, held ? who : g->who);
	g->held = held;
}

void presence_lost(struct presence_signs *s, enum presence_cause cause,
		   bool lost)
{
	s->sign[cause].lost = lost;
}

void presence_say(struct presence_signs *s, bool here, bool evict, usec_t now,
		  usec_t span, const char *who)
{
	s->said = true;
	s->said_here = here || evict;
	s->said_at = now;
	s->said_until = usec_add(now, span);
	s->evict_until = evict ? s->said_until : now;
	set_who(s->said_who, who);
}

/* ---- what follows from it */

/* What people said is over in time, and "away" by what they do. */
static bool is_said(const struct presence_signs *s, usec_t now)
{
	if (!s->said || now >= s->said_until)
		return false;
	for (unsigned c = 0; c < PRESENCE_CAUSES && !s->said_here; c++) {
		const struct presence_sign *g = &s->sign[c];

		if (g->lost || (g->held ? g->began > s->said_at
					: g->ever && g->last > s->said_at))
			return false;
	}
	return true;
}

/* Until when this cause speaks for somebody who is there. */
static usec_t sign_until(const struct presence_signs *s, unsigned c)
{
	const struct presence_sign *g = &s->sign[c];

	if (g->held)
		return USEC_MAX;
	return g->ever && causes[c].lasts ? usec_add(g->last, s->linger)
					  : INT64_MIN;
}

/* The first source that cannot tell. */
static enum presence_cause find_lost(const struct presence_signs *s)
{
	for (unsigned c = 0; c < PRESENCE_CAUSES; c++)
		if (s->sign[c].lost)
			return c;
	return PRESENCE_NOBODY;
}

static enum presence_cause find_cause(const struct presence_signs *s,
				      usec_t now, const char **ret_who)
{
	*ret_who = "";
	if (s->sign[PRESENCE_GOING].held)
		return PRESENCE_GOING;
	if (s->sign[PRESENCE_NOTICE].held)
		return PRESENCE_NOTICE;
	if (find_lost(s))
		return PRESENCE_UNREADABLE;
	*ret_who = s->said_who;
	if (is_said(s, now))
		return s->said_here ? PRESENCE_SAID : PRESENCE_NOBODY;
	for (unsigned c = 0; c < PRESENCE_CAUSES; c++)
		if (sign_until(s, c) > now) {
			*ret_who = s->sign[c].who;
			return c;
		}
	*ret_who = "";
	return PRESENCE_NOBODY;
}

static usec_t last_sign(const struct presence_signs *s)
{
	usec_t last = INT64_MIN;

	for (unsigned c = 0; c < PRESENCE_CAUSES; c++)
		if (s->sign[c].ever && s->sign[c].last > last)
			last = s->sign[c].last;
	if (s->said && last < (s->said_here ? s->said_until : s->said_at))
		last = s->said_here ? s->said_until : s->said_at;
	return last;
}

/* When the host will be gone, as far as that differs from what is known. */
static usec_t goes_by(const struct presence_signs *s)
{
	static const enum presence_cause causes_of[] = { PRESENCE_GOING,
							 PRESENCE_NOTICE };
	usec_t by = 0;

	for (unsigned i = 0; i < 2; i++) {
		const struct presence_sign *g = &s->sign[causes_of[i]];

		if (g->held && g->by && (!by || g->by < by))
			by = g->by;
	}
	if (by && s->is.going_by && llabs(by - s->is.going_by) < USEC_PER_SEC)
		return s->is.going_by;
	return by;
}

bool presence_update(struct presence_signs *s, usec_t now)
{
	struct presence *is = &s->is;
	bool evict = s->evict_until > now || s->sign[PRESENCE_GOING].held ||
		     s->sign[PRESENCE_NOTICE].held;
	bool was_evict = is->evict;
	bool was_here = is->here;
	usec_t going = goes_by(s);
	bool moved = going != is->going_by;
	usec_t last = last_sign(s);
	const char *who;
	enum presence_cause cause = find_cause(s, now, &who);

	is->evict = evict;
	is->going_by = going;
	if (!cause && is->here && now < usec_add(is->since, PRESENCE_LEAST))
		return evict != was_evict ||
		       moved; /* flaps: it stays a while */
	is->cause = cause;
	is->lost =
		cause == PRESENCE_UNREADABLE ? find_lost(s) : PRESENCE_NOBODY;
	is->here = cause != PRESENCE_NOBODY;
	set_who(is->who, is->here ? who : "");
	if (is->here != was_here)
		is->since = now;
	if (is->here)
		is->idle_since = USEC_MAX;
	else if (last != INT64_MIN)
		is->idle_since = last < now ? last : now;
	else if (was_here)
		is->idle_since = now;
	return is->here != was_here || evict != was_evict || moved;
}

static void earlier(usec_t *at, usec_t than, usec_t now)
{
	if (than > now && than < *at)
		*at = than;
}

usec_t presence_next(const struct presence_signs *s, usec_t now)
{
	usec_t at = USEC_MAX;

	/* An eviction ends with what was said. */
	if (s->said)
		earlier(&at, s->said_until, now);
	if (s->is.here)
		earlier(&at, usec_add(s->is.since, PRESENCE_LEAST), now);
	for (unsigned c = 0; c < PRESENCE_CAUSES; c++)
		earlier(&at, sign_until(s, c), now);
	return at;
}
