/*
 * tls_none.c - tls.h for a program that talks to its own machine alone
 *
 * In the place of tls.c.  No session can be made, so nothing else is called.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/tls.h"

static int none(struct error *err)
{
	return error_set(err, -EPROTONOSUPPORT,
			 "this part of Stint speaks no TLS");
}

void tls_hold(void)
{
}

int tls_create_client(int fd, const struct tls_key *key, struct tls **ret,
		      struct error *err)
{
	return none(err);
}

int tls_create_server(int fd, tls_lookup_fn lookup, void *ctx, struct tls **ret,
		      struct error *err)
{
	return none(err);
}

void tls_destroy(struct tls *tls)
{
}

int tls_handshake(struct tls *tls, usec_t timeout, struct error *err)
{
	return none(err);
}

const char *tls_peer(const struct tls *tls)
{
	abort();
}

bool tls_proved(const struct tls *tls, const uint8_t secret[TLS_SECRET_SIZE])
{
	return false;
}

ssize_t tls_read(struct tls *tls, void *p, size_t n)
{
	return -EPROTONOSUPPORT;
}

ssize_t tls_write(struct tls *tls, const void *p, size_t n)
{
	return -EPROTONOSUPPORT;
}

int tls_flush(struct tls *tls)
{
	return -EPROTONOSUPPORT;
}

bool tls_pending(const struct tls *tls)
{
	return false;
}

bool tls_unsent(const struct tls *tls)
{
	return false;
}

void tls_bye(struct tls *tls)
{
}
