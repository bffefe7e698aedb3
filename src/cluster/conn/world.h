/*
 * world.h - for tests: a server, and a client of it
 */
#ifndef CLUSTER_CONN_WORLD_H
#define CLUSTER_CONN_WORLD_H

#include "cluster/conn/conn.h"

/* A server that echoes, and what became of its and the client's side. */
struct world {
	sd_event *event;
	struct conn_server *server;
	struct tls_key key;
	struct address address;
	char path[96];
	struct conn *client;
	unsigned served, echoed, client_ready, client_closed;
	unsigned heard;	  /* messages at the server */
	unsigned fail_at; /* it has enough with this many; 0: at once */
	bool fails;
	unsigned other; /* heard before a message of another client */
	bool holds;	/* who does not read answers is heard no more */
	bool plain;	/* its answers tell of no state */
	unsigned commits;
	size_t bytes;
	int code;
	uint8_t much[100 << 10]; /* answered to "much" */
};

/* Of cmocka: without TLS, and with it. */
int world_setup(void **state);
int world_setup_tls(void **state);
int world_teardown(void **state);
#define HERE(name) \
	cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
#define ELSEWHERE(name) \
	cmocka_unit_test_setup_teardown(name, world_setup_tls, world_teardown)

/* What a server and a client of the world's are to do; ctx is the world. */
extern const struct conn_ops world_served, world_client;
int world_lookup(void *ctx, const char *identity,
		 uint8_t secret[TLS_SECRET_SIZE]);

void connect_as(struct world *w, const struct tls_key *key);
/* Handle what comes next, which must come within seconds. */
void turn(struct world *w);

#endif
