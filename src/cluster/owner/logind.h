/*
 * logind.h - what logind says, apart from how one gets at it
 *
 * logind.c has the bus, session.c the sessions.
 */
#ifndef CLUSTER_OWNER_LOGIND_H
#define CLUSTER_OWNER_LOGIND_H

#include <stdbool.h>
#include <sys/queue.h>
#include <systemd/sd-bus.h>

#include "cluster/owner/priv.h"
#include "cluster/owner/terminals.h"

enum { SESSION_ID = 64, SESSIONS_MOST = 256 };

struct session {
	char id[SESSION_ID];
	char *path;
	uint32_t uid;
	char who[PRESENCE_WHO];
	bool known;  /* its properties have been told */
	bool broken; /* ... and make no sense */
	bool user, remote, graphical, idle, locked, closing;
	char tty[TERMINAL_LINE + 1];
	usec_t idle_since; /* CLOCK_MONOTONIC; 0: not known */
	bool listed;	   /* in the list that is being read */
	sd_bus_slot *ask;  /* for its properties */
	TAILQ_ENTRY(session) link;
};
TAILQ_HEAD(sessions, session);

/* Those of a list, a(susso); calls fresh(ctx, s) for each that was not there.
 * false: it is no such list. */
bool sessions_take_list(struct sessions *list, sd_bus_message *m,
			void (*fresh)(void *ctx, struct session *s), void *ctx);
struct session *sessions_find(struct sessions *list, const char *path);
void session_destroy(struct sessions *list, struct session *s);
void sessions_clear(struct sessions *list);

/* Properties, a{sv}: all of them, or those that changed. */
void session_take(struct session *s, sd_bus_message *m);

/*
 * take(ctx, name, m) for each property of a message, a{sv}: it reads the value, and
 * returns what sd_bus_message_read() does.  Negative: it is no such message.
 */
int each_property(sd_bus_message *m,
		  int (*take)(void *ctx, const char *name, sd_bus_message *m),
		  void *ctx);

/* Tell what they come to. */
void sessions_tell(struct sessions *list, struct owner *o);

#endif
