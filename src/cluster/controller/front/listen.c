/* listen.c - where agents and clients connect, and how many connections there may be */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cluster/conn/keys.h"
#include "cluster/controller/front/priv.h"
#include "core/log.h"
#include "core/xalloc.h"

enum {
	STRANGERS_MAX = 64,
	/* descriptors of the store, the keys and the event loop */
	OTHER_FDS = 24,
};

#define HANDSHAKE_TIMEOUT (10 * USEC_PER_SEC)

static int find_key(void *arg, const char *identity,
		    uint8_t secret[TLS_SECRET_SIZE])
{
	struct ctl *ctl = arg;
	struct tls_key key;
	struct error err;
	int r = keys_find(ctl->keys_path, identity, &key, &err);

	if (!r)
		memcpy(secret, key.secret, TLS_SECRET_SIZE);
	else if (r != -ENOENT)
		log_warnx("cannot accept connections: %s", err.text);
	explicit_bzero(&key, sizeof(key));
	return r;
}

static void commit_before_send(void *arg)
{
	struct ctl *ctl = arg;

	store_commit(ctl->store);
}

/*
 * Allow as many connections as the hard limit of descriptors has room for.  A quarter
 * of them is not for users, so that users cannot keep hosts and administrators out; no
 * single user gets more than half of the rest.
 */
static void limit_conns(struct ctl *ctl)
{
	struct ctl_front *f = ctl->front;
	struct rlimit lim = { 0 };
	rlim_t room = OTHER_FDS;

	if (!getrlimit(RLIMIT_NOFILE, &lim)) {
		lim.rlim_cur = lim.rlim_max;
		(void)!setrlimit(RLIMIT_NOFILE, &lim);
	}
	if (lim.rlim_cur > 2 * OTHER_FDS)
		room = lim.rlim_cur - OTHER_FDS;
	room /= ctl->conf->nr_listen;
	f->conns_max = room < CTL_CONNS_MAX ? (unsigned)room : CTL_CONNS_MAX;
	f->users_max = f->conns_max - f->conns_max / 4;
	f->user_max = ctl->conf->user_conns;
	if (f->user_max <= f->users_max / 2)
		return;
	f->user_max = f->users_max / 2;
	log_warnx(
		"user-connections=%u why=\"there are %u for all users, by the "
		"limit of open files\"",
		f->user_max, f->users_max);
}

static int listen_at(struct ctl *ctl, const char *text, struct error *err)
{
	struct ctl_front *f = ctl->front;
	struct conn_server_conf conf = {
		.ops = &front_peer_ops,
		.ctx = ctl,
		.lookup = find_key,
		.before_send = commit_before_send,
		.max_strangers = f->conns_max < 4 * STRANGERS_MAX
					 ? f->conns_max / 4
					 : STRANGERS_MAX,
		.max_conns = f->conns_max,
		.handshake_timeout = HANDSHAKE_TIMEOUT,
	};
	struct address a;
	int fd, r = address_parse(text, &a, err);

	if (r < 0)
		return r;
	fd = address_listen(&a, err);
	if (fd < 0)
		return error_prefix(err, fd, "%s", text);
	r = conn_server_create(ctl->event, fd, &conf,
			       &f->servers[f->nr_servers], err);
	if (r < 0)
		close(fd);
	else
		f->nr_servers++;
	return r;
}

int ctl_front_open(struct ctl *ctl, struct error *err)
{
	const struct controller_conf *conf = ctl->conf;
	struct ctl_front *f = xcalloc(1, sizeof(*f));
	int r = 0;

	ctl->front = f;
	limit_conns(ctl);
	f->servers = xcalloc(conf->nr_listen, sizeof(*f->servers));
	for (size_t i = 0; i < conf->nr_listen && !r; i++)
		r = listen_at(ctl, conf->listen[i], err);
	return r < 0 ? r : front_keys_watch(ctl, err);
}

void ctl_front_close(struct ctl *ctl)
{
	struct ctl_front *f = ctl->front;
	struct ctl_peer *p;

	if (!f)
		return;
	front_copy_gone(f, NULL);
	LIST_FOREACH (p, &f->peers, link)
		conn_finish(p->conn);
	for (size_t i = 0; i < f->nr_servers; i++)
		conn_server_destroy(f->servers[i]);
	free(f->servers);
	sd_event_source_disable_unref(f->keys_watch);
}

void ctl_front_destroy(struct ctl *ctl)
{
	struct ctl_front *f = ctl->front;
	struct ctl_peer *p;

	while (f && (p = LIST_FIRST(&f->peers))) {
		LIST_REMOVE(p, link);
		free(p);
	}
	if (f)
		front_turns_clear(f);
	free(f);
}
