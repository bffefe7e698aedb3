/*
 * fake_conn.h - cluster/conn/conn.h without sockets and TLS, for fuzz targets
 *
 * Linked in front of the library, so its conn.c is left out.  The daemon under
 * test makes its server, or connects, as ever; then fake_play() is called again
 * and again from its event loop, until it says false, which ends the loop.
 */
#ifndef FUZZ_FAKE_CONN_H
#define FUZZ_FAKE_CONN_H

#include "cluster/conn/conn.h"

/* The next move of whoever plays the peers; ctx is the daemon's own. */
extern bool (*fake_play)(void *ctx);
/* What is sent over a connection; the bytes are its own. */
extern void (*fake_sent)(struct conn *c, const uint8_t *p, size_t n);

/* A peer that has proved to be identity; NULL while nothing listens. */
struct conn *fake_accept(const char *identity);
/* A message from it; the connection may be gone afterwards. */
void fake_receive(struct conn *c, const uint8_t *p, size_t n);
/* It hangs up. */
void fake_hang_up(struct conn *c);
/* So much waits to be sent to it. */
void fake_queue(struct conn *c, size_t bytes);
/* conn_set_priority()'s. */
int64_t fake_priority(const struct conn *c);
/* Not destroyed by its owner; of any pointer that ever was a connection. */
bool fake_alive(const struct conn *c);
/* End those that were failed, tell the server's before_send(). */
void fake_turn(void);

#endif
