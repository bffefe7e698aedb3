/* move_peer.c - the other end of `stint move`, see move_peer.h */
#include "cmd/move_peer.h"

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

/* Takes fd, also on failure. */
static int open_plain(int fd, bool anybody, struct channel **ret,
		      struct error *err)
{
	struct sockaddr_storage ss = { 0 };
	socklen_t n = sizeof(ss);

	if (getpeername(fd, (struct sockaddr *)&ss, &n) < 0 ||
	    (!anybody && !is_loopback((struct sockaddr *)&ss))) {
		close(fd);
		return error_set(err, -EACCES,
				 "no --key, and the peer is on another host "
				 "(--plaintext allows it)");
	}
	*ret = channel_from_fd(fd);
	return 0;
}

typedef int (*open_tls_fn)(int fd, const struct tls_key *key, usec_t timeout,
			   struct channel **ret, struct error *err);

/* Takes fd, also on failure. */
static int open_channel(const struct move_peer *peer, const struct tls_key *key,
			int fd, open_tls_fn open_tls, struct channel **ret,
			struct error *err)
{
	int r;

	if (!peer->key_file)
		return open_plain(fd, peer->plaintext, ret, err);
	r = open_tls(fd, key, HANDSHAKE, ret, err);
	if (r < 0)
		close(fd);
	return r;
}

/* "HOST:PORT", "[V6]:PORT" or ":PORT"; *ret is for freeaddrinfo(). */
static int resolve(const char *addr, int flags, struct addrinfo **ret,
		   struct error *err)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = flags };
	char *host = xstrdup(addr), *port = strrchr(host, ':'), *name = host;
	int64_t n;
	int r = -EINVAL;

	if (port)
		*port++ = '\0';
	if (!port || parse_int(port, 0, UINT16_MAX, "port", &n, NULL) < 0) {
		error_set(err, r,
			  "'%s' is no address: write ADDR:PORT, the port from "
			  "0 to 65535",
			  addr);
		goto out;
	}
	if (*name == '[' && name[strlen(name) - 1] == ']') {
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

static int open_socket(const char *addr, bool listening, struct error *err)
{
	struct addrinfo *ai;
	int fd, one = 1,
		r = resolve(addr, listening ? AI_PASSIVE : 0, &ai, err);

	if (r < 0)
		return r;
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	move_prepare_socket(fd);
	if (listening && fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 ||
	    (listening ? bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 ||
				 listen(fd, 1) < 0
		       : connect(fd, ai->ai_addr, ai->ai_addrlen) < 0)) {
		r = error_sys(err, -errno, "%s", addr);
		if (r == -ECONNREFUSED)
			error_set(err, r,
				  "nobody listens at %s: start `stint move "
				  "receive --listen=%s` there first",
				  addr, addr);
		io_close(&fd);
	} else {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		r = fd;
	}
	freeaddrinfo(ai);
	return r;
}

int move_peer_connect(const struct move_peer *peer, struct channel **ret,
		      struct error *err)
{
	struct tls_key key = { 0 };
	int r = peer->key_file ? tls_key_read(peer->key_file, &key, err) : 0;

	if (r == 0)
		r = open_socket(peer->addr, false, err);
	if (r >= 0)
		r = open_channel(peer, &key, r, channel_tls_client, ret, err);
	explicit_bzero(&key, sizeof(key));
	return r;
}

static int accept_one(const char *addr, struct error *err)
{
	struct sockaddr_storage ss;
	socklen_t n = sizeof(ss);
	char host[64], port[16];
	int fd = open_socket(addr, true, err), conn, one = 1;

	if (fd < 0)
		return fd;
	getsockname(fd, (struct sockaddr *)&ss, &n);
	getnameinfo((struct sockaddr *)&ss, n, host, sizeof(host), port,
		    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	printf("listening %s:%s\n", host, port);
	fflush(stdout);
	do
		conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	while (conn < 0 && errno == EINTR);
	if (conn < 0)
		conn = error_sys(err, -errno, "accept");
	else
		setsockopt(conn, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(fd);
	return conn;
}

int move_peer_accept(const struct move_peer *peer, struct channel **ret,
		     struct error *err)
{
	struct tls_key key = { 0 };
	int r = peer->key_file ? tls_key_read(peer->key_file, &key, err) : 0;

	if (r == 0)
		r = accept_one(peer->addr, err);
	if (r >= 0)
		r = open_channel(peer, &key, r, channel_tls_server, ret, err);
	explicit_bzero(&key, sizeof(key));
	return r;
}
