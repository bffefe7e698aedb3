/* channel.c - plain and TLS channels, see channel.h */
#include "core/channel.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"

struct channel {
	int fd;
	struct tls *tls;	   /* NULL for a plain one */
	struct pace *here, *there; /* or NULL */
};

struct channel *channel_from_fd(int fd)
{
	struct channel *ch = xcalloc(1, sizeof(*ch));

	ch->fd = fd;
	return ch;
}

struct channel *channel_from_tls(int fd, struct tls *tls)
{
	struct channel *ch = channel_from_fd(fd);

	ch->tls = tls;
	return ch;
}

static int channel_shake(int fd, struct tls *tls, usec_t timeout,
			 struct channel **ret, struct error *err)
{
	int r = tls_handshake(tls, timeout, err);

	if (r < 0) {
		tls_destroy(tls);
		return r;
	}
	*ret = channel_from_tls(fd, tls);
	return 0;
}

int channel_tls_client(int fd, const struct tls_key *key, usec_t timeout,
		       struct channel **ret, struct error *err)
{
	struct tls *tls;
	int r = tls_create_client(fd, key, &tls, err);

	return r < 0 ? r : channel_shake(fd, tls, timeout, ret, err);
}

/* A server that knows one key. */
static int lookup_one(void *ctx, const char *identity,
		      uint8_t secret[TLS_SECRET_SIZE])
{
	const struct tls_key *key = ctx;

	if (strcmp(identity, key->identity))
		return -ENOENT;
	memcpy(secret, key->secret, sizeof(key->secret));
	return 0;
}

int channel_tls_server(int fd, const struct tls_key *key, usec_t timeout,
		       struct channel **ret, struct error *err)
{
	struct tls *tls;
	int r = tls_create_server(fd, lookup_one, (void *)key, &tls, err);

	return r < 0 ? r : channel_shake(fd, tls, timeout, ret, err);
}

/* ---- rates ---- */

void channel_pace(struct channel *ch, struct pace *here, struct pace *there)
{
	ch->here = here;
	ch->there = there;
}

uint64_t channel_rate(const struct channel *ch)
{
	uint64_t here = pace_rate(ch->here), there = pace_rate(ch->there);

	return !there || (here && here < there) ? here : there;
}

/* ---- reading ---- */

static int read_all(struct channel *ch, void *p, size_t n)
{
	ssize_t r;

	if (!ch->tls)
		return io_read_full(ch->fd, p, n);
	while (n) {
		r = tls_read(ch->tls, p, n);
		if (r <= 0)
			return r ? r : -EPIPE;
		p = (char *)p + r;
		n -= r;
	}
	return 0;
}

/* Whoever sends is slowed down by what is not read. */
int channel_read(struct channel *ch, void *p, size_t n)
{
	int r = 0;

	if (!pace_rate(ch->here))
		return read_all(ch, p, n);
	while (n && !r) {
		size_t piece = n < PACE_PIECE ? n : PACE_PIECE;

		r = read_all(ch, p, piece);
		pace_wait(ch->here, PACE_IN, piece);
		p = (char *)p + piece;
		n -= piece;
	}
	return r;
}

/* ---- writing ---- */

static int tls_put(struct tls *tls, const void *p, size_t n)
{
	ssize_t r;

	while (n) {
		r = tls_write(tls, p, n);
		if (r < 0)
			return r;
		p = (const char *)p + r;
		n -= r;
	}
	return 0;
}

/* Small neighbours share a record; big pieces go as they are. */
static int tls_putv(struct tls *tls, const struct iovec *iov, int n)
{
	char buf[4096];
	size_t have = 0;
	int r = 0;

	for (int i = 0; i < n && !r; i++) {
		if (have + iov[i].iov_len > sizeof(buf)) {
			r = tls_put(tls, buf, have);
			have = 0;
		}
		if (!r && iov[i].iov_len > sizeof(buf)) {
			r = tls_put(tls, iov[i].iov_base, iov[i].iov_len);
		} else if (iov[i].iov_len) {
			memcpy(buf + have, iov[i].iov_base, iov[i].iov_len);
			have += iov[i].iov_len;
		}
	}
	if (!r)
		r = tls_put(tls, buf, have);
	return r < 0 ? r : tls_flush(tls);
}

static int plain_putv(int fd, const struct iovec *iov, int n)
{
	ssize_t r;
	int i = 0;

	while (i < n) {
		size_t len = iov[i].iov_len;

		r = writev(fd, iov + i, n - i < IOV_MAX ? n - i : IOV_MAX);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		while (i < n && (size_t)r >= len) {
			r -= len;
			len = ++i < n ? iov[i].iov_len : 0;
		}
		if (i == n || !r)
			continue;
		r = io_write_full(fd, (const char *)iov[i].iov_base + r,
				  len - r);
		if (r < 0)
			return r;
		i++;
	}
	return 0;
}

static int put_pieces(struct channel *ch, const struct iovec *iov, int n)
{
	return ch->tls ? tls_putv(ch->tls, iov, n) : plain_putv(ch->fd, iov, n);
}

static int put_in_time(struct channel *ch, const struct iovec *iov, int n,
		       size_t size)
{
	pace_wait(ch->here, PACE_OUT, size);
	pace_wait(ch->there, PACE_OUT, size);
	return put_pieces(ch, iov, n);
}

static size_t sum_of(const struct iovec *iov, int n)
{
	size_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += iov[i].iov_len;
	return sum;
}

/* What is long goes in parts, so that each waits for a moment only. */
int channel_writev(struct channel *ch, const struct iovec *iov, int n)
{
	int r = 0;

	if (!channel_rate(ch))
		return put_pieces(ch, iov, n);
	if (sum_of(iov, n) <= PACE_PIECE)
		return put_in_time(ch, iov, n, sum_of(iov, n));
	for (int i = 0; i < n && !r; i++)
		for (size_t at = 0; at < iov[i].iov_len && !r;
		     at += PACE_PIECE) {
			size_t left = iov[i].iov_len - at;
			struct iovec part = { (char *)iov[i].iov_base + at,
					      left < PACE_PIECE ? left
								: PACE_PIECE };

			r = put_in_time(ch, &part, 1, part.iov_len);
		}
	return r;
}

int channel_write(struct channel *ch, const void *p, size_t n)
{
	struct iovec iov = { .iov_base = (void *)p, .iov_len = n };

	return channel_writev(ch, &iov, 1);
}

bool channel_authenticated(const struct channel *ch)
{
	return ch->tls;
}

int channel_fd(const struct channel *ch)
{
	return ch->fd;
}

bool channel_hung_up(const struct channel *ch)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0 &&
	       p.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

void channel_abandon(struct channel *ch)
{
	if (!ch)
		return;
	tls_destroy(ch->tls);
	close(ch->fd);
	free(ch);
}

void channel_close(struct channel *ch)
{
	if (!ch)
		return;
	if (ch->tls) {
		tls_bye(ch->tls);
		tls_destroy(ch->tls);
	}
	close(ch->fd);
	free(ch);
}
