/*
 * server.c - the side that is connected to, see conn.h
 *
 * A peer that is not authenticated yet, a stranger, gets few resources: their
 * number and time are limited, and when there are too many, or no descriptor is
 * left, one is closed. It is one from the source with the most strangers, so
 * that a flood from one source does not keep out peers from others.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster/conn/loop.h"
#include "cluster/conn/priv.h"
#include "core/crowd.h"
#include "core/io.h"
#include "core/xalloc.h"

#define REST (100 * USEC_PER_MSEC) /* when nothing can be accepted */

/* ---- strangers ---- */

static struct conn_source source_of(int fd, const struct sockaddr_storage *ss)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)ss;
	const struct sockaddr_in *in = (const struct sockaddr_in *)ss;
	struct conn_source s = { .family = (uint8_t)ss->ss_family };
	struct ucred cred;

	if (s.family == AF_INET)
		memcpy(s.id, &in->sin_addr, 4);
	else if (s.family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
		memcpy(s.id, &in6->sin6_addr.s6_addr[12], 4);
	else if (s.family == AF_INET6)
		memcpy(s.id, &in6->sin6_addr, 8);
	else if (!io_peer_cred(fd, &cred))
		memcpy(s.id, &cred.uid, sizeof(cred.uid));
	return s;
}

/* The oldest stranger of the source that has the most. */
static struct conn *stranger_to_go(struct conn_server *s)
{
	struct conn_source *sources =
		xcalloc(s->nr_strangers, sizeof(*sources));
	struct conn *c;
	size_t n = 0;

	TAILQ_FOREACH (c, &s->strangers, link)
		sources[n++] = c->source;
	n = crowd_oldest(sources, n, sizeof(*sources));
	free(sources);
	c = TAILQ_FIRST(&s->strangers);
	while (n--)
		c = TAILQ_NEXT(c, link);
	return c;
}

static void stranger_closed(struct conn *c, int code, const struct error *why,
			    void *ctx)
{
	if (c->server->conf.stranger)
		c->server->conf.stranger(c->server->conf.ctx, &c->from, why);
	conn_destroy(c);
}

static void stranger_ready(struct conn *c, void *ctx)
{
	c->ops = c->server->conf.ops;
	c->ops->ready(c, ctx);
}

/* The end of a peer that has not proved who it is concerns hardly anybody. */
static const struct conn_ops stranger_ops = {
	.ready = stranger_ready,
	.closed = stranger_closed,
};

/* ---- accepting ---- */

static int on_rested(sd_event_source *src, uint64_t usec, void *arg)
{
	struct conn_server *s = arg;

	s->rest = sd_event_source_disable_unref(s->rest);
	if (sd_event_source_set_enabled(s->io, SD_EVENT_ON) < 0)
		loop_after(s->event, &s->rest, REST, on_rested, s);
	return 0;
}

/*
 * Nothing to accept with, and the socket stays readable: a descriptor from a
 * stranger, or else a pause, in which the loop does not spin.
 */
static void accept_failed(struct conn_server *s, int code)
{
	if (code == EAGAIN || code == EINTR || code == ECONNABORTED)
		return;
	if (s->nr_strangers) {
		conn_destroy(stranger_to_go(s));
		return;
	}
	sd_event_source_set_enabled(s->io, SD_EVENT_OFF);
	loop_after(s->event, &s->rest, REST, on_rested, s);
}

static void admit(struct conn_server *s, int fd,
		  const struct sockaddr_storage *from)
{
	struct conn *c = xcalloc(1, sizeof(*c));

	address_tune(fd);
	c->state = SHAKING;
	c->fd = fd;
	c->server = s;
	c->ops = &stranger_ops;
	c->ctx = s->conf.ctx;
	c->from = *from;
	c->source = source_of(fd, from);
	c->secured = secured_server(fd, s->conf.lookup, s->conf.ctx);
	TAILQ_INSERT_TAIL(&s->strangers, c, link);
	s->nr_strangers++;
	s->nr_conns++;
	c->listed = true;
	conn_start(c, s->event, s->conf.handshake_timeout);
	if (s->nr_strangers > s->conf.max_strangers)
		conn_destroy(stranger_to_go(s));
}

static int on_accept(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	struct sockaddr_storage from = { 0 };
	socklen_t n = sizeof(from);
	struct conn_server *s = arg;
	int peer = accept4(fd, (struct sockaddr *)&from, &n,
			   SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (peer < 0)
		accept_failed(s, errno);
	else if (s->nr_conns >= s->conf.max_conns)
		close(peer);
	else
		admit(s, peer, &from);
	return 0;
}

int conn_server_create(sd_event *event, int fd,
		       const struct conn_server_conf *conf,
		       struct conn_server **ret, struct error *err)
{
	struct conn_server *s = xcalloc(1, sizeof(*s));
	int r;

	s->conf = *conf;
	s->event = event;
	s->fd = fd;
	TAILQ_INIT(&s->strangers);
	TAILQ_INIT(&s->peers);
	r = sd_event_add_io(event, &s->io, fd, EPOLLIN, on_accept, s);
	if (r < 0) {
		free(s);
		return loop_unwatched(err, r,
				      "cannot watch the listening socket");
	}
	*ret = s;
	return 0;
}

void conn_server_destroy(struct conn_server *s)
{
	struct conn *c;

	if (!s)
		return;
	while ((c = TAILQ_FIRST(&s->strangers)) || (c = TAILQ_FIRST(&s->peers)))
		conn_destroy(c);
	sd_event_source_disable_unref(s->rest);
	sd_event_source_disable_unref(s->io);
	close(s->fd);
	free(s);
}
