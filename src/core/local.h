/*
 * local.h - sessions between two processes of one machine that share a key
 *
 * What tls.h does for peers elsewhere, for a connected Unix socket: nobody but
 * its two ends reads or writes that, so no byte needs to be encrypted, and a
 * program that only asks need not load GnuTLS, which takes longer than to ask.
 * Both sides prove that they hold the key, by HMAC-SHA-256 (RFC 2104) over two
 * fresh random numbers; the secret does not leave them.  A process in between
 * that hands on what the two say is found out: the client's user id is part of what
 * is proved, and the server has it from the kernel (SO_PEERCRED), so one in
 * between would have to be that user's own, or root's, and those have the key.
 *
 *	client	hello	magic, its user id, identity, a random number
 *	server	proof	a random number, HMAC(key, hello, number, "server")
 *		tls	"speak TLS": the kernel knows the client by another id (a
 *			user namespace lies between), or by that of all whom
 *			the server's namespace does not know (65534)
 *	client	proof	HMAC(key, hello, number, "client"), or none, and
 *			goodbye: the server's was wrong
 *	both	records	length (4 bytes, big endian), bytes; length 0: goodbye
 *
 * A server that does not know the identity proves with a secret that nobody
 * has: who asks does not learn which of the two is wrong.
 *
 * The calls are those of tls.h, over non-blocking descriptors.
 */
#ifndef CORE_LOCAL_H
#define CORE_LOCAL_H

#include "core/tls.h"

/* What a client's first byte is; no TLS record begins with it. */
#define LOCAL_FIRST 's'

struct local;

/* Over the connected Unix socket fd, which stays the caller's. */
struct local *local_client(int fd, const struct tls_key *key);
/* lookup and ctx must outlive the handshake. */
struct local *local_server(int fd, tls_lookup_fn lookup, void *ctx);
void local_destroy(struct local *l); /* NULL is allowed */

/*
 * 0 when both sides are authenticated, -EAGAIN; -EOPNOTSUPP: nothing is
 * wrong, go on by TLS over the same socket; -EACCES, -EPROTO, -EPIPE, -errno.
 */
int local_handshake(struct local *l, struct error *err) must_check;

const char *local_peer(const struct local *l);
bool local_proved(const struct local *l, const uint8_t secret[TLS_SECRET_SIZE]);
ssize_t local_read(struct local *l, void *p, size_t n) must_check;
/* The last local_read() got all that there was: -EAGAIN would be next. */
bool local_drained(const struct local *l);
ssize_t local_write(struct local *l, const void *p, size_t n) must_check;
int local_flush(struct local *l) must_check;
bool local_unsent(const struct local *l);
void local_bye(struct local *l);

#endif
