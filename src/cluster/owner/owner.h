/*
 * owner.h - is the owner of this host there?
 *
 * The agent's eyes and ears: the sources of sources.def watch the host and tell
 * signs of people, from which model/presence.h works out whether the owner is
 * there.  All in the agent's event loop; nothing here waits.
 *
 * What people say themselves (`stint owner`) comes over the socket
 * RUN_DIR/owner.sock, whose other end is owner_ask() (ask.c).
 */
#ifndef CLUSTER_OWNER_OWNER_H
#define CLUSTER_OWNER_OWNER_H

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "cluster/conn/message.h"
#include "core/error.h"
#include "core/units.h"
#include "model/presence.h"

struct owner;

/* Who counts as owner; the rest of [owner] is terms (model/terms.h). */
struct owner_conf {
	bool console, ssh; /* sessions there, and those from elsewhere */
	char *users;	   /* "ada,bob": theirs alone; NULL: anybody's */
	usec_t linger;	   /* without a sign, until the owner counts as away */
	usec_t patience;   /* with what must answer */
	unsigned sources;  /* a bit for each of sources.def */
	char *utmp, *input, *power; /* where these are */
	char *notice; /* a command of sh that knows when the host goes; or NULL */
	usec_t notice_every; /* ... is run */
};

/* All sources; on a host of a testbed its own utmp alone. */
void owner_conf_init(struct owner_conf *conf);
void owner_conf_clear(struct owner_conf *conf);
/* *to is not cleared before. */
void owner_conf_copy(struct owner_conf *to, const struct owner_conf *from);
/* As owner_terms_set() does: -ENOENT, and nothing in err, if it is none. */
int owner_conf_set(struct owner_conf *conf, const char *name, const char *value,
		   struct error *err) must_check;
/* The names of all settings, for messages. */
extern const char owner_conf_names[];

/* Called from the loop, and by owner_create(). */
struct owner_ops {
	/* here, evict or going_by of owner_presence() has changed. */
	void (*changed)(void *ctx);
	/* Is no guest here?  When the last has gone, call owner_emptied(). */
	bool (*empty)(void *ctx);
};

/*
 * name: of the host.  An error if the socket cannot be made in run_dir.
 */
int owner_create(sd_event *event, const char *name, const char *run_dir,
		 const struct owner_conf *conf, const struct owner_ops *ops,
		 void *ctx, struct owner **ret, struct error *err) must_check;
void owner_destroy(struct owner *o); /* NULL is allowed */
/*
 * Other settings from now on.  Nobody comes or goes by that alone: who was seen
 * counts as there for the time of linger, whoever counts now.
 */
void owner_reread(struct owner *o, const struct owner_conf *conf);

/* By owner_now(), and as of the last event. */
const struct presence *owner_presence(const struct owner *o);
/* How many are logged in, whoever counts. */
unsigned owner_logged_in(const struct owner *o);

/* Whose sessions count, by name, with commas; NULL: anybody's. */
const char *owner_named(const struct owner *o);

/*
 * A child of this process has ended; call it before that is reaped, as its number
 * may be another's from then on.
 */
void owner_child(struct owner *o, pid_t pid);

/* A host that is about to go need not wait for guests any more. */
void owner_emptied(struct owner *o);
/* The clock of all these times; it counts suspended ones, too. */
usec_t owner_now(void);

/* The same as a message, as of now: it points into *p. */
void owner_fill(const struct presence *p, Control__Presence *ret);
/*
 * And back, by a clock that says now; NULL: a host that does not tell, whose
 * owner counts as there.  What is no such time or cause counts likewise.
 */
void owner_parse(const Control__Presence *m, usec_t now, struct presence *ret);

/*
 * Ask the agent of run_dir, as somebody at its host: what is OWNER_SAY or
 * OWNER_ASK.  *ret is OWNER_HOST's message; message_free() frees it.
 */
int owner_ask(const char *run_dir, Control__Message__BodyCase what, void *body,
	      Control__Message **ret, struct error *err) must_check;
/* Nobody's word holds for longer; -ERANGE where one is to. */
#define OWNER_SAID_LONGEST (7 * USEC_PER_DAY)
int owner_check_span(uint64_t span, struct error *err) must_check;
/*
 * Say "here", "away" or "evict" there, for that long; 0: as the agent has it.  Of
 * more than OWNER_SAID_LONGEST that counts.
 */
int owner_say(const char *run_dir, const char *verb, uint64_t span,
	      struct error *err) must_check;

#endif
