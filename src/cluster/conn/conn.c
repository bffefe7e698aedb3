/*
 * conn.c - an authenticated message connection on an event loop, see conn.h
 *
 * One function, conn_run(), takes a connection as far as it goes: connect,
 * handshake, send, receive.  It runs whenever the socket is ready, and from
 * a deferred source when there is work that the socket will not tell of (a
 * message queued, bytes inside the session).
 */
#include "cluster/conn/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster/conn/loop.h"
#include "cluster/conn/priv.h"
#include "core/clock.h"
#include "core/xalloc.h"

enum {
	READ_SIZE = 64 << 10,
	READS_A_TURN = 16, /* then others come first */
	TURN_USEC = 2000,  /* likewise: a small message may be much work */
};

static void conn_run(struct conn *c);

static void unlist(struct conn *c)
{
	struct conn_server *s = c->server;

	if (!c->listed)
		return;
	if (c->state == READY) {
		TAILQ_REMOVE(&s->peers, c, link);
	} else {
		TAILQ_REMOVE(&s->strangers, c, link);
		s->nr_strangers--;
	}
	s->nr_conns--;
	c->listed = false;
}

static void conn_free(struct conn *c)
{
	sd_event_source_disable_unref(c->io);
	sd_event_source_disable_unref(c->again);
	sd_event_source_disable_unref(c->timer);
	secured_destroy(c->secured);
	if (c->fd >= 0)
		close(c->fd);
	frames_clear(&c->in);
	free(c->out);
	free(c);
}

void conn_destroy(struct conn *c)
{
	if (!c || c->destroyed)
		return;
	unlist(c);
	c->state = ENDED;
	c->destroyed = true;
	if (!c->busy)
		conn_free(c);
}

static void enter_loop(struct conn *c)
{
	c->busy++;
}

/* False when the connection has been destroyed meanwhile. */
static bool leave(struct conn *c)
{
	c->busy--;
	if (!c->destroyed)
		return true;
	if (!c->busy)
		conn_free(c);
	return false;
}

static void conn_end(struct conn *c, int code, const struct error *why)
{
	unlist(c);
	c->state = ENDED;
	c->io = sd_event_source_disable_unref(c->io);
	c->again = sd_event_source_disable_unref(c->again);
	c->timer = sd_event_source_disable_unref(c->timer);
	if (c->ops)
		c->ops->closed(c, code, why, c->ctx);
}

/* It is to read its answers before it is asked what else it wants. */
static bool is_held(const struct conn *c)
{
	return c->to_read_first && conn_queued(c) >= CONN_QUEUE_LOW;
}

static int on_again(sd_event_source *src, void *arg)
{
	struct conn *c = arg;

	c->again = sd_event_source_disable_unref(c->again);
	conn_run(c);
	return 0;
}

/* It cannot fail for a source that is there. */
static void put_in_order(const struct conn *c, sd_event_source *source)
{
	if (source)
		(void)sd_event_source_set_priority(source, c->priority);
}

/*
 * A new source each time: sd-event takes the oldest first, and counts a deferred
 * one's age from when it was made, so that one that is enabled again and again
 * would come before every socket.
 */
static void run_again(struct conn *c)
{
	if (!c->event || c->state == ENDED || c->again)
		return;
	loop_defer(c->event, &c->again, on_again, c);
	put_in_order(c, c->again);
}

void conn_set_priority(struct conn *c, int64_t priority)
{
	if (priority == c->priority)
		return;
	c->priority = priority;
	put_in_order(c, c->io);
	put_in_order(c, c->again);
}

static void unwatched(struct conn *c, int code)
{
	c->failed = loop_unwatched(&c->why, code, "the connection's socket");
	run_again(c);
}

/*
 * Which of the socket's events to wait for.  It ends where it cannot wait.  What was
 * queued by whoever runs us is sent by the deferred source that this has made.
 */
static void conn_arm(struct conn *c)
{
	int r = 0;
	uint32_t events = is_held(c) ? 0 : EPOLLIN;
	bool unsent = secured_unsent(c->secured) || c->out_at < c->out_end;

	if (c->state == CONNECTING)
		events = EPOLLOUT;
	else if (unsent && !c->again)
		events |= EPOLLOUT;
	if (c->io && !c->failed)
		r = sd_event_source_set_io_events(c->io, events);
	if (r < 0)
		unwatched(c, r);
}

/*
 * Do not serve a connection that conn_fail() has ended, perhaps in a callback.
 */
static int failed(const struct conn *c, struct error *err)
{
	if (c->failed)
		*err = c->why;
	return c->failed;
}

static int run_connect(struct conn *c, struct error *err)
{
	int code = 0;
	socklen_t n = sizeof(code);

	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &code, &n) < 0)
		code = errno;
	if (code)
		return address_failed(-code, err);
	c->state = SHAKING;
	return 0;
}

/* 0 once authenticated, -EAGAIN to come again. */
static int run_handshake(struct conn *c, struct error *err)
{
	struct conn_server *s = c->server;
	int r = secured_handshake(c->secured, err);

	if (r < 0)
		return r;
	c->timer = sd_event_source_disable_unref(c->timer);
	if (s) {
		TAILQ_REMOVE(&s->strangers, c, link);
		s->nr_strangers--;
		TAILQ_INSERT_TAIL(&s->peers, c, link);
	}
	c->state = READY;
	c->ops->ready(c, c->ctx);
	return failed(c, err);
}

/* What a large answer took is not kept for as long as the peer stays. */
static void out_empty(struct conn *c)
{
	c->out_at = c->out_end = 0;
	if (c->out_cap <= CONN_QUEUE_LOW)
		return;
	free(c->out);
	c->out = NULL;
	c->out_cap = 0;
}

static int run_send(struct conn *c, struct error *err)
{
	ssize_t r;

	if (c->tells && c->server && c->server->conf.before_send)
		c->server->conf.before_send(c->server->conf.ctx);
	c->tells = false;
	while (c->out_at < c->out_end) {
		r = secured_write(c->secured, c->out + c->out_at,
				  c->out_end - c->out_at);
		if (r == -EAGAIN)
			break;
		if (r < 0)
			return error_sys(err, r, "sending");
		c->out_at += r;
	}
	r = secured_flush(c->secured);
	if (r < 0 && r != -EAGAIN)
		return error_sys(err, r, "sending");
	if (c->out_at == c->out_end) {
		out_empty(c);
	} else if (c->out_at >= c->out_cap / 2) {
		memmove(c->out, c->out + c->out_at, c->out_end - c->out_at);
		c->out_end -= c->out_at;
		c->out_at = 0;
	}
	if (c->above_low && c->out_end - c->out_at < CONN_QUEUE_LOW) {
		c->above_low = false;
		if (c->ops->drained)
			c->ops->drained(c, c->ctx);
	}
	return 0;
}

static bool turn_is_over(const struct conn *c)
{
	return clock_usec(CLOCK_MONOTONIC) >= c->turn_end;
}

/* Hand out what the reader holds, as the turn allows: 0 or negative. */
static int run_messages(struct conn *c, struct error *err)
{
	const uint8_t *p;
	size_t n;
	int r;

	while (!c->destroyed && !c->failed && !turn_is_over(c) && !is_held(c) &&
	       (r = frames_next(&c->in, &p, &n, err))) {
		if (r < 0)
			return r;
		r = c->ops->message(c, p, n, c->ctx, err);
		if (r < 0)
			return r;
	}
	return failed(c, err);
}

/* Nothing is left to do before the socket tells of more. */
static bool is_drained(const struct conn *c)
{
	return !c->destroyed && !is_held(c) && !turn_is_over(c) &&
	       secured_drained(c->secured);
}

/* 0 to go on, 1 when the peer said goodbye, or negative. */
static int run_receive(struct conn *c, struct error *err)
{
	ssize_t r;

	c->turn_end = clock_usec(CLOCK_MONOTONIC) + TURN_USEC;
	r = run_messages(c, err); /* that the last turn left */
	if (r < 0)
		return r;
	for (int i = 0; i < READS_A_TURN && !c->destroyed && !is_held(c) &&
			!turn_is_over(c);
	     i++) {
		r = secured_read(c->secured, frames_room(&c->in, READ_SIZE),
				 READ_SIZE);
		if (r == -EAGAIN)
			return 0;
		if (r == 0)
			return 1;
		if (r < 0)
			return error_sys(err, r, "receiving");
		frames_added(&c->in, r);
		r = run_messages(c, err);
		if (r < 0)
			return r;
		if (is_drained(c))
			return 0;
	}
	if (!is_held(c))
		run_again(c);
	return 0;
}

static int conn_steps(struct conn *c, struct error *err)
{
	int r = failed(c, err);

	if (r) /* -EAGAIN, too: nothing will come of it by itself */
		return r;
	if (c->state == CONNECTING)
		r = run_connect(c, err);
	if (!r && c->state == SHAKING)
		r = run_handshake(c, err);
	if (r == -EAGAIN)
		return 0;
	if (!r && c->state == READY)
		r = run_send(c, err);
	if (!r && c->state == READY)
		r = run_receive(c, err);
	return r;
}

static void conn_run(struct conn *c)
{
	struct error err = ERROR_INIT;
	int r;

	enter_loop(c);
	r = conn_steps(c, &err);
	if (!c->destroyed && r)
		conn_end(c, r > 0 ? 0 : r, &err);
	if (leave(c) && c->state != ENDED)
		conn_arm(c);
}

static int on_io(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	conn_run(arg);
	return 0;
}

static int on_timeout(sd_event_source *src, uint64_t usec, void *arg)
{
	struct conn *c = arg;
	struct error err;

	error_set(&err, -ETIMEDOUT, "the peer did not answer in time");
	enter_loop(c);
	conn_end(c, -ETIMEDOUT, &err);
	leave(c);
	return 0;
}

void conn_start(struct conn *c, sd_event *event, usec_t timeout)
{
	int r;

	c->event = event;
	if (c->failed) {
		run_again(c);
		return;
	}
	r = sd_event_add_io(event, &c->io, c->fd, EPOLLIN, on_io, c);
	if (r < 0) {
		unwatched(c, r);
		return;
	}
	loop_after(event, &c->timer, timeout, on_timeout, c);
	conn_arm(c);
}

struct conn *conn_connect(sd_event *event, const struct address *address,
			  const struct tls_key *key, usec_t timeout,
			  const struct conn_ops *ops, void *ctx)
{
	struct conn *c = xcalloc(1, sizeof(*c));

	c->state = CONNECTING;
	c->ops = ops;
	c->ctx = ctx;
	c->fd = address_connect(address, &c->why);
	c->failed = c->fd < 0 ? c->fd : 0;
	if (!c->failed)
		c->failed = secured_client(c->fd, key, &c->secured, &c->why);
	conn_start(c, event, timeout);
	return c;
}

void conn_finish(struct conn *c)
{
	struct error err;

	if (c && c->state == READY && !run_send(c, &err))
		secured_bye(c->secured);
	conn_destroy(c);
}

int conn_send(struct conn *c, const void *p, size_t n)
{
	size_t need;

	if (c->state != READY)
		return -ENOTCONN;
	if (!n || n > FRAMES_MAX)
		return -EMSGSIZE;
	need = c->out_end + FRAMES_HEAD + n;
	if (need - c->out_at > CONN_QUEUE_MAX)
		return -ENOBUFS;
	if (need > c->out_cap) {
		c->out_cap = need > 2 * c->out_cap ? need : 2 * c->out_cap;
		c->out = xrealloc(c->out, c->out_cap);
	}
	frames_head(c->out + c->out_end, n);
	memcpy(c->out + c->out_end + FRAMES_HEAD, p, n);
	c->out_end = need;
	c->tells = true;
	if (c->out_end - c->out_at >= CONN_QUEUE_LOW)
		c->above_low = true;
	run_again(c);
	return 0;
}

void conn_tells_nothing(struct conn *c)
{
	c->tells = false;
}

void conn_fail(struct conn *c, int code, const char *why)
{
	if (c->state == ENDED)
		return;
	c->failed = error_set(&c->why, code, "%s", why);
	run_again(c);
}

void conn_hold_unread(struct conn *c)
{
	c->to_read_first = true;
}

size_t conn_queued(const struct conn *c)
{
	return c->out_end - c->out_at;
}

const char *conn_peer(const struct conn *c)
{
	return c->secured ? secured_peer(c->secured) : "";
}

bool conn_proved(const struct conn *c, const uint8_t secret[TLS_SECRET_SIZE])
{
	return c->secured && secured_proved(c->secured, secret);
}

struct tls *conn_take(struct conn *c, int *ret_fd)
{
	struct secured *secured = c->secured;
	struct tls *tls;

	c->io = sd_event_source_disable_unref(c->io);
	*ret_fd = c->fd;
	c->secured = NULL;
	c->fd = -1;
	conn_destroy(c);
	tls = secured_take_tls(secured);
	if (!tls)
		abort(); /* the caller would go on without any */
	return tls;
}

void conn_set_ctx(struct conn *c, void *ctx)
{
	c->ctx = ctx;
}
