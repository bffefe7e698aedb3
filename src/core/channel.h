/*
 * channel.h - a two-way byte stream to a peer, plain or under TLS
 *
 * The engine and the daemons read and write channels, so that neither has to
 * know whether GnuTLS is below.  A channel is for one thread.  A read or write
 * transfers all bytes or fails; after a failure only channel_close() may be
 * called.  channel_write() returns when its bytes have been handed to the
 * kernel.  A writer should ignore SIGPIPE.
 */
#ifndef CORE_CHANNEL_H
#define CORE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "core/error.h"
#include "core/pace.h"
#include "core/tls.h"
#include "core/units.h"

struct channel;

/* A plain channel over fd, which it owns from now on. */
struct channel *channel_from_fd(int fd);

/* Over the blocking fd, whose TLS handshake is done; it owns fd and tls. */
struct channel *channel_from_tls(int fd, struct tls *tls);

/*
 * A channel over the connected socket fd on which both sides have proved
 * that they hold key (identity and secret), encrypted from then on.  It owns
 * fd; on failure fd stays the caller's.  Both calls do the TLS handshake and so
 * wait for the peer, for at most timeout in all (0: no limit).  fd must block.
 * Errors: -EACCES the peer has another key, -EPROTO the peer does not speak TLS
 * 1.3, -ETIMEDOUT,
 * -EPIPE, -errno.
 */
int channel_tls_client(int fd, const struct tls_key *key, usec_t timeout,
		       struct channel **ret, struct error *err) must_check;
int channel_tls_server(int fd, const struct tls_key *key, usec_t timeout,
		       struct channel **ret, struct error *err) must_check;

/*
 * Keep these rates from now on, and wait where that takes it: of this host, both
 * ways, and what the peer's allows us to send.  Both outlive the channel; either
 * may be NULL.
 */
void channel_pace(struct channel *ch, struct pace *here, struct pace *there);
/* Bytes a second that can be sent at most so; 0: nobody says. */
uint64_t channel_rate(const struct channel *ch);

/* All n bytes: 0, -EPIPE when the peer closed, or another -errno. */
int channel_read(struct channel *ch, void *p, size_t n) must_check;

/* All of the n pieces; iov is not changed.  0 or -errno. */
int channel_writev(struct channel *ch, const struct iovec *iov,
		   int n) must_check;
int channel_write(struct channel *ch, const void *p, size_t n) must_check;

/*
 * The peer has closed the connection or died: only bytes already received are
 * left to read.
 */
bool channel_hung_up(const struct channel *ch);

/*
 * Under TLS: every byte is authenticated, so no checksum of the caller's is
 * needed.
 */
bool channel_authenticated(const struct channel *ch);

/*
 * For poll() and socket options.  Bytes may be buffered inside when poll()
 * shows none.
 */
int channel_fd(const struct channel *ch);

/*
 * Close without a TLS goodbye: after a fork, the other process goes on with the
 * connection.  NULL is allowed.
 */
void channel_abandon(struct channel *ch);

/* Says goodbye where the protocol has one; NULL is allowed. */
void channel_close(struct channel *ch);

#endif
