/* priv.h - what the files of cluster/owner share */
#ifndef CLUSTER_OWNER_PRIV_H
#define CLUSTER_OWNER_PRIV_H

#include "cluster/owner/owner.h"

struct owner_said;
struct owner_terminals;

/* Who may say that a cause is lost, or names sessions. */
enum owner_voice {
	OWNER_LOGIND,
	OWNER_SESSIONS, /* those of logind, one by one */
	OWNER_UTMP,
	OWNER_TERMINALS,
	OWNER_INPUT,
	OWNER_POWER,
	OWNER_NOTICE,
	OWNER_VOICES
};

enum { OWNER_SOURCES_MAX = 16 };

/*
 * Whose sessions count, by uid, as far as there is room: these may say that the
 * owner is away (said.c).
 */
enum { OWNER_UIDS = 16 };
struct owner_uids {
	unsigned nr;
	uid_t uid[OWNER_UIDS];
};

struct owner {
	sd_event *event;
	const char *name, *run_dir;
	struct owner_conf conf; /* its own copy */
	const struct owner_ops *ops;
	void *ctx;
	struct presence_signs signs;
	unsigned lost[PRESENCE_CAUSES]; /* a bit for each voice */
	unsigned users[OWNER_VOICES];	/* logged in, as that one says */
	struct owner_uids uids_of[OWNER_VOICES], uids; /* all of these */
	sd_event_source *timer; /* when presence_next() */
	struct owner_said *said;
	struct owner_terminals *terminals;
	void *source[OWNER_SOURCES_MAX]; /* as begun */
	bool rereads; /* its settings: what follows is worked out after that */
};

/* ---- signs.c: what sources tell */

/* There was one so long ago. */
void owner_sign(struct owner *o, enum presence_cause cause, usec_t ago,
		const char *who);
void owner_hold(struct owner *o, enum presence_cause cause, bool held,
		const char *who);
/* why: for the log. */
void owner_lost(struct owner *o, enum owner_voice voice,
		enum presence_cause cause, bool lost, const char *why);
/* So many are logged in, whoever counts. */
void owner_users(struct owner *o, enum owner_voice voice, unsigned n);
/* These count, and are there, whether active or not. */
void owner_set_uids(struct owner *o, enum owner_voice voice,
		    const struct owner_uids *uids);
void owner_uids_add(struct owner_uids *uids, uid_t uid);
/* Does the session of that user count as the owner's?  "": not known whose. */
bool owner_counts(const struct owner *o, const char *user, bool remote);

/* Whose sessions count has changed, and with them what matters. */
void owner_weigh(struct owner *o);

/* Signs have come: work out what follows, and tell it. */
void owner_update(struct owner *o);

/* Until what cannot be had is tried again. */
#define OWNER_AGAIN	     (5 * USEC_PER_SEC)
/* What may be in the way where inotify watches nothing. */
#define OWNER_INOTIFY_LIMITS "(fs.inotify.max_user_instances, max_user_watches)"

/* ---- inlet.c */

/*
 * Call come(ctx, fd) once there is something to read from fd, at once, and then
 * once a second at most; it reads all of it, and may find nothing.  Takes fd.
 */
typedef void (*owner_inlet_fn)(void *ctx, int fd);
struct owner_inlet;
struct owner_inlet *owner_inlet_open(struct owner *o, int fd,
				     owner_inlet_fn come, void *ctx);
void owner_inlet_close(struct owner_inlet *i); /* NULL is allowed */
/*
 * The same of an inotify instance of its own; NULL: there is none
 * (fs.inotify.max_user_instances).  Then try again after OWNER_AGAIN.
 */
struct owner_inlet *owner_inlet_inotify(struct owner *o, owner_inlet_fn come,
					void *ctx);
/* As inotify_add_watch(): the watch, or a negative errno. */
int owner_inlet_add(const struct owner_inlet *i, const char *path,
		    uint32_t mask);
void owner_inlet_drop(const struct owner_inlet *i, int watch);
/* Is that errno one of a limit (fs.inotify.max_user_watches), which passes? */
bool owner_inlet_is_full(int code);

/* ---- said.c */

int owner_said_create(struct owner *o, struct owner_said **ret,
		      struct error *err) must_check;
void owner_said_destroy(struct owner_said *s); /* NULL is allowed */

/* ---- word.c */

void owner_word_save(const struct owner *o);
void owner_word_load(struct owner *o);

/* ---- ask.c */

/* The address of a socket at that path. */
struct sockaddr_un;
int owner_path(const char *path, struct sockaddr_un *ret,
	       struct error *err) must_check;

/* ---- peer.c */

/*
 * Who is at the other end of a connected unix socket?  -EPERM for a process in a
 * capsule or in another pid namespace.
 */
int owner_peer(int fd, uid_t *ret_uid, struct error *err) must_check;

#endif
