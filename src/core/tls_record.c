/*
 * tls_record.c - application data under TLS, see tls.h
 *
 * What the kernel's TLS does where there is one: GnuTLS shakes hands, and the
 * records of application data (RFC 8446 section 5.2) are sealed and opened
 * here, with the session's keys and GnuTLS's ciphers, from the caller's memory
 * into the buffer that is sent and from the one received into the caller's.
 * GnuTLS itself allocates for every record and copies each byte twice at
 * either end, a quarter of what a move costs under TLS (doc/design/20).
 * Whatever record is not application data (an alert, new keys) is left to it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/tls_priv.h"
#include "core/xalloc.h"

enum {
	HEAD_SIZE = 5,
	TAG_SIZE = 16,
	DATA_MAX = 1 << 14,
	SEALED_MAX = DATA_MAX + 256,
	APPLICATION_DATA = 23,
};

/* RFC 8446 section 5.5: 2^24.5 records of full size for AES-GCM. */
#define REKEY_AFTER (UINT64_C(1) << 24)

static void put_u64(uint8_t p[8], uint64_t x)
{
	for (int i = 7; i >= 0; i--, x >>= 8)
		p[i] = (uint8_t)x;
}

/* ---- keys ---- */

static void sealer_clear(struct tls_sealer *s)
{
	if (s->aead)
		gnutls_aead_cipher_deinit(s->aead);
	explicit_bzero(s, sizeof(*s));
}

/* The session's keys as they are now, and how many records they have seen. */
static int sealer_take(struct tls *tls, struct tls_sealer *s)
{
	gnutls_datum_t iv, key;
	uint8_t seq[8];

	sealer_clear(s);
	if (gnutls_record_get_state(tls->session, s == &tls->reading, NULL, &iv,
				    &key, seq) < 0 ||
	    iv.size != sizeof(s->iv) ||
	    gnutls_aead_cipher_init(&s->aead, gnutls_cipher_get(tls->session),
				    &key) < 0)
		return -EPROTO;
	memcpy(s->iv, iv.data, sizeof(s->iv));
	for (size_t i = 0; i < sizeof(seq); i++)
		s->seq = s->seq << 8 | seq[i];
	return 0;
}

/* Before GnuTLS reads or writes a record itself: so many went before it. */
static int sealer_give(struct tls *tls, const struct tls_sealer *s)
{
	uint8_t seq[8];

	put_u64(seq, s->seq);
	return gnutls_record_set_state(tls->session, s == &tls->reading, seq) <
			       0
		       ? -EPROTO
		       : 0;
}

/* RFC 8446 section 5.3. */
static void sealer_nonce(const struct tls_sealer *s, uint8_t ret[12])
{
	put_u64(ret + 4, s->seq);
	memset(ret, 0, 4);
	for (size_t i = 0; i < sizeof(s->iv); i++)
		ret[i] ^= s->iv[i];
}

int tls_record_begin(struct tls *tls)
{
	int r = sealer_take(tls, &tls->reading);

	return r < 0 ? r : sealer_take(tls, &tls->writing);
}

void tls_record_end(struct tls *tls)
{
	sealer_clear(&tls->reading);
	sealer_clear(&tls->writing);
}

/* ---- writing ---- */

int tls_rekey(struct tls *tls)
{
	int r = tls_out_room(tls);

	if (r == 0)
		r = sealer_give(tls, &tls->writing);
	if (r < 0)
		return r;
	r = gnutls_session_key_update(tls->session, 0);
	return r < 0 ? tls_errno(r) : sealer_take(tls, &tls->writing);
}

/* n <= DATA_MAX bytes into the out buffer, which has room for them. */
static int seal(struct tls *tls, const void *p, size_t n)
{
	uint8_t *head = (uint8_t *)tls->out.data + tls->out.end;
	uint8_t nonce[12], type = APPLICATION_DATA;
	size_t sealed = n + sizeof(type) + TAG_SIZE;
	giovec_t data[] = { { (void *)(uintptr_t)p, n },
			    { &type, sizeof(type) } };
	giovec_t auth = { head, HEAD_SIZE };

	head[0] = APPLICATION_DATA;
	head[1] = head[2] = 3; /* TLS 1.2, as all later ones pretend to be */
	head[3] = (uint8_t)(sealed >> 8);
	head[4] = (uint8_t)sealed;
	sealer_nonce(&tls->writing, nonce);
	if (gnutls_aead_cipher_encryptv(tls->writing.aead, nonce, sizeof(nonce),
					&auth, 1, TAG_SIZE, data, 2,
					head + HEAD_SIZE, &sealed) < 0)
		return -EPROTO;
	tls->writing.seq++;
	tls->out.end += HEAD_SIZE + sealed;
	return 0;
}

ssize_t tls_write(struct tls *tls, const void *p, size_t n)
{
	ssize_t r;

	if (!tls->writing.aead)
		return -ENOTCONN;
	if (!n)
		return 0;
	r = tls->writing.seq >= REKEY_AFTER ? tls_rekey(tls) : 0;
	if (r == 0)
		r = tls_out_room(tls);
	if (n > DATA_MAX)
		n = DATA_MAX;
	if (r == 0)
		r = seal(tls, p, n);
	return r < 0 ? r : (ssize_t)n;
}

void tls_bye(struct tls *tls)
{
	if (tls->writing.aead && sealer_give(tls, &tls->writing) < 0)
		return;
	gnutls_bye(tls->session, GNUTLS_SHUT_WR);
	(void)!tls_flush(tls);
}

/* ---- reading ---- */

static uint8_t *record_head(const struct tls *tls)
{
	return (uint8_t *)tls->in.data + tls->in.at;
}

/* Bytes of the sealed part, or 0 if the head is not there yet. */
static size_t record_size(const struct tls *tls)
{
	const uint8_t *head = record_head(tls);

	return tls->in.end - tls->in.at < HEAD_SIZE
		       ? 0
		       : (size_t)head[3] << 8 | head[4];
}

static bool record_there(const struct tls *tls)
{
	return tls->in.end - tls->in.at >= HEAD_SIZE &&
	       tls->in.end - tls->in.at >= HEAD_SIZE + record_size(tls);
}

bool tls_pending(const struct tls *tls)
{
	return tls->plain.at < tls->plain.end || record_there(tls);
}

/* Until a whole record waits. */
static int await_record(struct tls *tls)
{
	ssize_t r;

	while (!record_there(tls)) {
		if (record_size(tls) > SEALED_MAX)
			return -EPROTO;
		r = tls_in_fill(tls);
		if (r <= 0)
			return r ? (int)r : -EPIPE;
	}
	return 0;
}

/*
 * The record that waits, opened into p with room for all of its sealed part
 * but the tag: its type, and its size without padding, or -EPROTO.  What is in
 * p on failure nobody may look at.
 */
static int open_record(struct tls *tls, uint8_t *p, size_t *ret_size)
{
	uint8_t *head = record_head(tls), nonce[12];
	size_t sealed = record_size(tls), n = sealed - TAG_SIZE;

	sealer_nonce(&tls->reading, nonce);
	if (gnutls_aead_cipher_decrypt(tls->reading.aead, nonce, sizeof(nonce),
				       head, HEAD_SIZE, TAG_SIZE,
				       head + HEAD_SIZE, sealed, p, &n) < 0)
		return -EPROTO;
	while (n && !p[n - 1])
		n--;
	if (!n || n - 1 > DATA_MAX)
		return -EPROTO;
	*ret_size = n - 1;
	return p[n - 1];
}

/*
 * It reads this record, and none behind it.  0 when the peer said goodbye,
 * -EAGAIN when it is done.  New keys for us are nothing that a peer asks for.
 */
static ssize_t leave_to_gnutls(struct tls *tls)
{
	size_t end = tls->in.end;
	ssize_t r = sealer_give(tls, &tls->reading);
	char c;

	if (r < 0)
		return r;
	tls->in.end = tls->in.at + HEAD_SIZE + record_size(tls);
	tls->no_fill = true;
	do
		r = gnutls_record_recv(tls->session, &c, 1);
	while (r == GNUTLS_E_INTERRUPTED);
	tls->no_fill = false;
	tls->in.end = end;
	if (r == GNUTLS_E_AGAIN) /* done with it, and would go on */
		return sealer_take(tls, &tls->reading) < 0 ? -EPROTO : -EAGAIN;
	return r > 0 ? -EPROTO : r < 0 ? tls_errno((int)r) : 0;
}

static ssize_t take_plain(struct tls *tls, void *p, size_t n)
{
	struct tls_buffer *b = &tls->plain;

	if (n > b->end - b->at)
		n = b->end - b->at;
	memcpy(p, b->data + b->at, n);
	b->at += n;
	return (ssize_t)n;
}

/*
 * The record that waits: bytes of application data, in p if that has room for
 * them, otherwise in the plain buffer; -ENOMSG if it is another one.
 */
static ssize_t read_record(struct tls *tls, void *p, size_t n)
{
	size_t sealed = record_size(tls), size;
	bool fits = n >= sealed - TAG_SIZE;
	int type;

	if (*record_head(tls) != APPLICATION_DATA)
		return -ENOMSG;
	if (sealed <= TAG_SIZE || sealed > SEALED_MAX)
		return -EPROTO;
	if (!fits && !tls->plain.data)
		tls->plain.data = xmalloc(SEALED_MAX);
	type = open_record(tls, fits ? p : tls->plain.data, &size);
	if (type != APPLICATION_DATA)
		return type < 0 ? type : -ENOMSG;
	tls->in.at += HEAD_SIZE + sealed;
	tls->reading.seq++;
	if (fits)
		return (ssize_t)size;
	tls->plain.at = 0;
	tls->plain.end = size;
	return take_plain(tls, p, n);
}

ssize_t tls_read(struct tls *tls, void *p, size_t n)
{
	ssize_t r;

	if (!tls->reading.aead)
		return -ENOTCONN;
	if (!n)
		return 0;
	if (tls->plain.at < tls->plain.end)
		return take_plain(tls, p, n);
	do {
		r = await_record(tls);
		if (r < 0)
			return r;
		r = read_record(tls, p, n);
		if (r != -ENOMSG)
			continue;
		r = leave_to_gnutls(tls);
		if (r != -EAGAIN)
			return r;
		r = 0;
	} while (r == 0); /* a record may be empty */
	return r;
}
