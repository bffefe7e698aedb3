/*
 * logind.c - who is logged in and active, as systemd-logind tells by signals
 *
 * On a host without it, sessions are those of utmp.  Where it has been once, it
 * must answer: the host counts as occupied while it is gone, or does not answer
 * what it is asked now and then, so that a bus that stands still is noticed.
 *
 * A host that goes down or to sleep waits for us ("delay") until its guests have
 * left, or for as long as logind lets it (InhibitDelayMaxSec), by when they should have.
 */
#include "cluster/owner/logind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/conn/loop.h"
#include "cluster/owner/source.h"
#include "core/io.h"
#include "core/log.h"
#include "core/xalloc.h"

#define LOGIND	"org.freedesktop.login1"
#define MANAGER "org.freedesktop.login1.Manager"
#define DBUS	"org.freedesktop.DBus"
#define OBJECT	"/org/freedesktop/login1"

struct logind {
	struct owner *owner;
	sd_bus *bus;
	bool seen; /* it has been there, and must answer */
	struct sessions sessions;
	sd_bus_slot *list; /* the question for all sessions */
	int inhibitor;	   /* -1: none */
	usec_t delay;	   /* for so long the host waits; 0: not known */
	bool unheld;	   /* it refused one, as was told */
	bool sleeps, ends, lid, lid_known;
	sd_event_source *beat, *again;
};

static void cannot_tell(struct logind *l, bool lost, const char *why)
{
	owner_lost(l->owner, OWNER_LOGIND, PRESENCE_SESSION, lost && l->seen,
		   why);
}

static int ask(struct logind *l, sd_bus_slot **slot, const char *path,
	       const char *interface, const char *member,
	       sd_bus_message_handler_t fn, void *ctx, const char *text)
{
	sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_call(l->bus, &m, LOGIND, path,
					       interface, member);

	if (r >= 0 && text)
		r = sd_bus_message_append(m, "s", text);
	if (r >= 0)
		r = sd_bus_call_async(l->bus, slot, m, fn, ctx,
				      l->owner->conf.patience);
	sd_bus_message_unref(m);
	return r;
}

/* ---- sessions ---- */

/* ... while we asked. */
static bool has_ended(sd_bus_message *m)
{
	return sd_bus_message_is_method_error(m, LOGIND ".NoSuchSession") ||
	       sd_bus_message_is_method_error(m, DBUS ".Error.UnknownObject");
}

static int on_session(sd_bus_message *m, void *arg, sd_bus_error *err)
{
	struct logind *l = arg;
	struct session *s;

	TAILQ_FOREACH (s, &l->sessions, link)
		if (s->ask && s->ask == sd_bus_get_current_slot(l->bus))
			break;
	if (!s)
		return 0;
	s->ask = sd_bus_slot_unref(s->ask);
	if (!sd_bus_message_is_method_error(m, NULL))
		session_take(s, m);
	else if (has_ended(m))
		s->known = s->broken = false; /* no list will have it */
	else
		s->known = s->broken = true;
	sessions_tell(&l->sessions, l->owner);
	return 0;
}

static void ask_session(void *arg, struct session *s)
{
	struct logind *l = arg;

	ask(l, &s->ask, s->path, DBUS ".Properties", "GetAll", on_session, l,
	    LOGIND ".Session");
}

static int on_list(sd_bus_message *m, void *arg, sd_bus_error *err)
{
	struct logind *l = arg;

	l->list = sd_bus_slot_unref(l->list);
	if (sd_bus_message_is_method_error(m, NULL)) {
		cannot_tell(l, true, "logind does not answer");
		return 0;
	}
	if (!sessions_take_list(&l->sessions, m, ask_session, l)) {
		cannot_tell(l, true,
			    "logind describes its sessions in a malformed way");
		return 0;
	}
	cannot_tell(l, false, NULL);
	sessions_tell(&l->sessions, l->owner);
	return 0;
}

static void ask_list(struct logind *l)
{
	if (!l->list && ask(l, &l->list, OBJECT, MANAGER, "ListSessions",
			    on_list, l, NULL) < 0)
		cannot_tell(l, true, "logind cannot be asked");
}

/* ---- going down, or to sleep ---- */

static bool goes(const struct logind *l)
{
	return l->sleeps || l->ends;
}

static void logind_release(void *source)
{
	struct logind *l = source;

	if (goes(l) && l->inhibitor >= 0) {
		log_info("owner: no guest is left: the host may go");
		io_close(&l->inhibitor);
	}
}

static void release_if_empty(struct logind *l)
{
	if (l->owner->ops->empty(l->owner->ctx))
		logind_release(l);
}

/*
 * It may refuse, or answer too late, as on a machine that wakes up: then it is asked
 * again (on_beat()).  What is given as the host goes already may be of use to nobody.
 */
static int on_inhibited(sd_bus_message *m, void *arg, sd_bus_error *err)
{
	struct logind *l = arg;
	const sd_bus_error *why = sd_bus_message_get_error(m);
	bool was = l->unheld;
	int fd = -1;

	l->unheld = why || sd_bus_message_read(m, "h", &fd) <= 0;
	if (l->unheld && !was)
		log_warnx("owner: logind does not wait for guests to leave: %s",
			  why ? why->name : "no descriptor");
	if (l->unheld)
		return 0;
	io_close(&l->inhibitor);
	l->inhibitor = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	release_if_empty(l);
	return 0;
}

/* Not while it goes: it would wait once more. */
static void inhibit(struct logind *l)
{
	if (l->inhibitor < 0 && !goes(l))
		sd_bus_call_method_async(
			l->bus, NULL, LOGIND, OBJECT, MANAGER, "Inhibit",
			on_inhibited, l, "ssss", "shutdown:sleep", "Stint",
			"Guests leave this host first", "delay");
}

static void set_going(struct logind *l)
{
	owner_hold(l->owner, PRESENCE_GOING, goes(l), NULL);
	inhibit(l);
	release_if_empty(l);
}

/* Guests are to be gone when its patience is over. */
static void begin_going(struct logind *l)
{
	l->owner->signs.sign[PRESENCE_GOING].by =
		l->delay ? owner_now() + l->delay : 0;
}

static int on_prepare(sd_bus_message *m, void *arg, sd_bus_error *err)
{
	struct logind *l = arg;
	bool sleep = sd_bus_message_is_signal(m, MANAGER, "PrepareForSleep");
	int begins;

	if (sd_bus_message_read(m, "b", &begins) <= 0)
		return 0;
	if (begins)
		begin_going(l);
	else if (goes(l) && l->inhibitor >= 0)
		log_warnx("owner: logind waits no longer, and guests are "
			  "still here (InhibitDelayMaxSec in logind.conf)");
	*(sleep ? &l->sleeps : &l->ends) = begins;
	set_going(l);
	return 0;
}

/* Somebody closed or opened it, unless it is the first that we hear of it. */
static void take_lid(struct logind *l, bool closed)
{
	if (l->lid_known && l->lid != closed && l->owner->conf.console)
		owner_sign(l->owner, PRESENCE_INPUT, 0, NULL);
	l->lid = closed;
	l->lid_known = true;
}

static int take_delay(struct logind *l, sd_bus_message *m)
{
	uint64_t t = 0;
	int r = sd_bus_message_read(m, "v", "t", &t);

	l->delay = t < (uint64_t)USEC_PER_DAY ? (usec_t)t : 0;
	return r;
}

static int take_property(void *ctx, const char *name, sd_bus_message *m)
{
	struct logind *l = ctx;
	bool lid = !strcmp(name, "LidClosed");
	bool ends = !strcmp(name, "PreparingForShutdown");
	bool sleeps = !strcmp(name, "PreparingForSleep");
	int b, r;

	if (!strcmp(name, "InhibitDelayMaxUSec"))
		return take_delay(l, m);
	if (!lid && !ends && !sleeps)
		return sd_bus_message_skip(m, "v");
	r = sd_bus_message_read(m, "v", "b", &b);
	if (r <= 0)
		return r;
	if (lid)
		take_lid(l, b);
	else
		*(ends ? &l->ends : &l->sleeps) = b;
	return r;
}

/* Of an answer that is none the last line alone is of effect. */
static void take_manager(struct logind *l, sd_bus_message *m)
{
	bool went = goes(l);

	(void)each_property(m, take_property, l);
	if (goes(l) && !went)
		begin_going(l);
	set_going(l);
}

static int on_manager(sd_bus_message *m, void *arg, sd_bus_error *err)
{
	take_manager(arg, m); /* it may go already */
	return 0;
}

/* ---- it comes and goes ---- */

static usec_t beat(const struct logind *l)
{
	return 3 * l->owner->conf.patience;
}

static int on_beat(sd_event_source *src, uint64_t usec, void *arg)
{
	struct logind *l = arg;

	ask_list(l);
	inhibit(l);
	sd_event_source_set_time_relative(src, beat(l));
	sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
	return 0;
}

static void appear(struct logind *l)
{
	l->seen = true;
	ask_list(l);
	ask(l, NULL, OBJECT, DBUS ".Properties", "GetAll", on_manager, l,
	    MANAGER);
	if (!l->beat)
		loop_after(l->owner->event, &l->beat, beat(l), on_beat, l);
}

static void vanish(struct logind *l, const char *why)
{
	l->beat = sd_event_source_disable_unref(l->beat);
	l->list = sd_bus_slot_unref(l->list);
	cannot_tell(l, true, why);
}

static int on_owner(sd_bus_message *m, void *arg, sd_bus_error *err)
{
	if (!sd_bus_message_is_method_error(m, NULL))
		appear(arg);
	return 0;
}

static int on_name(sd_bus_message *m, void *arg, sd_bus_error *err)
{
	struct logind *l = arg;
	const char *name, *old, *new;

	if (sd_bus_message_read(m, "sss", &name, &old, &new) <= 0 ||
	    strcmp(name, LOGIND))
		return 0;
	vanish(l, "logind has gone");
	if (*new)
		appear(l);
	return 0;
}

static int on_sessions(sd_bus_message *m, void *arg, sd_bus_error *err)
{
	ask_list(arg);
	return 0;
}

static int on_removed(sd_bus_message *m, void *arg, sd_bus_error *err)
{
	struct logind *l = arg;
	const char *id, *path;
	struct session *s;

	if (sd_bus_message_read(m, "so", &id, &path) > 0 &&
	    (s = sessions_find(&l->sessions, path))) {
		session_destroy(&l->sessions, s);
		sessions_tell(&l->sessions, l->owner);
	}
	return 0;
}

static int on_changed(sd_bus_message *m, void *arg, sd_bus_error *err)
{
	struct logind *l = arg;
	const char *path = sd_bus_message_get_path(m), *interface;
	struct session *s = sessions_find(&l->sessions, path);

	if (sd_bus_message_read(m, "s", &interface) <= 0)
		return 0;
	if (!strcmp(interface, MANAGER) && !strcmp(path, OBJECT))
		take_manager(l, m);
	if (!s || !s->known || s->ask || strcmp(interface, LOGIND ".Session"))
		return 0;
	if (s->broken) {
		ask_session(l, s); /* for all of it, not a part */
		return 0;
	}
	session_take(s, m);
	sessions_tell(&l->sessions, l->owner);
	return 0;
}

/* ---- the bus ---- */

static void logind_connect(struct logind *l);

static int on_again(sd_event_source *src, uint64_t usec, void *arg)
{
	struct logind *l = arg;

	l->again = sd_event_source_disable_unref(l->again);
	logind_connect(l);
	return 0;
}

static void disconnect(struct logind *l)
{
	l->beat = sd_event_source_disable_unref(l->beat);
	l->list = sd_bus_slot_unref(l->list);
	sessions_clear(&l->sessions);
	if (l->bus)
		sd_bus_detach_event(l->bus);
	l->bus = sd_bus_close_unref(l->bus);
}

static int on_disconnected(sd_bus_message *m, void *arg, sd_bus_error *err)
{
	struct logind *l = arg;

	cannot_tell(l, true, "the system's bus has gone");
	l->again = sd_event_source_disable_unref(l->again);
	/* Not from within one of its own calls. */
	loop_after(l->owner->event, &l->again, OWNER_AGAIN, on_again, l);
	return 0;
}

#define SIGNAL_OF "type='signal',sender='" LOGIND "',"

static const struct {
	const char *rule;
	sd_bus_message_handler_t heard;
} matches[] = {
	{ "type='signal',path='/org/freedesktop/DBus/Local',"
	  "interface='org.freedesktop.DBus.Local',member='Disconnected'",
	  on_disconnected },
	{ "type='signal',sender='" DBUS "',interface='" DBUS
	  "',member='NameOwnerChanged',arg0='" LOGIND "'",
	  on_name },
	{ SIGNAL_OF "interface='" MANAGER "',member='SessionNew'",
	  on_sessions },
	{ SIGNAL_OF "interface='" MANAGER "',member='SessionRemoved'",
	  on_removed },
	{ SIGNAL_OF "interface='" MANAGER "',member='PrepareForShutdown'",
	  on_prepare },
	{ SIGNAL_OF "interface='" MANAGER "',member='PrepareForSleep'",
	  on_prepare },
	{ SIGNAL_OF "interface='" DBUS ".Properties',"
		    "member='PropertiesChanged',path_namespace='" OBJECT "'",
	  on_changed },
};

static int attach(struct logind *l)
{
	int r = sd_bus_attach_event(l->bus, l->owner->event,
				    SD_EVENT_PRIORITY_NORMAL);

	for (size_t i = 0; r >= 0 && i < sizeof(matches) / sizeof(*matches);
	     i++)
		r = sd_bus_add_match_async(l->bus, NULL, matches[i].rule,
					   matches[i].heard, NULL, l);
	return r < 0 ? r
		     : sd_bus_call_method_async(
			       l->bus, NULL, DBUS, "/org/freedesktop/DBus",
			       DBUS, "GetNameOwner", on_owner, l, "s", LOGIND);
}

/* Whether there is a bus at all may come out later. */
static void logind_connect(struct logind *l)
{
	int r;

	disconnect(l);
	r = sd_bus_open_system(&l->bus);
	if (r >= 0)
		r = attach(l);
	if (r >= 0)
		return;
	cannot_tell(l, true, "the system's bus cannot be reached");
	disconnect(l);
	loop_after(l->owner->event, &l->again, OWNER_AGAIN, on_again, l);
}

static void *logind_begin(struct owner *o)
{
	struct logind *l = xcalloc(1, sizeof(*l));

	l->owner = o;
	l->inhibitor = -1;
	TAILQ_INIT(&l->sessions);
	logind_connect(l);
	return l;
}

static void logind_end(void *source)
{
	struct logind *l = source;

	disconnect(l);
	sd_event_source_disable_unref(l->again);
	io_close(&l->inhibitor);
	free(l);
}

/* It goes on to delay what logind is about to do. */
static bool logind_reread(void *source)
{
	struct logind *l = source;

	sessions_tell(&l->sessions, l->owner);
	return true;
}

const struct owner_source owner_source_logind = {
	.name = "logind",
	.voices = 1u << OWNER_LOGIND | 1u << OWNER_SESSIONS,
	.begin = logind_begin,
	.end = logind_end,
	.release = logind_release,
	.reread = logind_reread,
};
