/*
 * tls.h - TLS 1.3 sessions between two parties that share a key
 *
 * Every connection of Stint between hosts, control plane and migration stream
 * alike, is TLS 1.3 with a pre-shared key and an ephemeral key exchange (psk_dhe_ke, RFC
 * 8446 section 2.2).  There are no certificates: a host or user is enrolled by
 * giving it a key that only it and the controller know, so no host can
 * impersonate another or the controller.  Each move has a key of its own, used
 * once.  Neither side can read a byte from a session before both have proved
 * that they hold the key.
 *
 * A session is for one thread.  It buffers both ways: written bytes may stay in
 * the session until tls_flush(), and received bytes may be waiting in it
 * (tls_pending()). It works over blocking and non-blocking descriptors; over
 * the latter the calls return -EAGAIN, and tls_unsent() says whether to wait
 * for POLLOUT.  After any other error only tls_destroy() makes sense.
 */
#ifndef CORE_TLS_H
#define CORE_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"
#include "core/units.h"

#define TLS_IDENTITY_MAX 96 /* with its NUL */
#define TLS_SECRET_SIZE	 32

/* A shared key: whose it is, and the secret. */
struct tls_key {
	char identity[TLS_IDENTITY_MAX];
	uint8_t secret[TLS_SECRET_SIZE];
};

/* 1 to TLS_IDENTITY_MAX - 1 letters, digits and "._/:@-"? */
bool tls_identity_valid(const char *s, size_t n);

/* A fresh random secret for identity (letters, digits and "._/:@-"). */
int tls_key_generate(struct tls_key *ret, const char *identity,
		     struct error *err) must_check;

/* One line of a key file, "identity hex", with or without its newline. */
int tls_key_parse(const char *line, struct tls_key *ret,
		  struct error *err) must_check;

/* The only key of a party's own file; refused if others can read the file. */
int tls_key_read(const char *path, struct tls_key *ret,
		 struct error *err) must_check;

/* The same line, with its newline; n at least TLS_KEY_LINE. */
#define TLS_KEY_LINE (TLS_IDENTITY_MAX + 2 * TLS_SECRET_SIZE + 3)
void tls_key_format(const struct tls_key *key, char *buf, size_t n);

/*
 * Look up the secret of identity for a server: 0, or -ENOENT if it is unknown.
 * The peer is not authenticated yet; identity is at most TLS_IDENTITY_MAX - 1
 * bytes of the alphabet above.
 */
typedef int (*tls_lookup_fn)(void *ctx, const char *identity,
			     uint8_t secret[TLS_SECRET_SIZE]);

struct tls;

/*
 * A program that loads TLS only when it needs it loads what is installed now, not
 * what is put in its place meanwhile: for one that may live longer than that.
 */
void tls_hold(void);

/*
 * A session over fd, which stays the caller's.  Nothing is sent yet.  The
 * key is copied; lookup and ctx must outlive the handshake.
 */
int tls_create_client(int fd, const struct tls_key *key, struct tls **ret,
		      struct error *err) must_check;
int tls_create_server(int fd, tls_lookup_fn lookup, void *ctx, struct tls **ret,
		      struct error *err) must_check;

/* Sends no goodbye (see tls_bye()).  NULL is allowed. */
void tls_destroy(struct tls *tls);

/*
 * Go on with the handshake: 0 when both sides are authenticated, -EAGAIN
 * when a non-blocking descriptor has no more, -EACCES when the peer does not
 * hold the key, -EPROTO when it does not speak TLS 1.3, -ETIMEDOUT, or another
 * -errno.  timeout limits a whole blocking handshake; 0: no limit.
 */
int tls_handshake(struct tls *tls, usec_t timeout,
		  struct error *err) must_check;

/* The authenticated identity of the peer (at a server); "" before that. */
const char *tls_peer(const struct tls *tls);

/* Did the peer authenticate with this secret (at a server)? */
bool tls_proved(const struct tls *tls, const uint8_t secret[TLS_SECRET_SIZE]);

/* Up to n bytes: their count, 0 when the peer said goodbye, or -errno. */
ssize_t tls_read(struct tls *tls, void *p, size_t n) must_check;

/*
 * Up to n bytes, into the session's buffer and perhaps on the wire: their
 * count or -errno.
 */
ssize_t tls_write(struct tls *tls, const void *p, size_t n) must_check;

/* Send everything written so far: 0, -EAGAIN or -errno. */
int tls_flush(struct tls *tls) must_check;

/* Will tls_read() return something without reading from the descriptor? */
bool tls_pending(const struct tls *tls);

/* Are bytes waiting for the descriptor to take them? */
bool tls_unsent(const struct tls *tls);

/*
 * Tell the peer that no more data follows, if that is possible without waiting.
 */
void tls_bye(struct tls *tls);

#endif
