/*
 * client.h - a command's conversation with the controller
 *
 * Finding it, from first to last: --controller and --key, the environment
 * (STINT_CONTROLLER, STINT_KEY), the testbed that STINT_TESTBED names
 * (its client.conf), ~/.config/stint/client.conf, /etc/stint/client.conf, the
 * testbed called "default" if it is up.  A client.conf has a section [client]
 * with controller and key.
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

/* Where to, and as whom: fills in what the conf leaves open. */
int client_settle(struct client_conf *conf, struct address *address,
		  struct tls_key *key, struct error *err) must_check;

struct client;

/* Connect and greet, for at most 10 s. */
int client_open(struct client_conf *conf, struct client **ret,
		struct error *err) must_check;
void client_close(struct client *c); /* NULL is allowed */

/*
 * Ask, and wait for the answer whose body is `want` (or OK if that is it): 0
 * and the message, for the caller to free (NULL: it is dropped), or the
 * controller's reason.  Other answers to it go to other() first, where given; what
 * has none is answered in time, or the controller hangs.  Hosts that a restarted
 * controller waits for are waited for.
 */
int client_ask(struct client *c, Control__Message__BodyCase what, void *body,
	       Control__Message__BodyCase want,
	       void (*other)(void *ctx, const Control__Message *m), void *ctx,
	       Control__Message **ret, struct error *err) must_check;

/*
 * From now on a question whose connection is lost is asked again, of a
 * controller that is being started again, say, for two minutes.  For questions
 * that may be asked twice.
 */
void client_insist(struct client *c);

/* The connection is over; whatever else is asked fails for the same reason. */
bool client_lost(const struct client *c);

#endif
