/* priv.h - what conn.c and server.c share */
#ifndef CLUSTER_CONN_PRIV_H
#define CLUSTER_CONN_PRIV_H

#include <stdbool.h>
#include <sys/queue.h>

#include "cluster/conn/conn.h"
#include "cluster/conn/frames.h"
#include "core/secured.h"

/* Connections that count as one source when strangers are limited. */
struct conn_source {
	uint8_t family;
	uint8_t id[8]; /* IPv4 address, IPv6 network of 64 bits, local uid */
};

enum conn_state { CONNECTING, SHAKING, READY, ENDED };

struct conn {
	enum conn_state state;
	const struct conn_ops *ops;
	void *ctx;
	struct conn_server *server;   /* that accepted it, or NULL */
	struct sockaddr_storage from; /* at a server */
	struct conn_source source;    /* the same, for counting */
	/* which many that do */      /* where it came from, at a server */
	TAILQ_ENTRY(conn) link;	      /* in the server's list of its state */
	struct secured *secured;
	int fd;
	sd_event *event;
	sd_event_source *io, *again, *timer;
	struct frames_reader in;
	int64_t priority; /* conn_set_priority() */
	usec_t turn_end; /* what has come by then and is not handed out waits */
	uint8_t *out;	 /* [out_at, out_end) waits */
	size_t out_at, out_end, out_cap;
	bool tells;	    /* of state that before_send() commits */
	bool above_low;	    /* drained() is due */
	bool to_read_first; /* conn_hold_unread() */
	bool listed;	    /* in one of the server's lists */
	unsigned busy;	    /* calls on the stack that still use it */
	bool destroyed;	    /* free it when busy is 0 */
	int failed;	    /* before it could even start */
	struct error why;
};

TAILQ_HEAD(conn_list, conn);

struct conn_server {
	struct conn_server_conf conf;
	sd_event *event;
	sd_event_source *io;
	sd_event_source *rest; /* goes on accepting, after a pause */
	int fd;
	struct conn_list strangers, peers;
	unsigned nr_strangers, nr_conns;
};

/*
 * Add a new connection to the loop; without a session it only reports its
 * failure.
 */
void conn_start(struct conn *c, sd_event *event, usec_t timeout);

#endif
