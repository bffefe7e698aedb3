/*
 * keys.c - end connections whose key has been revoked
 *
 * The file of keys is read anew for each handshake.  When it changes (stint controller
 * --revoke, or an editor), each open connection whose key is no longer in it is closed.
 */
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>

#include "cluster/conn/keys.h"
#include "cluster/controller/front/priv.h"
#include "cluster/controller/state/state.h"
#include "core/log.h"

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
	if (e->mask & IN_Q_OVERFLOW || (e->len && !strcmp(e->name, "keys")))
		check_all(arg);
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

	return r < 0 ? error_set(
			       err, r,
			       "%s: cannot be watched for revoked keys: %s: "
			       "see the sysctls fs.inotify.max_user_instances,"
			       " fs.inotify.max_user_watches and "
			       "fs.epoll.max_user_watches",
			       ctl->conf->state_dir, strerror(-r))
		     : 0;
}
