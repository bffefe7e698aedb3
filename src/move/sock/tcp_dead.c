/*
 * tcp_dead.c - TCP sockets whose connection is over
 *
 * Such a socket has no peer any more.  So a connection is made over loopback and ended
 * the same way: the socket behaves alike, and only its addresses differ.
 */
#include "move/sock/tcp_dead.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/io.h"
#include "move/sock/options.h"
#include "move/sock/tcp_compat.h"

#define WAIT_MS 1000

/* The loopback address of that family, any port. */
static socklen_t loopback(int family, struct sockaddr_storage *ss)
{
	struct sockaddr_in *in = (void *)ss;
	struct sockaddr_in6 *in6 = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	ss->ss_family = (sa_family_t)family;
	if (family == AF_INET) {
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return sizeof(*in);
	}
	in6->sin6_addr = in6addr_loopback;
	return sizeof(*in6);
}

/*
 * Options are set afterwards, as some would keep this connection from being
 * made. The exception is IPV6_V6ONLY, which cannot be set later: the kernel
 * sets it when bind() is given a certain address, and an accepted socket
 * inherits it.
 */
static int make_pair(const Fds__Socket *m, int *near, int *far)
{
	fd_auto listener = socket(m->family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_storage ss;
	socklen_t len = loopback(m->family, &ss);
	int r;

	if (listener < 0 || bind(listener, (void *)&ss, len) < 0 ||
	    listen(listener, 1) < 0 ||
	    getsockname(listener, (void *)&ss, &len) < 0)
		return -errno;
	*near = socket(m->family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*near < 0)
		return -errno;
	r = sockopt_set_unbound(*near, m, NULL);
	if (r < 0)
		return r;
	if (connect(*near, (void *)&ss, len) < 0)
		return -errno;
	*far = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	return *far < 0 ? -errno : 0;
}

static int end_pair(int near, int *far, const Fds__Tcp *t)
{
	const struct linger now = { .l_onoff = 1, .l_linger = 0 };
	struct pollfd p = { .fd = near, .events = POLLRDHUP };

	if (t->failed)
		(void)setsockopt(*far, SOL_SOCKET, SO_LINGER, &now,
				 sizeof(now));
	else if (shutdown(near, SHUT_WR) < 0)
		return -errno;
	io_close(far);
	return poll(&p, 1, WAIT_MS) == 1 ? 0 : -ETIMEDOUT;
}

int tcpdead_make(int fd, const Fds__Socket *m, struct error *err)
{
	const struct timeval limit = { .tv_sec = WAIT_MS / 1000 };
	const Fds__Tcp *t = m->inet->tcp;
	fd_auto near = -1;
	fd_auto far = -1;
	int r = make_pair(m, &near, &far);

	if (r < 0)
		return error_sys(err, r,
				 "ended TCP connection (is loopback up?)");
	r = sockopt_set_all(near, m, err);
	if (!r)
		r = sockopt_set_buffers(near, m, err);
	if (r < 0)
		return r;
	(void)setsockopt(far, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	r = io_write_full(far, t->received.data, t->received.len);
	if (!r)
		r = end_pair(near, &far, t);
	if (!r && dup3(near, fd, O_CLOEXEC) < 0)
		r = -errno;
	return r < 0 ? error_sys(err, r, "ended TCP connection") : 0;
}
