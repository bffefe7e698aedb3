/* frame.c - the messages of a move, on the wire; see frame.h */
#include "move/wire/frame.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxh_x86dispatch.h>

#include "core/clock.h"
#include "core/xalloc.h"
#include "move/move.h"

#define FRAME_MAGIC 0x544e5453u /* "STNT" */
#define HEAR_OUT    (5 * USEC_PER_SEC)

struct frame_head {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint64_t size;
	uint64_t hash;
};
_Static_assert(sizeof(struct frame_head) == FRAME_HEAD_SIZE, "no holes");

/* Highest address of a page in user space, x86-64 with five levels. */
#define ADDR_MAX (UINT64_C(1) << 56)

static const struct {
	const char *name;
	size_t min, max;
} frame_types[FRAME_TYPES] = {
	[FRAME_HELLO] = { "HELLO", 1, 16u << 20 },
	[FRAME_MAP] = { "MAP", 0, 64u << 20 },
	[FRAME_UNMAP] = { "UNMAP", 16, 16u << 20 },
	[FRAME_ZAP] = { "ZAP", 16, 64u << 20 },
	[FRAME_PAGES] = { "PAGES", 8 + 16 + FRAME_PAGE,
			  8 + 16 * FRAME_PAGES_RUNS + FRAME_PAGES_DATA },
	[FRAME_SYNC] = { "SYNC", 8, 8 },
	[FRAME_DONE] = { "DONE", 8, 8 },
	[FRAME_HURRY] = { "HURRY", 8, 8 },
	[FRAME_TREE] = { "TREE", 2, 16u << 20 },
	[FRAME_LACK] = { "LACK", 16, 16 + FRAME_TEXT },
	[FRAME_PATHS] = { "PATHS", 1, 16u << 20 },
	[FRAME_PUNCH] = { "PUNCH", 16, 16u << 20 },
	[FRAME_LOCKS] = { "LOCKS", 8, 8 },
	[FRAME_STATE] = { "STATE", 1, 256u << 20 },
	[FRAME_FDS] = { "FDS", 0, 1u << 30 },
	[FRAME_SAVED] = { "SAVED", 0, 256u << 20 },
	[FRAME_READY] = { "READY", 8, 8 },
	[FRAME_COMMIT] = { "COMMIT", 8, 8 },
	[FRAME_RUNNING] = { "RUNNING", 8, 8 },
	[FRAME_ABORT] = { "ABORT", 0, FRAME_TEXT },
	[FRAME_BEAT] = { "BEAT", 0, 0 },
	[FRAME_QUEUE] = { "QUEUE", 1, FRAME_QUEUE_DATA },
};

const char *frame_name(enum frame_type type)
{
	return type > 0 && type < FRAME_TYPES ? frame_types[type].name : "?";
}

static uint64_t hash_pieces(const struct iovec *iov, int n)
{
	XXH3_state_t state;

	if (n == 1)
		return XXH3_64bits(iov[0].iov_base, iov[0].iov_len);
	XXH3_64bits_reset(&state);
	for (int i = 0; i < n; i++)
		if (iov[i].iov_len)
			XXH3_64bits_update(&state, iov[i].iov_base,
					   iov[i].iov_len);
	return XXH3_64bits_digest(&state);
}

/* Best effort: not every host offers either. */
void move_prepare_socket(int fd)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) < 0)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

/* Best effort: a channel need not be TCP. */
void frame_set_link(struct channel *ch)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 3 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 2 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 4 },
		/* a listener of the cluster's has one, and hands it down */
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, 0 },
	};
	int fd = channel_fd(ch);

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		(void)setsockopt(fd, options[i].level, options[i].name,
				 &options[i].value, sizeof(int));
	move_prepare_socket(fd);
	frame_set_patience(ch, FRAME_PATIENCE * USEC_PER_SEC);
}

void frame_set_patience(struct channel *ch, usec_t limit)
{
	struct timeval tv = { .tv_sec = limit / USEC_PER_SEC,
			      .tv_usec = limit % USEC_PER_SEC };
	int fd = channel_fd(ch);

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

/* A limit of the socket shows as EAGAIN, which means another thing to us. */
static int link_error(int r)
{
	return r == -EAGAIN ? -ETIMEDOUT : r;
}

int frame_send(struct channel *ch, enum frame_type type,
	       const struct iovec *iov, int n, struct error *err)
{
	struct frame_head head = {
		.magic = FRAME_MAGIC,
		.version = FRAME_VERSION,
		.type = (uint16_t)type,
		.hash = channel_authenticated(ch) ? 0 : hash_pieces(iov, n),
	};
	struct iovec all[9] = { { &head, sizeof(head) } };
	int r;

	assert(n <= 8);
	for (int i = 0; i < n; i++) {
		all[i + 1] = iov[i];
		head.size += iov[i].iov_len;
	}
	if (head.size > frame_types[type].max)
		return error_set(err, -EFBIG, "%s of %zu bytes is too long",
				 frame_name(type), (size_t)head.size);
	r = link_error(channel_writev(ch, all, n + 1));
	if (r < 0)
		return error_sys(err, r, "sending %s", frame_name(type));
	return 0;
}

int frame_send_u64(struct channel *ch, enum frame_type type, uint64_t x,
		   struct error *err)
{
	struct iovec iov = { &x, sizeof(x) };

	return frame_send(ch, type, &iov, 1, err);
}

void frame_send_abort(struct channel *ch, const char *why)
{
	struct iovec iov = { (void *)(uintptr_t)why, strnlen(why, FRAME_TEXT) };
	int r = frame_send(ch, FRAME_ABORT, &iov, 1, NULL);

	(void)r; /* a peer that is gone knows already */
}

void frame_hear_out(struct channel *ch)
{
	struct pollfd p = { .fd = channel_fd(ch), .events = POLLIN };
	usec_t end = clock_usec(CLOCK_MONOTONIC) + HEAR_OUT, now;
	static char rest[65536];
	ssize_t n = 1;

	(void)shutdown(p.fd, SHUT_WR);
	while (n > 0 && (now = clock_usec(CLOCK_MONOTONIC)) < end &&
	       poll(&p, 1, (int)((end - now) / 1000) + 1) > 0)
		n = read(p.fd, rest, sizeof(rest));
}

int frame_parse_head(const unsigned char p[FRAME_HEAD_SIZE],
		     enum frame_type *ret_type, size_t *ret_size,
		     uint64_t *ret_hash, struct error *err)
{
	struct frame_head h;

	memcpy(&h, p, sizeof(h));
	if (h.magic != FRAME_MAGIC)
		return error_set(err, -EPROTO,
				 "the peer does not speak the move protocol");
	if (h.version != FRAME_VERSION)
		return error_set(
			err, -EPROTO,
			"the peer speaks version %u of the move protocol, this is %u; install the same stint on both hosts",
			h.version, FRAME_VERSION);
	if (!h.type || h.type >= FRAME_TYPES)
		return error_set(err, -EPROTO, "frame of unknown type %u",
				 h.type);
	if (h.size < frame_types[h.type].min ||
	    h.size > frame_types[h.type].max)
		return error_set(err, -EPROTO, "%s of %llu bytes",
				 frame_name(h.type),
				 (unsigned long long)h.size);
	*ret_type = h.type;
	*ret_size = h.size;
	*ret_hash = h.hash;
	return 0;
}

static bool range_ok(uint64_t start, uint64_t end)
{
	return start < end && end <= ADDR_MAX && start % FRAME_PAGE == 0 &&
	       end % FRAME_PAGE == 0;
}

static bool ranges_ok(const unsigned char *p, size_t n)
{
	struct frame_range r;

	if (n % sizeof(r))
		return false;
	for (; n; n -= sizeof(r), p += sizeof(r)) {
		memcpy(&r, p, sizeof(r));
		if (!range_ok(r.start, r.end))
			return false;
	}
	return true;
}

static bool is_zero(const unsigned char *p, size_t n)
{
	return !*p && !memcmp(p, p + 1, n - 1);
}

static bool pages_ok(const unsigned char *p, size_t n)
{
	struct frame_pages head;
	uint64_t pages = 0;

	memcpy(&head, p, sizeof(head));
	p += sizeof(head);
	n -= sizeof(head);
	if (!head.nr_runs || head.nr_runs > FRAME_PAGES_RUNS ||
	    head.nr_runs * sizeof(struct frame_run) > n)
		return false;
	for (uint64_t i = 0; i < head.nr_runs; i++) {
		struct frame_run run;

		memcpy(&run, p + i * sizeof(run), sizeof(run));
		if (!run.nr_pages ||
		    run.nr_pages > FRAME_PAGES_DATA / FRAME_PAGE ||
		    !range_ok(run.start, run.start + run.nr_pages * FRAME_PAGE))
			return false;
		pages += run.nr_pages;
	}
	n -= head.nr_runs * sizeof(struct frame_run);
	return pages * FRAME_PAGE == n;
}

int frame_check(enum frame_type type, const unsigned char *p, size_t n,
		struct error *err)
{
	bool ok = type > 0 && type < FRAME_TYPES &&
		  n >= frame_types[type].min && n <= frame_types[type].max;

	if (ok &&
	    (type == FRAME_UNMAP || type == FRAME_ZAP || type == FRAME_PUNCH))
		ok = ranges_ok(p, n);
	if (ok && type == FRAME_LACK)
		ok = is_zero(p, sizeof(struct frame_range)) ||
		     ranges_ok(p, sizeof(struct frame_range));
	if (ok && type == FRAME_PAGES)
		ok = pages_ok(p, n);
	if (ok && type == FRAME_TREE)
		ok = *p == '/' && memchr(p, '\0', n);
	return ok ? 0
		  : error_set(err, -EPROTO, "malformed %s frame",
			      frame_name(type));
}

static int recv_one(struct channel *ch, struct frame *f, struct error *err)
{
	unsigned char head[FRAME_HEAD_SIZE];
	enum frame_type type;
	uint64_t hash;
	size_t size;
	int r = link_error(channel_read(ch, head, sizeof(head)));

	if (r < 0)
		return error_sys(err, r, "the connection to the peer");
	r = frame_parse_head(head, &type, &size, &hash, err);
	if (r < 0)
		return r;
	if (f->room < size + 1) {
		f->room = size + 1;
		f->data = xrealloc(f->data, f->room);
	}
	r = link_error(channel_read(ch, f->data, size));
	if (r < 0)
		return error_sys(err, r, "receiving %s", frame_name(type));
	if (!channel_authenticated(ch) && XXH3_64bits(f->data, size) != hash)
		return error_set(err, -EPROTO, "%s was damaged on the way",
				 frame_name(type));
	f->data[size] = '\0';
	f->type = type;
	f->size = size;
	r = frame_check(type, f->data, size, err);
	if (!r && type == FRAME_ABORT)
		return error_set(err, -ECANCELED, "%s", (char *)f->data);
	return r;
}

int frame_recv(struct channel *ch, struct frame *f, struct error *err)
{
	usec_t most =
		f->beats.most ? f->beats.most : FRAME_PATIENCE * USEC_PER_SEC;
	usec_t end = clock_usec(CLOCK_MONOTONIC) + most;
	int r;

	while ((r = recv_one(ch, f, err)) == 0 && f->type == FRAME_BEAT) {
		if (clock_usec(CLOCK_MONOTONIC) > end)
			return error_sys(err, -ETIMEDOUT,
					 "the peer gets on too slowly");
		if (f->beats.told)
			f->beats.told(f->beats.arg);
	}
	return r;
}

int frame_expect(struct channel *ch, struct frame *f, enum frame_type type,
		 struct error *err)
{
	int r = frame_recv(ch, f, err);

	if (!r && f->type != type)
		r = error_set(err, -EPROTO, "the peer sent %s instead of %s",
			      frame_name(f->type), frame_name(type));
	return r;
}

int frame_expect_u64(struct channel *ch, struct frame *f, enum frame_type type,
		     uint64_t x, struct error *err)
{
	int r = frame_expect(ch, f, type, err);

	if (!r && frame_u64(f) != x)
		r = error_set(err, -EPROTO, "the peer sent %s(%llu), not %llu",
			      frame_name(type),
			      (unsigned long long)frame_u64(f),
			      (unsigned long long)x);
	return r;
}

uint64_t frame_u64(const struct frame *f)
{
	uint64_t x = 0;

	if (f->size == sizeof(x))
		memcpy(&x, f->data, sizeof(x));
	return x;
}

void frame_clear(struct frame *f)
{
	free(f->data);
	*f = (struct frame){ 0 };
}

int move_peek(int fd, usec_t patience, struct error *err)
{
	const struct timeval limit = {
		patience / USEC_PER_SEC,
		patience % USEC_PER_SEC,
	};
	const struct timeval forever = { 0, 0 };
	unsigned char head[FRAME_HEAD_SIZE];
	enum frame_type type;
	uint64_t hash;
	size_t size;
	ssize_t n;
	int r;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	n = recv(fd, head, sizeof(head), MSG_PEEK | MSG_WAITALL);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof(forever));
	if (n != sizeof(head))
		return error_set(err, -EPROTO,
				 "the record does not say what it is for");
	r = frame_parse_head(head, &type, &size, &hash, err);
	if (!r && type != FRAME_HELLO)
		r = error_set(err, -EPROTO, "it does not begin with HELLO");
	return r;
}
