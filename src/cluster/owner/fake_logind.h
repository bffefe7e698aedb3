/*
 * fake_logind.h - for tests: a logind that is played by hand
 *
 * On a bus of the test's own, in the event loop of play.h: what it answers is
 * what the test has put down.
 */
#ifndef CLUSTER_OWNER_FAKE_LOGIND_H
#define CLUSTER_OWNER_FAKE_LOGIND_H

#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "core/random.h"

#define FAKE_LOGIND "org.freedesktop.login1"
#define FAKE_OBJECT "/org/freedesktop/login1"

enum { FAKE_SESSIONS = 4 };
#define FAKE_DELAY (20 * USEC_PER_SEC) /* it lets a host wait for so long */

/* What it says, and what it has heard. */
struct fake_logind {
	sd_bus *bus; /* NULL: it is not there */
	bool silent;
	struct fake_session {
		bool there, idle, locked, remote;
		bool refuses; /* to tell its properties */
		bool mad;     /* tells such as make no sense */
		const char *user, *type, *tty;
	} session[FAKE_SESSIONS];
	bool ends;
	bool inhibits_not;	    /* it refuses inhibitors */
	bool inhibits_late;	    /* it gives them by fake_inhibits() */
	int inhibited;		    /* our end of its pipe; -1: nobody asked */
	unsigned lists, inhibits;   /* that it was asked for */
	struct random_stream *lies; /* NULL: none */
};
extern struct fake_logind fake_logind;

/* A bus, in play_dir. */
void fake_start_bus(void);
void fake_stop_bus(void);

void fake_logind_comes(void);
void fake_logind_goes(void);
/* A signal of its manager. */
void fake_emit(const char *member, const char *types, ...);
/* A property of its manager is so from now on, as is signalled. */
void fake_manager_changes(const char *name, bool value);
/* Answer who asked for an inhibitor meanwhile; false: nobody did. */
bool fake_inhibits(void);

/* Sessions, told by signals if it is there. */
void fake_session_comes(int i, const char *user, const char *type);
void fake_session_goes(int i);
/* A property is so from now on, as is signalled. */
void fake_session_changes(int i, const char *name, bool value);
char *fake_session_path(int i);
/* A property of some name, of some type, by fake_logind.lies. */
void fake_append_lie(sd_bus_message *m);

#endif
