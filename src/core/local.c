/* local.c - proving a key over a Unix socket, and records, see local.h */
#include "core/local.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <nettle/hmac.h>
#include <nettle/memops.h>

#include "core/io.h"
#include "core/xalloc.h"

enum { RECORD_MAX = 64 << 10, NUMBER = 32, MAGIC = 8, OVERFLOW_UID = 65534 };

struct hello {
	char magic[MAGIC];
	uint32_t uid; /* network order */
	char identity[TLS_IDENTITY_MAX];
	uint8_t number[NUMBER];
};

/* Of either side; a client's number is in its hello. */
struct proof {
	char magic[MAGIC];
	uint8_t number[NUMBER];
	uint8_t mac[SHA256_DIGEST_SIZE];
};

static const char magic_hello[MAGIC] = "stint-l1", magic_proof[MAGIC] = "proof",
		  magic_tls[MAGIC] = "tls", magic_none[MAGIC] = "none";

/* What the other side is to say next. */
enum step { HELLO, PROOF, DONE };

struct local {
	int fd;
	bool server;
	enum step step;
	bool tls; /* go on by TLS, as soon as the word of it is out */
	tls_lookup_fn lookup;
	void *ctx;
	char peer[TLS_IDENTITY_MAX]; /* a server's, once proved */
	uint8_t secret[TLS_SECRET_SIZE];
	struct hello hello;
	uint8_t number[NUMBER]; /* the server's */
	size_t have;		/* bytes of its next word, or of a head */
	union {
		struct hello hello;
		struct proof proof;
		uint8_t head[4];
	} word;
	size_t left;  /* of the record that is being read */
	bool over;    /* the last one was the other side's goodbye */
	bool drained; /* the socket had no more, when it was read last */
	uint8_t *out;
	size_t out_at, out_end; /* what the socket has not taken */
};

/* ---- bytes out ---- */

bool local_unsent(const struct local *l)
{
	return l->out_at < l->out_end;
}

int local_flush(struct local *l)
{
	while (l->out_at < l->out_end) {
		ssize_t r = send(l->fd, l->out + l->out_at,
				 l->out_end - l->out_at, MSG_NOSIGNAL);

		if (r < 0 && errno != EINTR)
			return -errno;
		if (r > 0)
			l->out_at += (size_t)r;
	}
	free(l->out);
	l->out = NULL;
	l->out_at = l->out_end = 0;
	return 0;
}

static void keep_rest(struct local *l, const struct iovec *iov, size_t sent)
{
	size_t n = iov[0].iov_len + iov[1].iov_len;
	uint8_t *all;

	if (sent == n)
		return;
	all = xmalloc(n);
	memcpy(all, iov[0].iov_base, iov[0].iov_len);
	memcpy(all + iov[0].iov_len, iov[1].iov_base, iov[1].iov_len);
	l->out = all;
	l->out_at = sent;
	l->out_end = n;
}

/* Both pieces, now or later: 0; -EAGAIN: none of them; or -errno. */
static int put(struct local *l, const void *p, size_t n, const void *more,
	       size_t nr_more)
{
	struct iovec iov[2] = { { (void *)p, n }, { (void *)more, nr_more } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };
	ssize_t sent;
	int r = local_flush(l);

	if (r < 0)
		return r;
	do
		sent = sendmsg(l->fd, &m, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	keep_rest(l, iov, (size_t)sent);
	return 0;
}

/* A word of the handshake, for which an empty socket has always room. */
static int send_word(struct local *l, const void *word, size_t n)
{
	int r = put(l, word, n, NULL, 0);

	return r == -EAGAIN ? -EPIPE : r;
}

ssize_t local_write(struct local *l, const void *p, size_t n)
{
	uint32_t head;
	int r;

	if (n > RECORD_MAX)
		n = RECORD_MAX;
	if (!n)
		return 0;
	head = htonl((uint32_t)n);
	r = put(l, &head, sizeof(head), p, n);
	return r < 0 ? r : (ssize_t)n;
}

void local_bye(struct local *l)
{
	const uint32_t end = 0;

	(void)!put(l, &end, sizeof(end), NULL, 0);
}

/* ---- bytes in ---- */

static ssize_t get(int fd, void *p, size_t n)
{
	ssize_t r;

	do
		r = recv(fd, p, n, 0);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r ? r : -EPIPE;
}

/* The whole of the next word: 0, -EAGAIN, -EPIPE, -errno. */
static int get_word(struct local *l, size_t n)
{
	while (l->have < n) {
		ssize_t r = get(l->fd, (char *)&l->word + l->have, n - l->have);

		if (r < 0)
			return (int)r;
		l->have += (size_t)r;
	}
	l->have = 0;
	return 0;
}

/* What has come, without the heads of records, at p; how much that is, or -EPROTO. */
static ssize_t strip_heads(struct local *l, uint8_t *p, size_t n)
{
	size_t at = 0, to = 0, k;
	uint32_t head;

	while (at < n && !l->over) {
		if (l->left) {
			k = n - at < l->left ? n - at : l->left;
			memmove(p + to, p + at, k);
			at += k;
			to += k;
			l->left -= k;
			continue;
		}
		l->word.head[l->have++] = p[at++];
		if (l->have < sizeof(l->word.head))
			continue;
		l->have = 0;
		memcpy(&head, l->word.head, sizeof(head));
		l->left = ntohl(head);
		l->over = !l->left;
		if (l->left > RECORD_MAX)
			return -EPROTO;
	}
	return (ssize_t)to;
}

ssize_t local_read(struct local *l, void *p, size_t n)
{
	ssize_t r = 0;

	while (!r && !l->over) {
		r = get(l->fd, p, n);
		l->drained = r < (ssize_t)n;
		if (r > 0)
			r = strip_heads(l, p, (size_t)r);
	}
	return r;
}

bool local_drained(const struct local *l)
{
	return l->drained && !l->over;
}

/* ---- the handshake ---- */

static void prove(const struct local *l, const char *side,
		  uint8_t mac[SHA256_DIGEST_SIZE])
{
	struct hmac_sha256_ctx ctx;

	hmac_sha256_set_key(&ctx, sizeof(l->secret), l->secret);
	hmac_sha256_update(&ctx, sizeof(l->hello), (const uint8_t *)&l->hello);
	hmac_sha256_update(&ctx, sizeof(l->number), l->number);
	hmac_sha256_update(&ctx, strlen(side), (const uint8_t *)side);
	hmac_sha256_digest(&ctx, SHA256_DIGEST_SIZE, mac);
	explicit_bzero(&ctx, sizeof(ctx));
}

static bool is_proof(const struct local *l, const char *side)
{
	uint8_t mac[SHA256_DIGEST_SIZE];

	prove(l, side, mac);
	return !memcmp(l->word.proof.magic, magic_proof, MAGIC) &&
	       memeql_sec(mac, l->word.proof.mac, sizeof(mac));
}

static void draw(uint8_t number[NUMBER])
{
	/* Never short: 32 bytes are given whole once there are any. */
	if (getrandom(number, NUMBER, 0) != NUMBER)
		abort();
}

static int strange(struct error *err)
{
	return error_set(
		err, -EPROTO,
		"the peer on this machine speaks another version of "
		"Stint: start the daemons of the version before again");
}

/*
 * As the kernel has it.  OVERFLOW_UID is all those whom this user namespace does
 * not know: one of them may be in between.
 */
static bool is_uid_of(int fd, uint32_t uid)
{
	struct ucred cred;

	return !io_peer_cred(fd, &cred) && cred.uid == uid &&
	       uid != OVERFLOW_UID;
}

static int hear_hello(struct local *l, struct error *err)
{
	struct proof mine = { .magic = "" };
	size_t n;
	int r = get_word(l, sizeof(l->word.hello));

	if (r < 0)
		return r;
	l->hello = l->word.hello;
	n = strnlen(l->hello.identity, TLS_IDENTITY_MAX);
	if (memcmp(l->hello.magic, magic_hello, MAGIC) ||
	    !tls_identity_valid(l->hello.identity, n))
		return strange(err);
	if (!is_uid_of(l->fd, ntohl(l->hello.uid))) {
		l->tls = true;
		memcpy(mine.magic, magic_tls, MAGIC);
		return send_word(l, &mine, sizeof(mine));
	}
	if (l->lookup(l->ctx, l->hello.identity, l->secret) < 0)
		draw(l->secret);
	draw(l->number);
	memcpy(mine.magic, magic_proof, MAGIC);
	memcpy(mine.number, l->number, NUMBER);
	prove(l, "server", mine.mac);
	l->step = PROOF;
	return send_word(l, &mine, sizeof(mine));
}

/* At a server. */
static int hear_client(struct local *l, struct error *err)
{
	if (!is_proof(l, "client"))
		return error_set(
			err, -EACCES,
			"the peer's key is not known here: enrol the peer "
			"and have it use the key file printed then");
	memcpy(l->peer, l->hello.identity, sizeof(l->peer));
	l->step = DONE;
	return 0;
}

/* At a client. */
static int hear_server(struct local *l, struct error *err)
{
	struct proof mine = { .magic = "" };

	if (!memcmp(l->word.proof.magic, magic_tls, MAGIC)) {
		l->tls = true;
		return 0;
	}
	if (memcmp(l->word.proof.magic, magic_proof, MAGIC))
		return strange(err);
	memcpy(l->number, l->word.proof.number, NUMBER);
	if (!is_proof(l, "server")) {
		memcpy(mine.magic, magic_none, MAGIC);
		(void)!send_word(l, &mine, sizeof(mine));
		return error_set(
			err, -EACCES,
			"the peer does not know our key: enrol this host or "
			"user and use the key file printed then");
	}
	memcpy(mine.magic, magic_proof, MAGIC);
	prove(l, "client", mine.mac);
	l->step = DONE;
	return send_word(l, &mine, sizeof(mine));
}

static int next_step(struct local *l, struct error *err)
{
	int r;

	if (l->server && l->step == HELLO)
		return hear_hello(l, err);
	if (l->step == HELLO) {
		l->step = PROOF;
		return send_word(l, &l->hello, sizeof(l->hello));
	}
	r = get_word(l, sizeof(l->word.proof));
	if (r < 0)
		return r;
	return l->server ? hear_client(l, err) : hear_server(l, err);
}

int local_handshake(struct local *l, struct error *err)
{
	struct error why = ERROR_INIT;
	int r = local_flush(l);

	while (!r && !l->tls && l->step != DONE)
		r = next_step(l, &why);
	if (!r && l->tls)
		r = local_flush(l) < 0 ? -EAGAIN : -EOPNOTSUPP;
	if (!r || r == -EAGAIN || r == -EOPNOTSUPP)
		return r;
	if (!*why.text)
		return error_sys(err, r, "the peer went during the handshake");
	return error_set(err, r, "%s", why.text);
}

/* ---- making one ---- */

struct local *local_client(int fd, const struct tls_key *key)
{
	struct local *l = xcalloc(1, sizeof(*l));

	l->fd = fd;
	memcpy(l->secret, key->secret, sizeof(l->secret));
	memcpy(l->hello.magic, magic_hello, MAGIC);
	l->hello.uid = htonl(geteuid());
	memcpy(l->hello.identity, key->identity, sizeof(l->hello.identity));
	draw(l->hello.number);
	return l;
}

struct local *local_server(int fd, tls_lookup_fn lookup, void *ctx)
{
	struct local *l = xcalloc(1, sizeof(*l));

	l->fd = fd;
	l->server = true;
	l->lookup = lookup;
	l->ctx = ctx;
	return l;
}

void local_destroy(struct local *l)
{
	if (!l)
		return;
	explicit_bzero(l->secret, sizeof(l->secret));
	free(l->out);
	free(l);
}

const char *local_peer(const struct local *l)
{
	return l->peer;
}

bool local_proved(const struct local *l, const uint8_t secret[TLS_SECRET_SIZE])
{
	return *l->peer && memeql_sec(l->secret, secret, TLS_SECRET_SIZE);
}
