/* secured.c - TLS or a local session, see secured.h */
#include "core/secured.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/local.h"
#include "core/xalloc.h"

/* Of tls and local one is set, or neither: a server that has heard nothing. */
struct secured {
	int fd;
	struct tls *tls;
	struct local *local;
	struct tls_key key; /* a client's */
	tls_lookup_fn lookup;
	void *ctx;
};

static bool is_local(int fd)
{
	int domain;
	socklen_t n = sizeof(domain);

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) &&
	       domain == AF_UNIX;
}

static int begin_tls(struct secured *s, struct error *err)
{
	return s->lookup ? tls_create_server(s->fd, s->lookup, s->ctx, &s->tls,
					     err)
			 : tls_create_client(s->fd, &s->key, &s->tls, err);
}

int secured_client(int fd, const struct tls_key *key, struct secured **ret,
		   struct error *err)
{
	struct secured *s = xcalloc(1, sizeof(*s));
	int r = 0;

	s->fd = fd;
	s->key = *key;
	if (is_local(fd))
		s->local = local_client(fd, key);
	else
		r = begin_tls(s, err);
	if (r < 0)
		secured_destroy(s);
	else
		*ret = s;
	return r;
}

struct secured *secured_server(int fd, tls_lookup_fn lookup, void *ctx)
{
	struct secured *s = xcalloc(1, sizeof(*s));

	s->fd = fd;
	s->lookup = lookup;
	s->ctx = ctx;
	return s;
}

void secured_destroy(struct secured *s)
{
	if (!s)
		return;
	tls_destroy(s->tls);
	local_destroy(s->local);
	explicit_bzero(&s->key, sizeof(s->key));
	free(s);
}

/*
 * What a client speaks; an error is TLS's to tell of.  For who has gone no session
 * is made: that is most of the work there is with a flood of such.
 */
static int choose_protocol(struct secured *s, struct error *err)
{
	char first = 0;
	ssize_t n = recv(s->fd, &first, 1, MSG_PEEK);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	if (!n)
		return error_sys(err, -EPIPE,
				 "the peer went before the handshake");
	if (first != LOCAL_FIRST || !is_local(s->fd))
		return begin_tls(s, err);
	s->local = local_server(s->fd, s->lookup, s->ctx);
	return 0;
}

int secured_handshake(struct secured *s, struct error *err)
{
	int r = s->tls || s->local ? 0 : choose_protocol(s, err);

	if (r < 0)
		return r;
	if (s->local) {
		r = local_handshake(s->local, err);
		if (r != -EOPNOTSUPP)
			return r;
		local_destroy(s->local);
		s->local = NULL;
		r = begin_tls(s, err);
	}
	return r < 0 ? r : tls_handshake(s->tls, 0, err);
}

const char *secured_peer(const struct secured *s)
{
	return s->local ? local_peer(s->local) : s->tls ? tls_peer(s->tls) : "";
}

bool secured_proved(const struct secured *s,
		    const uint8_t secret[TLS_SECRET_SIZE])
{
	return s->local ? local_proved(s->local, secret)
			: s->tls && tls_proved(s->tls, secret);
}

ssize_t secured_read(struct secured *s, void *p, size_t n)
{
	return s->local ? local_read(s->local, p, n) : tls_read(s->tls, p, n);
}

bool secured_drained(const struct secured *s)
{
	return s->local && local_drained(s->local);
}

ssize_t secured_write(struct secured *s, const void *p, size_t n)
{
	return s->local ? local_write(s->local, p, n) : tls_write(s->tls, p, n);
}

int secured_flush(struct secured *s)
{
	return s->local ? local_flush(s->local) : tls_flush(s->tls);
}

bool secured_unsent(const struct secured *s)
{
	return s->local ? local_unsent(s->local) : s->tls && tls_unsent(s->tls);
}

void secured_bye(struct secured *s)
{
	if (s->local)
		local_bye(s->local);
	else
		tls_bye(s->tls);
}

struct tls *secured_take_tls(struct secured *s)
{
	struct tls *tls = s->tls;

	s->tls = NULL;
	secured_destroy(s);
	return tls;
}
