/*
 * keys.c - end connections whose key has been revoked
 *
 * The file of keys is read anew for each handshake.  When it changes (stint controller
 * --revoke, or an editor), each open connection whose key is no longer in it is closed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "cluster/conn/keys.h"
#include "cluster/controller/front/priv.h"
#include "cluster/controller/state/audit.h"
#include "cluster/controller/state/state.h"
#include "core/log.h"
#include "core/xalloc.h"

static void end_revoked(struct ctl_peer *p)
{
	log_warnx("peer=%s key=revoked", conn_peer(p->conn));
	conn_fail(p->conn, -EKEYREVOKED, "its key was revoked");
}

void front_keys_check(struct ctl_peer *p)
{
	struct tls_key key;
	int r = keys_find(p->ctl->keys_path, conn_peer(p->conn), &key, NULL);

	if (r == -ENOENT || (!r && !conn_proved(p->conn, key.secret)))
		end_revoked(p);
	explicit_bzero(&key, sizeof(key));
}

static void match_peers(void *ctx, const struct tls_key *key)
{
	struct ctl *ctl = ctx;
	struct ctl_peer *p;

	LIST_FOREACH (p, &ctl->front->peers, link)
		if (!strcmp(conn_peer(p->conn), key->identity))
			p->holds = conn_proved(p->conn, key->secret);
}

/* ---- the audit of who has a key */

static void audit_key(struct ctl *ctl, const char *what, const char *identity)
{
	struct stat st;
	char who[40] = "";

	/* whoever changes the file puts one of their own in its place */
	if (!stat(ctl->keys_path, &st))
		snprintf(who, sizeof(who), "uid %u", st.st_uid);
	ctl_audit_of(ctl, who,
		     &(struct ctl_audited){ .what = what, .target = identity });
}

/* Those that the store knows, in the order of their names; which of them the file has. */
struct known {
	struct known_key {
		char *identity;
		bool there;
	} * key;
	size_t n, cap;
};

static void add_known(void *ctx, const char *identity)
{
	struct known *k = ctx;

	array_room(k->key, k->n, &k->cap);
	k->key[k->n++] = (struct known_key){ .identity = xstrdup(identity) };
}

struct key_change {
	struct ctl *ctl;
	struct known known;
};

static int by_name(const void *a, const void *b) /* a text, a key */
{
	const struct known_key *k = b;

	return strcmp(a, k->identity);
}

static void see_key(void *ctx, const struct tls_key *key)
{
	struct key_change *c = ctx;
	struct known_key *at = bsearch(key->identity, c->known.key, c->known.n,
				       sizeof(*c->known.key), by_name);

	if (at)
		at->there = true;
	else if (store_know_key(c->ctl->store, key->identity))
		audit_key(c->ctl, "key added", key->identity);
}

/*
 * Compare the file with what it was, also before the controller started.  An identity
 * that got a new key in place of its old one at once is not told.
 */
static void audit_keys(struct ctl *ctl)
{
	struct key_change c = { .ctl = ctl };
	bool read;

	store_each_key(ctl->store, add_known, &c.known);
	read = keys_each(ctl->keys_path, see_key, &c, NULL) >= 0;
	for (size_t i = 0; i < c.known.n; i++) {
		const struct known_key *k = &c.known.key[i];

		if (read && !k->there &&
		    store_unknow_key(ctl->store, k->identity))
			audit_key(ctl, "key revoked", k->identity);
		free(k->identity);
	}
	free(c.known.key);
	store_commit(ctl->store);
}

static void check_all(struct ctl *ctl)
{
	struct ctl_peer *p;
	struct error err;

	LIST_FOREACH (p, &ctl->front->peers, link)
		p->holds = false;
	if (keys_each(ctl->keys_path, match_peers, ctl, &err) < 0) {
		log_warnx("cannot accept connections: %s", err.text);
		return;
	}
	LIST_FOREACH (p, &ctl->front->peers, link)
		if (!p->holds)
			end_revoked(p);
}

static int on_change(sd_event_source *src, const struct inotify_event *e,
		     void *arg)
{
	if (e->mask & IN_Q_OVERFLOW || (e->len && !strcmp(e->name, "keys"))) {
		check_all(arg);
		audit_keys(arg);
	}
	return 0;
}

int front_keys_watch(struct ctl *ctl, struct error *err)
{
	/*
	 * The pointer to the source is kept to free it: otherwise it would keep
	 * the event loop alive.
	 */
	int r = sd_event_add_inotify(
		ctl->event, &ctl->front->keys_watch, ctl->conf->state_dir,
		IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE, on_change, ctl);

	if (r < 0)
		return error_set(
			err, r,
			"%s: cannot be watched for revoked keys: %s: "
			"see the sysctls fs.inotify.max_user_instances,"
			" fs.inotify.max_user_watches and "
			"fs.epoll.max_user_watches",
			ctl->conf->state_dir, strerror(-r));
	audit_keys(ctl);
	return 0;
}
