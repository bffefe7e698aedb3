/*
 * client.h - a command's conversation with the controller
 *
 * The controller's address and key come from the first of: --controller and
 * --key, the environment (STINT_CONTROLLER, STINT_KEY), the testbed that
 * STINT_TESTBED names (its client.conf), ~/.config/stint/client.conf,
 * /etc/stint/client.conf, the testbed called "default" if it is up.  A
 * client.conf has a section [client] with controller and key.
 *
 * For short questions: client_open(), client_ask(), client_close().  `stint
 * run` uses the connection itself (cluster/conn/conn.h), with client_settle().
 */
#ifndef CLUSTER_CLIENT_CLIENT_H
#define CLUSTER_CLIENT_CLIENT_H

#include "cluster/conn/message.h"

struct client_conf {
	char *controller, *key; /* set by options, or NULL */
};
void client_conf_clear(struct client_conf *conf);

/* Determine address and key; fills in what conf leaves open. */
int client_settle(struct client_conf *conf, struct address *address,
		  struct tls_key *key, struct error *err) must_check;

struct client;

/* Connect and greet, for at most 10 s. */
int client_open(struct client_conf *conf, struct client **ret,
		struct error *err) must_check;
void client_close(struct client *c); /* NULL is allowed */

/*
 * Send a request and wait for the answer with body `want` (OK is allowed): 0
 * and the message, for the caller to free (ret NULL: it is dropped), or an
 * error with the controller's reason.  Answers before that, such as progress,
 * are passed to other(), if given.  Without other() the answer must come within
 * a time limit.  If a restarted controller still waits for hosts, the request
 * is repeated until they are back.
 */
int client_ask(struct client *c, Control__Message__BodyCase what, void *body,
	       Control__Message__BodyCase want,
	       void (*other)(void *ctx, const Control__Message *m), void *ctx,
	       Control__Message **ret, struct error *err) must_check;

/*
 * From now on a request whose connection is lost is sent again, for up to two
 * minutes, as when the controller is being restarted.  Only for idempotent
 * requests.
 */
void client_insist(struct client *c);

/*
 * Can a connection that ended like that be to a controller that is being started again,
 * or to which all come back?
 */
bool client_is_restart(int code);

/* The connection is lost; all further requests fail for the same reason. */
bool client_lost(const struct client *c);

#endif
