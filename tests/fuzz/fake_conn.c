/* fake_conn.c - connections to nobody, see fake_conn.h */
#include "fake_conn.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "cluster/conn/frames.h"
#include "core/xalloc.h"

struct conn {
	TAILQ_ENTRY(conn) link;
	char identity[64];
	const struct conn_ops *ops;
	void *ctx;
	bool failed, ended, busy, destroyed;
	size_t queued;
	int64_t priority;
};

struct conn_server {
	struct conn_server_conf conf;
	sd_event_source *play;
	int fd;
};

bool (*fake_play)(void *ctx);
void (*fake_sent)(struct conn *c, const uint8_t *p, size_t n);

static TAILQ_HEAD(, conn) conns = TAILQ_HEAD_INITIALIZER(conns);
static struct conn_server *server;

bool fake_alive(const struct conn *c)
{
	const struct conn *at;

	TAILQ_FOREACH (at, &conns, link)
		if (at == c)
			return !c->destroyed;
	return false;
}

static void conn_free(struct conn *c)
{
	TAILQ_REMOVE(&conns, c, link);
	free(c);
}

struct conn *fake_accept(const char *identity)
{
	struct conn *c;

	if (!server)
		return NULL;
	c = xcalloc(1, sizeof(*c));
	snprintf(c->identity, sizeof(c->identity), "%s", identity);
	c->ops = server->conf.ops;
	c->ctx = server->conf.ctx;
	TAILQ_INSERT_TAIL(&conns, c, link);
	c->ops->ready(c, c->ctx);
	return c;
}

static void end(struct conn *c, int code)
{
	struct error err;

	error_set(&err, code, "the end");
	c->ended = true;
	c->ops->closed(c, code, &err, c->ctx);
}

void fake_receive(struct conn *c, const uint8_t *p, size_t n)
{
	struct error err = ERROR_INIT;
	int r;

	if (c->ended)
		return;
	c->busy = true;
	r = c->ops->message(c, p, n, c->ctx, &err);
	assert(r >= 0 || *err.text);
	if (r < 0 && !c->destroyed)
		end(c, r);
	c->busy = false;
	if (c->destroyed)
		conn_free(c);
}

void fake_hang_up(struct conn *c)
{
	if (!c->ended)
		end(c, 0);
}

void fake_queue(struct conn *c, size_t bytes)
{
	bool low = bytes < CONN_QUEUE_LOW && c->queued >= CONN_QUEUE_LOW;

	c->queued = bytes;
	if (low && c->ops->drained)
		c->ops->drained(c, c->ctx);
}

void fake_turn(void)
{
	struct conn *c, *next;

	if (server && server->conf.before_send)
		server->conf.before_send(server->conf.ctx);
	for (c = TAILQ_FIRST(&conns); c; c = next) {
		next = TAILQ_NEXT(c, link);
		if (!c->failed || c->ended)
			continue;
		end(c, -EPIPE);
		next = TAILQ_FIRST(&conns); /* any may have gone with it */
	}
}

/* ---- cluster/conn/conn.h, as far as it is used ---- */

void conn_destroy(struct conn *c)
{
	if (!c || c->destroyed)
		return;
	c->destroyed = true;
	if (!c->busy)
		conn_free(c);
}

void conn_set_priority(struct conn *c, int64_t priority)
{
	c->priority = priority;
}

int64_t fake_priority(const struct conn *c)
{
	return c->priority;
}

void conn_finish(struct conn *c)
{
	conn_destroy(c);
}

int conn_send(struct conn *c, const void *p, size_t n)
{
	assert(!c->destroyed);
	if (c->ended)
		return -ENOTCONN;
	if (!n || n > FRAMES_MAX)
		return -EMSGSIZE;
	fake_sent(c, p, n);
	return 0;
}

void conn_tells_nothing(struct conn *c)
{
}

void conn_fail(struct conn *c, int code, const char *why)
{
	c->failed = true;
}

void conn_hold_unread(struct conn *c)
{
}

size_t conn_queued(const struct conn *c)
{
	return c->queued;
}

const char *conn_peer(const struct conn *c)
{
	return c->identity;
}

bool conn_proved(const struct conn *c, const uint8_t secret[TLS_SECRET_SIZE])
{
	return true;
}

void conn_set_ctx(struct conn *c, void *ctx)
{
	c->ctx = ctx;
}

static int on_play(sd_event_source *src, void *arg)
{
	struct conn_server *s = arg;

	fake_turn();
	if (!fake_play(s->conf.ctx))
		return sd_event_exit(sd_event_source_get_event(src), 0);
	return 0;
}

int conn_server_create(sd_event *event, int fd,
		       const struct conn_server_conf *conf,
		       struct conn_server **ret, struct error *err)
{
	struct conn_server *s = xcalloc(1, sizeof(*s));
	int r = sd_event_add_defer(event, &s->play, on_play, s);

	assert(r >= 0);
	/* after all that the daemon itself put off */
	sd_event_source_set_priority(s->play, SD_EVENT_PRIORITY_IDLE);
	sd_event_source_set_enabled(s->play, SD_EVENT_ON);
	s->conf = *conf;
	s->fd = fd;
	*ret = server = s;
	return 0;
}

void conn_server_destroy(struct conn_server *s)
{
	struct conn *c;

	while ((c = TAILQ_FIRST(&conns)))
		conn_free(c);
	sd_event_source_disable_unref(s->play);
	close(s->fd);
	free(s);
	server = NULL;
}
