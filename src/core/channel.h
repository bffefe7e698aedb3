/*
 * channel.h - a two-way byte stream to a peer, plain or under TLS
 *
 * What the engine and the daemons read and write, so that neither knows
 * whether GnuTLS lies below.  A channel is for one thread; reading and
 * writing are whole or an error, and after an error only channel_close()
 * makes sense.  What channel_write() was given is on the wire when it
 * returns.  A writer should ignore SIGPIPE.
 */
#ifndef CORE_CHANNEL_H
#define CORE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "core/error.h"
#include "core/tls.h"
#include "core/units.h"

struct channel;

/* A plain channel over fd, which it owns from now on. */
struct channel *channel_from_fd(int fd);

/* Over fd, on which tls has shaken hands and which blocks; it owns both. */
struct channel *channel_from_tls(int fd, struct tls *tls);

/*
 * A channel over the connected socket fd on which both sides have proved
 * that they hold key (identity and secret), encrypted from then on.  It owns
 * fd; on failure fd stays the caller's.  Both shake hands in here, so each
 * side waits for the other, together at most timeout (0: no bound).  fd must
 * block.  Errors: -EACCES another key, -EPROTO no TLS 1.3, -ETIMEDOUT,
 * -EPIPE, -errno.
 */
int channel_tls_client(int fd, const struct tls_key *key, usec_t timeout,
		       struct channel **ret, struct error *err) must_check;
int channel_tls_server(int fd, const struct tls_key *key, usec_t timeout,
		       struct channel **ret, struct error *err) must_check;

/* All n bytes: 0, -EPIPE when the peer closed, or another -errno. */
int channel_read(struct channel *ch, void *p, size_t n) must_check;

/* All of the n pieces; iov is not changed.  0 or -errno. */
int channel_writev(struct channel *ch, const struct iovec *iov,
		   int n) must_check;
int channel_write(struct channel *ch, const void *p, size_t n) must_check;

/* The peer has hung up, or died: what waits to be read is all there will be. */
bool channel_hung_up(const struct channel *ch);

/* Under TLS: what arrives is what was sent, without a checksum of one's own. */
bool channel_authenticated(const struct channel *ch);

/* For poll and for options of the socket; bytes may also wait inside. */
int channel_fd(const struct channel *ch);

/*
 * Close in silence: another process, to which a fork gave a copy, goes on with
 * the conversation.  NULL is allowed.
 */
void channel_abandon(struct channel *ch);

/* Says goodbye where the protocol has one; NULL is allowed. */
void channel_close(struct channel *ch);

#endif
