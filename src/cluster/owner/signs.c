/* signs.c - what follows from the signs that sources tell, see owner.h */
#include "cluster/conn/loop.h"
#include "cluster/owner/priv.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/param.h"

usec_t owner_now(void)
{
	return clock_usec(CLOCK_BOOTTIME);
}

static int on_timer(sd_event_source *src, uint64_t usec, void *arg)
{
	owner_update(arg);
	return 0;
}

/* Not longer than any clock can tell. */
static void update_later(struct owner *o, usec_t now)
{
	usec_t at = presence_next(&o->signs, now);

	o->timer = sd_event_source_disable_unref(o->timer);
	if (at != USEC_MAX)
		loop_after(o->event, &o->timer, at - now, on_timer, o);
}

static void log_presence(const struct presence *is)
{
	const char *word = !is->here ? "away" : is->evict ? "evicts" : "here";

	if (is->lost)
		log_warnx("owner=%s cause=%s source=%s", word,
			  presence_cause_name(is->cause),
			  presence_cause_name(is->lost));
	else
		log_info("owner=%s cause=%s who=%s", word,
			 presence_cause_name(is->cause), is->who);
}

void owner_update(struct owner *o)
{
	usec_t now = owner_now();
	bool changed;

	if (o->rereads)
		return;
	changed = presence_update(&o->signs, now);
	update_later(o, now);
	if (!changed)
		return;
	log_presence(&o->signs.is);
	o->ops->changed(o->ctx);
}

/* ---- what sources tell ---- */

void owner_sign(struct owner *o, enum presence_cause cause, usec_t ago,
		const char *who)
{
	usec_t now = owner_now();

	presence_sign(&o->signs, cause, now - ago, now, who);
	owner_update(o);
}

void owner_hold(struct owner *o, enum presence_cause cause, bool held,
		const char *who)
{
	presence_hold(&o->signs, cause, held, owner_now(), who);
	owner_update(o);
}

/* Where nobody counts, that nobody can be seen is no loss. */
static bool matters(const struct owner *o, enum presence_cause cause)
{
	return o->conf.console || o->conf.ssh || cause == PRESENCE_POWER ||
	       cause == PRESENCE_NOTICE;
}

static void weigh_lost(struct owner *o, enum presence_cause cause)
{
	presence_lost(&o->signs, cause, o->lost[cause] && matters(o, cause));
}

void owner_lost(struct owner *o, enum owner_voice voice,
		enum presence_cause cause, bool lost, const char *why)
{
	bool was = o->lost[cause] & 1u << voice;

	if (lost == was)
		return;
	if (lost && matters(o, cause))
		log_warnx("owner: %s: the host counts as occupied", why);
	o->lost[cause] ^= 1u << voice;
	weigh_lost(o, cause);
	owner_update(o);
}

void owner_weigh(struct owner *o)
{
	for (enum presence_cause c = 0; c < PRESENCE_CAUSES; c++)
		weigh_lost(o, c);
}

void owner_users(struct owner *o, enum owner_voice voice, unsigned n)
{
	o->users[voice] = n;
}

void owner_uids_add(struct owner_uids *uids, uid_t uid)
{
	for (unsigned i = 0; i < uids->nr; i++)
		if (uids->uid[i] == uid)
			return;
	if (uids->nr < OWNER_UIDS)
		uids->uid[uids->nr++] = uid;
}

void owner_set_uids(struct owner *o, enum owner_voice voice,
		    const struct owner_uids *uids)
{
	o->uids_of[voice] = *uids;
	o->uids.nr = 0;
	for (unsigned v = 0; v < OWNER_VOICES; v++)
		for (unsigned i = 0; i < o->uids_of[v].nr; i++)
			owner_uids_add(&o->uids, o->uids_of[v].uid[i]);
}

bool owner_counts(const struct owner *o, const char *user, bool remote)
{
	const struct owner_conf *c = &o->conf;

	return (remote ? c->ssh : c->console) &&
	       (!c->users || list_has(c->users, user));
}

/* ---- what is asked ---- */

const struct presence *owner_presence(const struct owner *o)
{
	return &o->signs.is;
}

unsigned owner_logged_in(const struct owner *o)
{
	return o->users[OWNER_LOGIND] > o->users[OWNER_UTMP]
		       ? o->users[OWNER_LOGIND]
		       : o->users[OWNER_UTMP];
}

const char *owner_named(const struct owner *o)
{
	return o->conf.users;
}
