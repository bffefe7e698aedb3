/*
 * udp_make.c - making UDP sockets again
 */
#include "move/sock/udp_make.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "move/sock/multicast.h"
#include "move/sock/options.h"
#include "move/sock/spoof.h"

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

/*
 * The address to send to so that the socket receives it: an unspecified local address
 * becomes loopback.
 */
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

static void resend(const Fds__Inet *m, const Fds__Message *msg)
{
	struct sockaddr_storage to = { 0 };

	if (!msg->from.len)
		return;
	memcpy(&to, m->local.data, m->local.len);
	aim(&to, (void *)msg->from.data);
	/*
	 * A datagram that cannot be put back into the queue is lost, as any
	 * datagram may be.
	 */
	(void)!spoof_udp(msg->from.data, &to, &msg->data, NULL);
}

/*
 * shutdown() works on a socket that is not connected, too, although it says
 * ENOTCONN.
 */
static int shut_down(int fd, uint32_t mask, struct error *err)
{
	int how = mask == 3 ? SHUT_RDWR : mask == 1 ? SHUT_RD : SHUT_WR;

	if (mask && shutdown(fd, how) < 0 && errno != ENOTCONN)
		return error_sys(err, -errno, "UDP socket: shutdown");
	return 0;
}

int udpmake_state(int fd, const Fds__Socket *m, struct error *err)
{
	const Fds__Inet *inet = m->inet;
	int r = sockopt_set_int(fd, SOL_SOCKET, SO_REUSEADDR, m->reuseaddr);

	if (r < 0)
		return error_sys(err, r, "UDP socket");
	r = sockopt_bind(fd, inet);
	if (r < 0)
		return error_sys(err, r, "UDP socket: bind");
	if (inet->peer.len && connect(fd, (struct sockaddr *)inet->peer.data,
				      (socklen_t)inet->peer.len) < 0)
		return error_sys(err, -errno, "UDP socket: connect");
	r = multicast_join(fd, m, err);
	if (r < 0)
		return error_prefix(err, r, "UDP socket");
	for (size_t i = 0; i < inet->n_queue && inet->local.len; i++)
		resend(inet, inet->queue[i]);
	return shut_down(fd, inet->shutdown & 3, err);
}
