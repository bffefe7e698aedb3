/* move_peer.c - the other end of `stint move`, see move_peer.h */
#include "cmd/move/move_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cluster/conn/conn.h"
#include "cluster/conn/loop.h"
#include "core/io.h"
#include "core/tls.h"
#include "core/units.h"
#include "core/xalloc.h"

#define HANDSHAKE (10 * USEC_PER_SEC)

static bool is_loopback(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)sa)
				     ->sin_addr.s_addr) >>
			       24 ==
		       IN_LOOPBACKNET;
	return sa->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(
		       &((const struct sockaddr_in6 *)sa)->sin6_addr);
}

/* Without a key: may it be on the other end? */
static int check_plain(const struct move_peer *peer, int fd, struct error *err)
{
	struct sockaddr_storage ss = { 0 };
	socklen_t n = sizeof(ss);

	if (getpeername(fd, (struct sockaddr *)&ss, &n) < 0)
		return error_sys(err, -errno, "connection");
	if (!peer->plaintext && !is_loopback((struct sockaddr *)&ss))
		return error_set(err, -EACCES,
				 "no --key, and the peer is on another host "
				 "(--plaintext allows it)");
	return 0;
}

/* An address as /proc/net/tcp and tcp6 write it. */
static void kernel_text(const struct sockaddr_storage *ss, char ret[64])
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)ss;
	const struct sockaddr_in *four = (const struct sockaddr_in *)ss;
	const uint32_t *w = six->sin6_addr.s6_addr32;

	if (ss->ss_family == AF_INET)
		snprintf(ret, 64, "%08X:%04X", four->sin_addr.s_addr,
			 ntohs(four->sin_port));
	else
		snprintf(ret, 64, "%08X%08X%08X%08X:%04X", w[0], w[1], w[2],
			 w[3], ntohs(six->sin6_port));
}

/* Whose socket of this host is connected to ours?  -ENOENT: it is gone. */
static int peer_uid(int fd, unsigned *ret)
{
	struct sockaddr_storage theirs = { 0 }, ours = { 0 };
	char local[64], remote[64], line[512], from[64], to[64];
	socklen_t n = sizeof(theirs), m = sizeof(ours);
	unsigned uid;
	int r = -ENOENT;
	FILE *f;

	if (getpeername(fd, (struct sockaddr *)&theirs, &n) < 0 ||
	    getsockname(fd, (struct sockaddr *)&ours, &m) < 0)
		return -errno;
	kernel_text(&theirs, local);
	kernel_text(&ours, remote);
	f = fopen(ours.ss_family == AF_INET ? "/proc/net/tcp"
					    : "/proc/net/tcp6",
		  "re");
	if (!f)
		return -errno;
	while (r && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %63s %63s %*s %*s %*s %*s %u", from, to,
			   &uid) == 3 &&
		    !strcmp(from, local) && !strcmp(to, remote)) {
			*ret = uid;
			r = 0;
		}
	fclose(f);
	return r;
}

/*
 * A received process may run as any user, even root: do not accept one from any
 * local user.
 */
static int check_user(const struct move_peer *peer, int fd, struct error *err)
{
	unsigned uid = 0;
	int r = check_plain(peer, fd, err);

	if (r < 0 || peer->plaintext)
		return r;
	if (peer_uid(fd, &uid) < 0)
		return error_set(err, -EACCES,
				 "its owner cannot be determined");
	if (uid && uid != geteuid())
		return error_set(err, -EACCES,
				 "no --key, and it is user %u's, not ours or "
				 "root's",
				 uid);
	return 0;
}

/* "HOST:PORT", "[V6]:PORT" or ":PORT"; *ret is for freeaddrinfo(). */
static int resolve(const char *addr, int flags, struct addrinfo **ret,
		   struct error *err)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = flags };
	char *host = xstrdup(addr), *port = strrchr(host, ':'), *name = host;
	int least = flags & AI_PASSIVE ? 0 : 1; /* 0: a free one */
	int64_t n;
	int r = -EINVAL;

	if (port)
		*port++ = '\0';
	if (!port || parse_int(port, least, UINT16_MAX, "port", &n, NULL) < 0 ||
	    (*name == '[' && name[strlen(name) - 1] != ']')) {
		error_set(
			err, r,
			"'%s' is not an address: write ADDR:PORT, the port from "
			"%d to 65535",
			addr, least);
		goto out;
	}
	if (*name == '[') {
		name[strlen(name) - 1] = '\0';
		name++;
	}
	r = getaddrinfo(*name ? name : NULL, port, &hints, ret);
	if (r)
		r = error_set(err, -EHOSTUNREACH, "%s: %s", addr,
			      gai_strerror(r));
out:
	free(host);
	return r;
}

/* Listening there, or connected; or -errno. */
static int try_address(const struct addrinfo *ai, bool listening)
{
	fd_auto fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1, done;

	if (fd < 0)
		return -errno;
	move_prepare_socket(fd);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (listening)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (listening ? bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 ||
				listen(fd, SOMAXCONN) < 0
		      : connect(fd, ai->ai_addr, ai->ai_addrlen) < 0)
		return -errno;
	done = fd;
	fd = -1;
	return done;
}

/* A name may have several addresses, of which one will do. */
static int open_socket(const char *addr, bool listening, struct error *err)
{
	struct addrinfo *all;
	int r = resolve(addr, listening ? AI_PASSIVE : 0, &all, err), fd = -1;

	if (r < 0)
		return r;
	for (const struct addrinfo *ai = all; ai && fd < 0; ai = ai->ai_next)
		fd = try_address(ai, listening);
	freeaddrinfo(all);
	if (fd == -ECONNREFUSED)
		return error_set(err, fd,
				 "nobody listens at %s: start `stint move "
				 "receive --listen=%s` there first",
				 addr, addr);
	return fd < 0 ? error_sys(err, fd, "%s", addr) : fd;
}

/* Takes fd, also on failure. */
static int open_channel(const struct move_peer *peer, const struct tls_key *key,
			int fd, struct channel **ret, struct error *err)
{
	int r;

	if (peer->key_file) {
		r = channel_tls_client(fd, key, HANDSHAKE, ret, err);
	} else {
		r = check_plain(peer, fd, err);
		if (!r)
			*ret = channel_from_fd(fd);
	}
	if (r < 0)
		close(fd);
	return r;
}

static int read_key(const struct move_peer *peer, struct tls_key *ret,
		    struct error *err)
{
	return peer->key_file ? tls_key_read(peer->key_file, ret, err) : 0;
}

int move_peer_connect(const struct move_peer *peer, struct channel **ret,
		      struct error *err)
{
	struct tls_key key = { 0 };
	int r = read_key(peer, &key, err);

	if (!r)
		r = open_socket(peer->addr, false, err);
	if (r >= 0)
		r = open_channel(peer, &key, r, ret, err);
	explicit_bzero(&key, sizeof(key));
	return r;
}

/* ---- the side that is connected to ---- */

/* Waiting for the source, among others who may come. */
struct awaiting {
	const struct move_peer *peer;
	struct tls_key key;
	sd_event *event;
	struct channel *ch; /* it has come */
	int code;	    /* or nobody may any more */
	struct error *err;
};

static void tell_stranger(const struct sockaddr_storage *from,
			  const struct error *why)
{
	char host[64] = "somebody";

	getnameinfo((const struct sockaddr *)from, sizeof(*from), host,
		    sizeof(host), NULL, 0, NI_NUMERICHOST);
	fprintf(stderr, "stint move: %s is not the source: %s; still waiting\n",
		host, why->text);
}

static void on_stranger(void *ctx, const struct sockaddr_storage *from,
			const struct error *why)
{
	struct awaiting *w = ctx;

	if (!w->peer->once) {
		tell_stranger(from, why);
		return;
	}
	*w->err = *why;
	w->code = -EACCES;
	sd_event_exit(w->event, 0);
}

static int lookup(void *ctx, const char *identity,
		  uint8_t secret[TLS_SECRET_SIZE])
{
	const struct awaiting *w = ctx;

	if (strcmp(identity, w->key.identity))
		return -ENOENT;
	memcpy(secret, w->key.secret, TLS_SECRET_SIZE);
	return 0;
}

static void on_source(struct conn *c, void *ctx)
{
	struct awaiting *w = ctx;
	struct tls *tls;
	int fd;

	tls = conn_take(c, &fd);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	w->ch = channel_from_tls(fd, tls);
	sd_event_exit(w->event, 0);
}

static const struct conn_ops source_ops = { .ready = on_source };

/*
 * Takes fd. Peers that are not sources do not keep a source from connecting
 * meanwhile.
 */
static int await_tls(struct awaiting *w, int fd)
{
	const struct conn_server_conf conf = {
		.ops = &source_ops,
		.ctx = w,
		.lookup = lookup,
		.stranger = on_stranger,
		.max_strangers = 16,
		.max_conns = 32,
		.handshake_timeout = HANDSHAKE,
	};
	struct conn_server *server = NULL;
	int r = loop_create(&w->event, w->err);

	if (!r)
		r = conn_server_create(w->event, fd, &conf, &server, w->err);
	if (r < 0)
		close(fd);
	else if ((r = sd_event_loop(w->event)) < 0)
		error_sys(w->err, r, "event loop");
	conn_server_destroy(server);
	sd_event_unref(w->event);
	return r < 0 ? r : w->code;
}

/* Takes fd. */
static int await_plain(struct awaiting *w, int fd)
{
	int conn, r = 0;

	while (!w->ch && !r) {
		struct sockaddr_storage from;
		socklen_t n = sizeof(from);
		struct error why;

		conn = accept4(fd, (struct sockaddr *)&from, &n, SOCK_CLOEXEC);
		if (conn < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (conn < 0) {
			r = error_sys(w->err, -errno, "accept");
			break;
		}
		address_tune(conn);
		r = check_user(w->peer, conn, &why);
		if (!r)
			r = move_peek(conn, HANDSHAKE, &why);
		if (!r) {
			w->ch = channel_from_fd(conn);
			break;
		}
		if (w->peer->once)
			*w->err = why;
		else
			tell_stranger(&from, &why), r = 0;
		close(conn);
	}
	close(fd);
	return r;
}

/* Who may come, for people. */
static void tell_terms(const struct move_peer *peer, const struct tls_key *key)
{
	if (peer->key_file)
		fprintf(stderr,
			"stint move: a process may come from who has the key "
			"of %s; encrypted\n",
			key->identity);
	else if (peer->plaintext)
		fputs("stint move: a process may come from anyone, and run as "
		      "any user this one may become; not encrypted\n",
		      stderr);
	else
		fputs("stint move: a process may come from this host, its root "
		      "or this user; no key\n",
		      stderr);
}

static int listen_there(const struct move_peer *peer, const struct tls_key *key,
			struct error *err)
{
	struct sockaddr_storage ss;
	socklen_t n = sizeof(ss);
	char host[64], port[16];
	int fd = open_socket(peer->addr, true, err);

	if (fd < 0)
		return fd;
	getsockname(fd, (struct sockaddr *)&ss, &n);
	if (!peer->key_file && !peer->plaintext &&
	    !is_loopback((struct sockaddr *)&ss)) {
		close(fd);
		return error_set(
			err, -EINVAL,
			"other hosts reach %s: give both ends a "
			"--key=FILE, or --plaintext, with which anyone "
			"may have a program run here",
			peer->addr);
	}
	getnameinfo((struct sockaddr *)&ss, n, host, sizeof(host), port,
		    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	printf("listening %s:%s\n", host, port);
	fflush(stdout);
	tell_terms(peer, key);
	return fd;
}

int move_peer_accept(const struct move_peer *peer, struct channel **ret,
		     struct error *err)
{
	struct awaiting w = { .peer = peer, .err = err };
	int r = read_key(peer, &w.key, err);

	if (!r)
		r = listen_there(peer, &w.key, err);
	if (r >= 0)
		r = peer->key_file ? await_tls(&w, r) : await_plain(&w, r);
	explicit_bzero(&w.key, sizeof(w.key));
	if (!r)
		*ret = w.ch;
	return r;
}
