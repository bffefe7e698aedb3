/* address.c - stream sockets of the control plane, see address.h */
#include "cluster/conn/address.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int parse_unix(const char *path, struct address *ret, struct error *err)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	size_t n = strlen(path);

	if (!n || n >= sizeof(sun.sun_path))
		return error_set(
			err, -EINVAL,
			"unix:%s: the path of a socket must have 1 to %zu bytes",
			path, sizeof(sun.sun_path) - 1);
	memcpy(sun.sun_path, path, n + 1);
	memcpy(&ret->sa, &sun, sizeof(sun));
	ret->len = offsetof(struct sockaddr_un, sun_path) + n + 1;
	return 0;
}

#define HOST_MOST 256

/* The port is text's; host without the brackets of "[::1]". */
static int split_address(const char *text, char host[HOST_MOST],
			 const char **port, struct error *err)
{
	const char *colon = strrchr(text, ':'), *begin = text, *end = colon;

	if (colon && *text == '[' && colon > text && colon[-1] == ']') {
		begin++;
		end--;
	}
	if (!colon || end == begin || (size_t)(end - begin) >= HOST_MOST ||
	    !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
	    strtoul(colon + 1, NULL, 10) > UINT16_MAX)
		return error_set(err, -EINVAL,
				 "'%s' is not an address: write HOST:PORT or "
				 "unix:PATH",
				 text);
	memcpy(host, begin, (size_t)(end - begin));
	host[end - begin] = 0;
	*port = colon + 1;
	return 0;
}

int address_check(const char *text, struct error *err)
{
	struct address a;
	const char *port;
	char host[HOST_MOST];

	if (!strncmp(text, "unix:", 5))
		return parse_unix(text + 5, &a, err);
	return split_address(text, host, &port, err);
}

int address_parse(const char *text, struct address *ret, struct error *err)
{
	const char *port;
	char host[HOST_MOST];
	int r;

	if (!strncmp(text, "unix:", 5))
		return parse_unix(text + 5, ret, err);
	r = split_address(text, host, &port, err);
	return r < 0 ? r : address_resolve(text, host, port, ret, err);
}

/* Remove the path of a Unix socket on which no process listens. */
static void remove_stale(const struct address *a)
{
	const struct sockaddr_un *sun = (const struct sockaddr_un *)&a->sa;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (fd < 0)
		return;
	if (lstat(sun->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
	    connect(fd, (const struct sockaddr *)&a->sa, a->len) < 0 &&
	    errno == ECONNREFUSED)
		unlink(sun->sun_path);
	close(fd);
}

int address_listen(const struct address *a, struct error *err)
{
	int one = 1, r;
	int fd = socket(a->sa.ss_family,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return error_sys(err, -errno, "socket");
	if (a->sa.ss_family == AF_UNIX)
		remove_stale(a);
	else if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
		goto fail;
	if (bind(fd, (const struct sockaddr *)&a->sa, a->len) < 0)
		goto fail;
	if (a->sa.ss_family == AF_UNIX &&
	    chmod(((const struct sockaddr_un *)&a->sa)->sun_path, 0666) < 0)
		goto fail;
	if (listen(fd, SOMAXCONN) < 0)
		goto fail;
	return fd;
fail:
	r = -errno;
	close(fd);
	return error_sys(err, r, "cannot listen there");
}

void address_tune(int fd)
{
	int one = 1, idle = 8, every = 4, tries = 3;
	unsigned limit_ms = 20000;

	/* A Unix socket takes none of them. */
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof(every));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof(tries));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms,
		   sizeof(limit_ms));
}

int address_failed(int r, struct error *err)
{
	if (r == -ECONNREFUSED || r == -ENOENT)
		return error_set(err, r,
				 "nobody listens there; is it running?");
	if (r == -EAGAIN)
		return error_set(err, r,
				 "more try to connect there than it can take: "
				 "try again");
	return error_sys(err, r, "cannot connect");
}

/*
 * A full queue of a Unix socket refuses who does not block, at once, and lets
 * those who do in one after the other: a flood of them would keep us out.  So
 * we block, but not for longer than an agent may leave its host's owner waiting.
 */
static int connect_in_turn(int fd, const struct address *a)
{
	const struct timeval most = { .tv_usec = 500000 };
	int r;

	if (a->sa.ss_family != AF_UNIX)
		return connect(fd, (const struct sockaddr *)&a->sa, a->len);
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most)) < 0 ||
	    fcntl(fd, F_SETFL, 0) < 0)
		return -1;
	do
		r = connect(fd, (const struct sockaddr *)&a->sa, a->len);
	while (r < 0 && errno == EINTR);
	return r < 0 ? r : fcntl(fd, F_SETFL, O_NONBLOCK);
}

int address_connect(const struct address *a, struct error *err)
{
	int r;
	int fd = socket(a->sa.ss_family,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return error_sys(err, -errno, "socket");
	address_tune(fd);
	r = connect_in_turn(fd, a);
	if (r < 0 && errno != EINPROGRESS) {
		r = -errno;
		close(fd);
		return address_failed(r, err);
	}
	return fd;
}
