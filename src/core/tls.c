/*
 * tls.c - TLS 1.3 with pre-shared keys by GnuTLS, see tls.h
 *
 * GnuTLS makes a system call per 16 KiB record when it sends and two when it
 * receives; here its transport functions work on buffers of ours, so that a
 * call carries many records.  (Measured in bench/tls.)
 */
#include "core/tls.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <gnutls/gnutls.h>

#include "core/clock.h"
#include "core/xalloc.h"

/*
 * The hash of an external PSK is SHA-256 (RFC 8446 section 4.2.11), so suites
 * with SHA-384 (AES-256-GCM) cannot be negotiated.
 */
#define PRIORITY                                                        \
	"NONE:+VERS-TLS1.3:+ECDHE-PSK:+AES-128-GCM:+CHACHA20-POLY1305:" \
	"+AEAD:+GROUP-X25519:+GROUP-SECP256R1:+SIGN-ALL:+COMP-NULL"

enum {
	BUFFER_SIZE = 256 << 10,
	RECORD_ROOM = 17 << 10, /* more than any one record takes */
};

/* Bytes [at, end) of data wait; made when first used. */
struct buffer {
	char *data;
	size_t at, end;
};

struct tls {
	gnutls_session_t session;
	gnutls_psk_client_credentials_t client;
	gnutls_psk_server_credentials_t server;
	tls_lookup_fn lookup;
	void *ctx;
	char peer[TLS_IDENTITY_MAX];
	uint8_t secret[TLS_SECRET_SIZE]; /* a server's, of that peer */
	int fd;
	usec_t deadline; /* of a blocking handshake; 0: none */
	struct buffer in, out;
};

/* Write the out buffer to the socket; 0 or -errno. */
static int out_drain(struct tls *tls)
{
	struct buffer *b = &tls->out;
	ssize_t r;

	while (b->at < b->end) {
		r = send(tls->fd, b->data + b->at, b->end - b->at,
			 MSG_NOSIGNAL);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		b->at += r;
	}
	b->at = b->end = 0;
	return 0;
}

static ssize_t transport_fail(struct tls *tls, int code)
{
	gnutls_transport_set_errno(tls->session, -code);
	return -1;
}

/* Room for one more record: 0, -EAGAIN or another -errno. */
static int out_room(struct tls *tls)
{
	struct buffer *b = &tls->out;
	int r = 0;

	if (!b->data)
		b->data = xmalloc(BUFFER_SIZE);
	if (BUFFER_SIZE - b->end < RECORD_ROOM)
		r = out_drain(tls);
	if (b->at && b->end > b->at && BUFFER_SIZE - b->end < RECORD_ROOM) {
		memmove(b->data, b->data + b->at, b->end - b->at);
		b->end -= b->at;
		b->at = 0;
	}
	if (BUFFER_SIZE - b->end >= RECORD_ROOM)
		return 0;
	return r < 0 ? r : -EAGAIN;
}

static ssize_t transport_push(gnutls_transport_ptr_t ptr, const void *p,
			      size_t n)
{
	struct tls *tls = ptr;
	struct buffer *b = &tls->out;
	int r = out_room(tls);

	if (r < 0)
		return transport_fail(tls, r);
	if (n > BUFFER_SIZE - b->end)
		n = BUFFER_SIZE - b->end;
	memcpy(b->data + b->end, p, n);
	b->end += n;
	return n;
}

/* Wait until there is input: 0, -ETIMEDOUT or -errno. */
static int await_input(struct tls *tls)
{
	struct pollfd pfd = { .fd = tls->fd, .events = POLLIN };
	usec_t left;
	int r;

	do {
		left = tls->deadline - clock_usec(CLOCK_MONOTONIC);
		if (left <= 0)
			return -ETIMEDOUT;
		r = poll(&pfd, 1, left / USEC_PER_MSEC + 1);
	} while (!r || (r < 0 && errno == EINTR));
	return r < 0 ? -errno : 0;
}

/*
 * Read some bytes into the empty in buffer: their number, 0 at the end, or
 * -errno.
 */
static ssize_t in_fill(struct tls *tls)
{
	struct buffer *b = &tls->in;
	ssize_t r;

	/* The peer may be waiting for what we have before it answers. */
	r = out_drain(tls);
	if (r < 0 && r != -EAGAIN)
		return r;
	if (tls->deadline) {
		r = await_input(tls);
		if (r < 0)
			return r;
	}
	if (!b->data)
		b->data = xmalloc(BUFFER_SIZE);
	do
		r = recv(tls->fd, b->data, BUFFER_SIZE, 0);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	b->at = 0;
	b->end = r;
	return r;
}

static ssize_t transport_pull(gnutls_transport_ptr_t ptr, void *p, size_t n)
{
	struct tls *tls = ptr;
	struct buffer *b = &tls->in;
	ssize_t r;

	if (b->at == b->end) {
		r = in_fill(tls);
		if (r <= 0)
			return r ? transport_fail(tls, r) : 0;
	}
	if (n > b->end - b->at)
		n = b->end - b->at;
	memcpy(p, b->data + b->at, n);
	b->at += n;
	return n;
}

/* GnuTLS asks for the key of username, a peer not yet authenticated. */
static int server_key(gnutls_session_t session, const char *username,
		      gnutls_datum_t *ret)
{
	struct tls *tls = gnutls_session_get_ptr(session);
	uint8_t secret[TLS_SECRET_SIZE];
	size_t n = strnlen(username, TLS_IDENTITY_MAX);

	if (!tls_identity_valid(username, n) ||
	    tls->lookup(tls->ctx, username, secret) < 0)
		return -1;
	ret->data = gnutls_malloc(sizeof(secret));
	if (!ret->data)
		return -1;
	memcpy(ret->data, secret, sizeof(secret));
	memcpy(tls->secret, secret, sizeof(secret));
	ret->size = sizeof(secret);
	explicit_bzero(secret, sizeof(secret));
	return 0;
}

static int tls_errno(int code)
{
	switch (code) {
	case GNUTLS_E_AGAIN:
	case GNUTLS_E_INTERRUPTED:
		return -EAGAIN;
	case GNUTLS_E_TIMEDOUT:
		return -ETIMEDOUT;
	case GNUTLS_E_PREMATURE_TERMINATION:
	case GNUTLS_E_PULL_ERROR:
	case GNUTLS_E_PUSH_ERROR:
		return -EPIPE;
	default:
		return -EPROTO;
	}
}

static int tls_create(int fd, unsigned flags, struct tls **ret,
		      struct error *err)
{
	struct tls *tls = xcalloc(1, sizeof(*tls));
	int r;

	tls->fd = fd;
	r = gnutls_init(&tls->session,
			flags | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS);
	if (r >= 0)
		r = gnutls_priority_set_direct(tls->session, PRIORITY, NULL);
	if (r < 0) {
		tls_destroy(tls);
		return error_set(err, -EIO, "GnuTLS: %s", gnutls_strerror(r));
	}
	gnutls_session_set_ptr(tls->session, tls);
	gnutls_transport_set_ptr(tls->session, tls);
	gnutls_transport_set_push_function(tls->session, transport_push);
	gnutls_transport_set_pull_function(tls->session, transport_pull);
	*ret = tls;
	return 0;
}

void tls_hold(void)
{
}

int tls_create_client(int fd, const struct tls_key *key, struct tls **ret,
		      struct error *err)
{
	gnutls_datum_t secret = { (unsigned char *)key->secret,
				  sizeof(key->secret) };
	struct tls *tls;
	int r = tls_create(fd, GNUTLS_CLIENT, &tls, err);

	if (r < 0)
		return r;
	r = gnutls_psk_allocate_client_credentials(&tls->client);
	if (r >= 0)
		r = gnutls_psk_set_client_credentials(tls->client,
						      key->identity, &secret,
						      GNUTLS_PSK_KEY_RAW);
	if (r >= 0)
		r = gnutls_credentials_set(tls->session, GNUTLS_CRD_PSK,
					   tls->client);
	if (r < 0) {
		tls_destroy(tls);
		return error_set(err, -EIO, "GnuTLS: %s", gnutls_strerror(r));
	}
	*ret = tls;
	return 0;
}

int tls_create_server(int fd, tls_lookup_fn lookup, void *ctx, struct tls **ret,
		      struct error *err)
{
	struct tls *tls;
	int r = tls_create(fd, GNUTLS_SERVER, &tls, err);

	if (r < 0)
		return r;
	tls->lookup = lookup;
	tls->ctx = ctx;
	r = gnutls_psk_allocate_server_credentials(&tls->server);
	if (r >= 0) {
		gnutls_psk_set_server_credentials_function(tls->server,
							   server_key);
		r = gnutls_credentials_set(tls->session, GNUTLS_CRD_PSK,
					   tls->server);
	}
	if (r < 0) {
		tls_destroy(tls);
		return error_set(err, -EIO, "GnuTLS: %s", gnutls_strerror(r));
	}
	*ret = tls;
	return 0;
}

void tls_destroy(struct tls *tls)
{
	if (!tls)
		return;
	if (tls->session)
		gnutls_deinit(tls->session);
	if (tls->client)
		gnutls_psk_free_client_credentials(tls->client);
	if (tls->server)
		gnutls_psk_free_server_credentials(tls->server);
	free(tls->in.data);
	free(tls->out.data);
	explicit_bzero(tls->secret, sizeof(tls->secret));
	free(tls);
}

/*
 * The alerts by which a peer says that it does not know our identity, or has
 * another key for it. (It does not say which of the two.)
 */
static bool is_refusal(gnutls_alert_description_t alert)
{
	return alert == GNUTLS_A_INTERNAL_ERROR ||
	       alert == GNUTLS_A_ILLEGAL_PARAMETER ||
	       alert == GNUTLS_A_DECRYPT_ERROR ||
	       alert == GNUTLS_A_UNKNOWN_PSK_IDENTITY;
}

static int on_alert(struct tls *tls, struct error *err)
{
	gnutls_alert_description_t alert = gnutls_alert_get(tls->session);

	if (is_refusal(alert))
		return error_set(
			err, -EACCES,
			"the peer does not know our key: enrol this host or "
			"user and use the key file printed then");
	return error_set(err, -EACCES, "the peer refuses our key (%s)",
			 gnutls_alert_get_name(alert));
}

static int handshake_failed(struct tls *tls, int code, struct error *err)
{
	switch (code) {
	case GNUTLS_E_TIMEDOUT:
		return error_set(err, -ETIMEDOUT,
				 "the peer did not finish the handshake in "
				 "time");
	case GNUTLS_E_INSUFFICIENT_CREDENTIALS:
	case GNUTLS_E_NO_CIPHER_SUITES:
	case GNUTLS_E_DECRYPTION_FAILED:
	case GNUTLS_E_RECEIVED_ILLEGAL_PARAMETER:
	case GNUTLS_E_ERROR_IN_FINISHED_PACKET:
	case GNUTLS_E_SRP_PWD_ERROR: /* what the lookup refused */
		return error_set(
			err, -EACCES,
			"the peer's key is not known here: enrol the peer "
			"and have it use the key file printed then");
	case GNUTLS_E_FATAL_ALERT_RECEIVED:
		return on_alert(tls, err);
	default:
		return error_set(err, tls_errno(code), "TLS handshake: %s",
				 gnutls_strerror(code));
	}
}

int tls_handshake(struct tls *tls, usec_t timeout, struct error *err)
{
	const char *peer;
	int r;

	tls->deadline = timeout ? clock_usec(CLOCK_MONOTONIC) + timeout : 0;
	do
		r = gnutls_handshake(tls->session);
	while (r == GNUTLS_E_INTERRUPTED);
	if (r < 0 && tls->deadline &&
	    clock_usec(CLOCK_MONOTONIC) >= tls->deadline)
		r = GNUTLS_E_TIMEDOUT;
	tls->deadline = 0;
	if (r == GNUTLS_E_AGAIN) {
		r = tls_flush(tls);
		return r == -EPIPE ? error_sys(err, r, "TLS handshake")
				   : -EAGAIN;
	}
	if (r < 0) {
		/* Tell the peer why, if it still listens. */
		gnutls_alert_send_appropriate(tls->session, r);
		(void)!tls_flush(tls);
		return handshake_failed(tls, r, err);
	}
	if (gnutls_auth_get_type(tls->session) != GNUTLS_CRD_PSK ||
	    gnutls_protocol_get_version(tls->session) != GNUTLS_TLS1_3)
		return error_set(err, -EACCES, "the peer is not authenticated");
	if (tls->server) {
		peer = gnutls_psk_server_get_username(tls->session);
		if (!peer || strlen(peer) >= sizeof(tls->peer))
			return error_set(err, -EACCES,
					 "the peer gave no identity");
		memcpy(tls->peer, peer, strlen(peer) + 1);
	}
	r = tls_flush(tls);
	if (r < 0 && r != -EAGAIN)
		return error_sys(err, r, "TLS handshake");
	return 0;
}

bool tls_proved(const struct tls *tls, const uint8_t secret[TLS_SECRET_SIZE])
{
	return *tls->peer &&
	       !gnutls_memcmp(tls->secret, secret, TLS_SECRET_SIZE);
}

const char *tls_peer(const struct tls *tls)
{
	return tls->peer;
}

ssize_t tls_read(struct tls *tls, void *p, size_t n)
{
	ssize_t r;

	do
		r = gnutls_record_recv(tls->session, p, n);
	while (r == GNUTLS_E_INTERRUPTED);
	return r < 0 ? tls_errno(r) : r;
}

ssize_t tls_write(struct tls *tls, const void *p, size_t n)
{
	ssize_t r = out_room(tls);

	if (r < 0)
		return r;
	do
		r = gnutls_record_send(tls->session, p, n);
	while (r == GNUTLS_E_INTERRUPTED);
	return r < 0 ? tls_errno(r) : r;
}

int tls_flush(struct tls *tls)
{
	return out_drain(tls);
}

bool tls_pending(const struct tls *tls)
{
	return tls->in.at < tls->in.end ||
	       gnutls_record_check_pending(tls->session);
}

bool tls_unsent(const struct tls *tls)
{
	return tls->out.at < tls->out.end;
}

void tls_bye(struct tls *tls)
{
	gnutls_bye(tls->session, GNUTLS_SHUT_WR);
	(void)!tls_flush(tls);
}
