/*
 * conn.h - an authenticated message connection on an event loop
 *
 * Messages (cluster/conn/frames.h) over an authenticated stream socket
 * (core/secured.h: TLS 1.3, but for Unix sockets), without ever blocking.  Before both sides are authenticated, no byte
 * is passed to the frame reader or the user.
 *
 * Life: conn_connect() makes one that connects; a conn_server makes one for
 * each peer it accepts.  ready() is called when both are authenticated,
 * message() for each message in order, closed() once, as the last call, when
 * the connection has ended; then, or at any time before, conn_destroy() frees
 * it.  All callbacks may call conn_send() and conn_destroy().
 *
 * What conn_send() takes is queued and leaves when the event loop comes round,
 * after the server's before_send().  If the peer does not read, the queue grows
 * up to a limit, at which conn_send() fails; a relay checks conn_queued() and
 * continues when drained() is called.
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
	/*
	 * p belongs to the connection.  A negative result ends the connection.
	 */
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

/*
 * What has been queued so far reports no state that would have to be committed
 * first: it may be sent without a call of the server's before_send().
 */
void conn_tells_nothing(struct conn *c);

/* End it with this error, through closed(), when the loop comes round. */
void conn_fail(struct conn *c, int code, const char *why);

/*
 * From now on, do not read its messages while CONN_QUEUE_LOW bytes wait to be
 * sent to it.  Without this, a peer that sends requests and reads no answers
 * makes us store CONN_QUEUE_MAX bytes.  Only for peers that send nothing but
 * requests: two sides that both answer would wait for each other for ever.
 */
void conn_hold_unread(struct conn *c);

/*
 * From now on it has its turn after all of a lower number that wait for theirs; 0
 * at first.
 */
void conn_set_priority(struct conn *c, int64_t priority);

/* Bytes that wait to be sent. */
size_t conn_queued(const struct conn *c);

/* The authenticated identity of the peer (at a server). */
const char *conn_peer(const struct conn *c);

/*
 * Did the peer authenticate with this secret?  Its key may have changed since.
 */
bool conn_proved(const struct conn *c, const uint8_t secret[TLS_SECRET_SIZE]);

/* The ctx that callbacks get from now on. */
void conn_set_ctx(struct conn *c, void *ctx);

/*
 * Free the connection but keep its TLS session (returned) and descriptor
 * (*ret_fd), which become the caller's.  Allowed from ready() on, before
 * anything was queued, and over a network only.
 */
struct tls *conn_take(struct conn *c, int *ret_fd);

/* ---- the side that is connected to ---- */

struct conn_server;

struct conn_server_conf {
	const struct conn_ops *ops; /* of each accepted connection */
	void *ctx;
	tls_lookup_fn lookup; /* with ctx */
	/* A connection ended before the peer was authenticated.  Or NULL. */
	void (*stranger)(void *ctx, const struct sockaddr_storage *from,
			 const struct error *why);
	/*
	 * Called before bytes are sent: commit the state that they report.  Or
	 * NULL.
	 */
	void (*before_send)(void *ctx);
	/*
	 * Unauthenticated connections; above that, the oldest one from the most
	 * frequent source is closed.
	 */
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
