/*
 * secured.h - an authenticated session with a peer, here or elsewhere
 *
 * By TLS (tls.h), or over a Unix socket without it (local.h).  A client's
 * socket decides; a server sees by the first byte which one it is to be, and
 * takes TLS over a Unix socket as well.  The calls mean what tls.h says of theirs, over
 * non-blocking descriptors.
 */
#ifndef CORE_SECURED_H
#define CORE_SECURED_H

#include "core/tls.h"

struct secured;

/* Over fd, which stays the caller's; lookup and ctx outlive the handshake. */
int secured_client(int fd, const struct tls_key *key, struct secured **ret,
		   struct error *err) must_check;
struct secured *secured_server(int fd, tls_lookup_fn lookup, void *ctx);
void secured_destroy(struct secured *s); /* NULL is allowed */

int secured_handshake(struct secured *s, struct error *err) must_check;
const char *secured_peer(const struct secured *s);
bool secured_proved(const struct secured *s,
		    const uint8_t secret[TLS_SECRET_SIZE]);
ssize_t secured_read(struct secured *s, void *p, size_t n) must_check;
/* True: the last one got all that there was, and the socket tells of more. */
bool secured_drained(const struct secured *s);
ssize_t secured_write(struct secured *s, const void *p, size_t n) must_check;
int secured_flush(struct secured *s) must_check;
bool secured_unsent(const struct secured *s);
void secured_bye(struct secured *s);

/* Destroy it, but for its TLS, which becomes the caller's; NULL: it has none.
 */
struct tls *secured_take_tls(struct secured *s);

#endif
