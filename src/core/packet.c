/* packet.c - see packet.h */
#include "core/packet.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int packet_send(int sock, const void *p, size_t n, const int *fds,
		unsigned nr_fds)
{
	union {
		char buf[CMSG_SPACE(sizeof(int) * PACKET_FDS)];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = { .iov_base = (void *)p, .iov_len = n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	ssize_t r;

	if (nr_fds > PACKET_FDS)
		return -E2BIG;
	if (nr_fds) {
		msg.msg_control = control.buf;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * nr_fds);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * nr_fds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * nr_fds);
	}
	do
		r = sendmsg(sock, &msg, MSG_NOSIGNAL);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

static void take_fds(struct msghdr *msg, int *fds, unsigned *nr_fds)
{
	unsigned room = *nr_fds, n;
	int got[PACKET_FDS];

	*nr_fds = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c;
	     c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(got, CMSG_DATA(c), n * sizeof(int));
		for (unsigned i = 0; i < n; i++) {
			if (*nr_fds < room)
				fds[(*nr_fds)++] = got[i];
			else
				close(got[i]);
		}
	}
}

ssize_t packet_receive_some(int sock, void *p, size_t n, int *fds,
			    unsigned *nr_fds, int flags)
{
	union {
		char buf[CMSG_SPACE(sizeof(int) * PACKET_FDS)];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = p, .iov_len = n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t r;

	if (nr_fds) {
		msg.msg_control = control.buf;
		msg.msg_controllen = sizeof(control.buf);
	}
	do
		r = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	if (nr_fds)
		take_fds(&msg, fds, nr_fds);
	if (!r)
		return -EPIPE;
	return msg.msg_flags & MSG_TRUNC ? -EBADMSG : r;
}

int packet_receive(int sock, void *p, size_t n, int *fds, unsigned *nr_fds,
		   int flags)
{
	ssize_t r = packet_receive_some(sock, p, n, fds, nr_fds, flags);

	return r < 0 ? (int)r : (size_t)r == n ? 0 : -EBADMSG;
}
