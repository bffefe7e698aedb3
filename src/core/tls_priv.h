/*
 * tls_priv.h - what tls.c (the session) and tls_record.c (its data) share
 */
#ifndef CORE_TLS_PRIV_H
#define CORE_TLS_PRIV_H

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "core/tls.h"

enum {
	TLS_BUFFER_SIZE = 256 << 10,
	TLS_RECORD_ROOM = 17 << 10, /* more than any one record takes */
};

/* Bytes [at, end) of data wait; made when first used. */
struct tls_buffer {
	char *data;
	size_t at, end;
};

/* What seals or opens the records of one direction. */
struct tls_sealer {
	gnutls_aead_cipher_hd_t aead; /* NULL before the handshake's end */
	uint8_t iv[12];
	uint64_t seq; /* of the next record */
};

struct tls {
	gnutls_session_t session;
	gnutls_psk_client_credentials_t client;
	gnutls_psk_server_credentials_t server;
	tls_lookup_fn lookup;
	void *ctx;
	char peer[TLS_IDENTITY_MAX];
	int fd;
	usec_t deadline;	   /* of a blocking handshake; 0: none */
	struct tls_buffer in, out; /* records */
	struct tls_buffer plain;   /* of an opened one, not read yet */
	struct tls_sealer reading, writing;
	bool no_fill; /* GnuTLS shall see what is in the buffer, and no more */
};

/* Room for one more record: 0, -EAGAIN or another -errno. */
int tls_out_room(struct tls *tls) must_check;

/* More bytes behind those that wait: their count, 0 at the end, -errno. */
ssize_t tls_in_fill(struct tls *tls) must_check;

/* What an error of GnuTLS is to our callers. */
int tls_errno(int code);

/* The handshake is over: take the keys; 0 or -errno. */
int tls_record_begin(struct tls *tls) must_check;
void tls_record_end(struct tls *tls);

#endif
