/*
 * queue.c - reading the receive queue of a socket without consuming it
 *
 * With SO_PEEK_OFF each MSG_PEEK goes on behind the last one; the option is put back
 * afterwards.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/xalloc.h"
#include "move/sock/capture.h"
#include "move/sock/options.h"
#include "move/wire/append.h"

/*
 * No queue holds more by default; pages of the buffer that stay untouched cost nothing.
 */
#define QUEUE_MAX ((size_t)64 << 20)

/* Close descriptors that came along; were there any? */
static bool drop_rights(struct msghdr *msg)
{
	struct cmsghdr *c;
	bool any = false;
	size_t n;
	int fd;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		any = true;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(fd);
		for (size_t i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			close(fd);
		}
	}
	return any;
}

/* 1: the next message is in msg's buffer; 0: there are no more; or a negative errno. */
static int peek_one(int fd, int type, struct msghdr *msg, size_t *ret_n,
		    struct error *err)
{
	static _Thread_local char control[2048];
	ssize_t n;

	msg->msg_control = control;
	msg->msg_controllen = sizeof(control);
	msg->msg_namelen = sizeof(struct sockaddr_storage);
	n = recvmsg(fd, msg, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EAGAIN ? 0 : error_sys(err, -errno, "MSG_PEEK");
	if (drop_rights(msg))
		return error_set(err, -EAGAIN,
				 "descriptors are being passed over it");
	if (msg->msg_flags & MSG_TRUNC)
		return error_set(err, -ENOTSUP, "message too large");
	/*
	 * An empty datagram; or the end of the stream, which SOCK_DGRAM does
	 * not have.
	 */
	if (!n && type != SOCK_DGRAM)
		return 0;
	*ret_n = (size_t)n;
	return 1;
}

static int peek_all(int fd, bool from, int type, Fds__Message ***ret,
		    size_t *ret_n, struct error *err)
{
	struct sockaddr_storage ss;
	uint8_t *buf = xmalloc(QUEUE_MAX);
	struct iovec iov = { buf, QUEUE_MAX };
	struct msghdr msg = { .msg_name = &ss,
			      .msg_iov = &iov,
			      .msg_iovlen = 1 };
	Fds__Message *m;
	size_t n = 0;
	int r;

	while ((r = peek_one(fd, type, &msg, &n, err)) > 0) {
		m = append_packet(ret, ret_n, buf, n);
		if (from && msg.msg_namelen)
			m->from = append_bytes(&ss, msg.msg_namelen);
	}
	free(buf);
	return r;
}

int sockq_peek(int fd, bool from, Fds__Message ***ret, size_t *ret_n,
	       struct error *err)
{
	int type = sockopt_int(fd, SOL_SOCKET, SO_TYPE), old = -1, r;
	socklen_t len = sizeof(old);

	if (type < 0)
		return error_sys(err, type, "SO_TYPE");
	if (getsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &old, &len) < 0)
		return error_sys(err, -errno, "SO_PEEK_OFF");
	r = sockopt_set_int(fd, SOL_SOCKET, SO_PEEK_OFF, 0);
	if (r < 0)
		return error_sys(err, r, "SO_PEEK_OFF");
	r = peek_all(fd, from, type, ret, ret_n, err);
	sockopt_set_int(fd, SOL_SOCKET, SO_PEEK_OFF, old);
	return r;
}
