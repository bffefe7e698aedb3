/*
 * udpmake.c - making UDP sockets again
 */
#include "move/udpmake.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "core/io.h"
#include "move/sockopt.h"

static void set_loopback(struct sockaddr_in6 *in6, bool mapped)
{
	const uint8_t v4[16] = {
		[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1
	};

	if (mapped)
		memcpy(&in6->sin6_addr, v4, sizeof(v4));
	else
		in6->sin6_addr = in6addr_loopback;
}

/* Where a datagram must go to reach the socket: an address of this host. */
static void aim(struct sockaddr_storage *to, const struct sockaddr_in6 *from)
{
	struct sockaddr_in *in = (void *)to;
	struct sockaddr_in6 *in6 = (void *)to;

	if (to->ss_family == AF_INET) {
		if (in->sin_addr.s_addr == htonl(INADDR_ANY))
			in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	} else if (IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr)) {
		set_loopback(in6, IN6_IS_ADDR_V4MAPPED(&from->sin6_addr));
	}
}

/* Any address may be a sender's on a transparent socket (CAP_NET_ADMIN). */
static void resend(const Fds__Socket *m, const Fds__Message *msg)
{
	fd_auto fd = socket(m->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const struct sockaddr_in6 *from = (void *)msg->from.data;
	struct sockaddr_storage to = { 0 };

	if (fd < 0 || !msg->from.len)
		return;
	sockopt_set_int(fd, SOL_IP, IP_TRANSPARENT, 1);
	if (m->family == AF_INET6)
		sockopt_set_int(fd, SOL_IPV6, IPV6_TRANSPARENT, 1);
	sockopt_set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	memcpy(&to, m->inet->local.data, m->inet->local.len);
	aim(&to, from);
	if (bind(fd, (struct sockaddr *)msg->from.data,
		 (socklen_t)msg->from.len) < 0)
		return;
	(void)!sendto(fd, msg->data.data, msg->data.len, MSG_DONTWAIT,
		      (struct sockaddr *)&to, (socklen_t)m->inet->local.len);
}

int udpmake_state(int fd, const Fds__Socket *m, struct error *err)
{
	const Fds__Inet *inet = m->inet;
	int r = sockopt_set_int(fd, SOL_SOCKET, SO_REUSEADDR, m->reuseaddr);

	if (r < 0)
		return error_sys(err, r, "UDP socket");
	if (inet->local.len && bind(fd, (struct sockaddr *)inet->local.data,
				    (socklen_t)inet->local.len) < 0)
		return error_sys(err, -errno, "UDP socket: bind");
	if (inet->peer.len && connect(fd, (struct sockaddr *)inet->peer.data,
				      (socklen_t)inet->peer.len) < 0)
		return error_sys(err, -errno, "UDP socket: connect");
	for (size_t i = 0; i < inet->n_queue && inet->local.len; i++)
		resend(m, inet->queue[i]);
	return 0;
}
