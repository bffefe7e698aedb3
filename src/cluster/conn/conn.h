/*
 * conn.h - an authenticated message connection on an event loop
 *
 * Messages (cluster/conn/frames.h) over TLS 1.3 (core/tls.h) over a stream socket,
 * without ever blocking.  Until both sides are authenticated not one byte
 * goes to the frame reader or to the user.
 *
 * Life: conn_connect() makes one that connects; a conn_server makes one for
 * each peer it accepts.  ready() tells when both are authenticated,
 * message() brings messages in order, closed() tells that it is over, once, and
 * is the last call; after it, or at any time before, conn_destroy() frees it.
 * All callbacks may call conn_send() and conn_destroy().
 *
 * What conn_send() takes is queued and leaves when the event loop comes round,
 * after the server's before_send().  A peer that does not read makes the queue
 * grow up to a limit, where conn_send() refuses; who relays looks at
 * conn_queued() and is told by drained() to go on.
 */
#ifndef CLUSTER_CONN_CONN_H
#define CLUSTER_CONN_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include "cluster/conn/address.h"
#include "core/error.h"
#include "core/tls.h"
#include "core/units.h"

#define CONN_QUEUE_MAX (16u << 20) /* bytes that wait to be sent */
#define CONN_QUEUE_LOW (256u << 10)

struct conn;

struct conn_ops {
	void (*ready)(struct conn *c, void *ctx);
	/* The bytes are the connection's.  A negative result ends it. */
	int (*message)(struct conn *c, const uint8_t *p, size_t n, void *ctx,
		       struct error *err);
	/* code 0: the peer said goodbye. */
	void (*closed)(struct conn *c, int code, const struct error *why,
		       void *ctx);
	/* The queue was above CONN_QUEUE_LOW and is below it; may be NULL. */
	void (*drained)(struct conn *c, void *ctx);
};

/*
 * Connect to address as key->identity.  Failures, also early ones, come
 * through closed().  ops must outlive it.  timeout bounds connecting and
 * handshake together.
 */
struct conn *conn_connect(sd_event *event, const struct address *address,
			  const struct tls_key *key, usec_t timeout,
			  const struct conn_ops *ops, void *ctx);

/* Ends it without a callback; what is queued is lost.  NULL is allowed. */
void conn_destroy(struct conn *c);

/* Send what is queued, as far as it goes at once, say goodbye, destroy. */
void conn_finish(struct conn *c);

/*
 * Queue one message; 0, -EMSGSIZE above FRAMES_MAX, -ENOBUFS when the queue is
 * full, -ENOTCONN before ready() and after an error.
 */
int conn_send(struct conn *c, const void *p, size_t n) must_check;

/* End it with this error, through closed(), when the loop comes round. */
void conn_fail(struct conn *c, int code, const char *why);

/* Bytes that wait to be sent. */
size_t conn_queued(const struct conn *c);

/* Who the peer proved to be (at a server). */
const char *conn_peer(const struct conn *c);

/* Was that with this secret?  Its key may be another one by now. */
bool conn_proved(const struct conn *c, const uint8_t secret[TLS_SECRET_SIZE]);

/* What callbacks get as ctx from now on. */
void conn_set_ctx(struct conn *c, void *ctx);

/*
 * End it, but for what is below: its session and, in *ret_fd, its descriptor
 * are the caller's.  From ready() on, before anything was queued.
 */
struct tls *conn_take(struct conn *c, int *ret_fd);

/* ---- the side that is connected to ---- */

struct conn_server;

struct conn_server_conf {
	const struct conn_ops *ops; /* of each accepted connection */
	void *ctx;
	tls_lookup_fn lookup; /* with ctx */
	/* One that did not prove who it is has ended.  Or NULL. */
	void (*stranger)(void *ctx, const struct sockaddr_storage *from,
			 const struct error *why);
	/* Before bytes leave: make durable what they tell of.  Or NULL. */
	void (*before_send)(void *ctx);
	/* Not yet authenticated; the oldest goes, of where the most are from */
	unsigned max_strangers;
	unsigned max_conns; /* altogether; above, new ones are refused */
	usec_t handshake_timeout;
};

/* Serve the listening socket fd, which it owns on success. */
int conn_server_create(sd_event *event, int fd,
		       const struct conn_server_conf *conf,
		       struct conn_server **ret, struct error *err) must_check;

/* Closes the socket and destroys the connections.  NULL is allowed. */
void conn_server_destroy(struct conn_server *s);

#endif
