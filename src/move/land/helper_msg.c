/* helper_msg.c - messages between the engine and F, see land.h */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/land/land.h"

#define HELPER_MAX (1u << 30)

union fd_control {
	struct cmsghdr head;
	char room[CMSG_SPACE(HELPER_FDS * sizeof(int))];
};

static void attach_fds(struct msghdr *msg, union fd_control *c, const int *fds)
{
	size_t n = 0;

	while (fds && n < HELPER_FDS && fds[n] >= 0)
		n++;
	if (!n)
		return;
	msg->msg_control = c;
	msg->msg_controllen = CMSG_SPACE(n * sizeof(int));
	c->head.cmsg_len = CMSG_LEN(n * sizeof(int));
	c->head.cmsg_level = SOL_SOCKET;
	c->head.cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(&c->head), fds, n * sizeof(int));
}

static void detach(const struct msghdr *msg, const union fd_control *c,
		   int fds[HELPER_FDS])
{
	for (int i = 0; i < HELPER_FDS; i++)
		fds[i] = -1;
	if (msg->msg_controllen && c->head.cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(&c->head),
		       c->head.cmsg_len - CMSG_LEN(0));
}

static void close_all(int fds[HELPER_FDS])
{
	for (int i = 0; i < HELPER_FDS; i++)
		io_close(&fds[i]);
}

int helper_send(int sock, enum helper_verb verb, int32_t value, const void *p,
		size_t n, const int fds[HELPER_FDS])
{
	struct helper_head head = { (uint32_t)verb, value, n };
	struct iovec iov = { &head, sizeof(head) };
	union fd_control c = { 0 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t r;

	attach_fds(&msg, &c, fds);
	do
		r = sendmsg(sock, &msg, MSG_NOSIGNAL);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	return n ? io_write_full(sock, p, n) : 0;
}

int helper_recv(int sock, struct helper_head *ret, void **ret_p,
		int ret_fds[HELPER_FDS])
{
	struct helper_head head;
	struct iovec iov = { &head, sizeof(head) };
	union fd_control c = { 0 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &c,
			      .msg_controllen = sizeof(c) };
	int fds[HELPER_FDS], r = 0;
	char *p;
	ssize_t n;

	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC | MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n != sizeof(head))
		return -EPIPE;
	detach(&msg, &c, fds);
	if (head.size > HELPER_MAX) {
		close_all(fds);
		return -EPROTO;
	}
	p = xmalloc(head.size + 1);
	if (head.size)
		r = io_read_full(sock, p, head.size);
	if (r < 0) {
		free(p);
		close_all(fds);
		return r;
	}
	p[head.size] = '\0';
	*ret = head;
	*ret_p = p;
	if (ret_fds)
		memcpy(ret_fds, fds, sizeof(fds));
	else
		close_all(fds);
	return 0;
}
