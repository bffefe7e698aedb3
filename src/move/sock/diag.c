/*
 * diag.c - what only sock_diag(7) tells about sockets
 */
#include "move/sock/diag.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/io.h"
#include "move/sock/tcp_compat.h"

/* ---- a socket in another namespace ---- */

static bool same_user_ns(pid_t pid)
{
	struct stat mine, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	return stat(path, &its) == 0 &&
	       stat("/proc/self/ns/user", &mine) == 0 &&
	       its.st_ino == mine.st_ino && its.st_dev == mine.st_dev;
}

static int send_fd(int sock, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(sock, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int receive_fd(int sock, int *ret)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c;

	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) != 1)
		return -EPIPE;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return -EPROTO;
	memcpy(ret, CMSG_DATA(c), sizeof(*ret));
	return 0;
}

/* Runs in the child; its exit status is an errno. */
static int open_inside(int pidfd, int flags, int sock)
{
	static const int protocols[] = { NETLINK_SOCK_DIAG, NETLINK_ROUTE };
	int fd, r = 0;

	if (setns(pidfd, flags) < 0)
		return errno;
	for (int i = 0; i < 2 && !r; i++) {
		fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC,
			    protocols[i]);
		r = fd < 0 ? -errno : send_fd(sock, fd);
	}
	return -r;
}

int sock_diag_open(pid_t pid, int pidfd, int *ret, int *ret_route,
		   struct error *err)
{
	int flags = CLONE_NEWNET | (same_user_ns(pid) ? 0 : CLONE_NEWUSER);
	int pair[2], status = 0, diag = -1, r;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, -errno, "socketpair");
	child = fork();
	if (child == 0)
		_exit(open_inside(pidfd, flags, pair[1]));
	io_close(&pair[1]);
	r = child < 0 ? -errno : receive_fd(pair[0], &diag);
	if (!r)
		r = receive_fd(pair[0], ret_route);
	io_close(&pair[0]);
	if (child > 0 && waitpid(child, &status, 0) == child && r < 0 &&
	    WIFEXITED(status) && WEXITSTATUS(status))
		r = -WEXITSTATUS(status);
	if (r < 0) {
		io_close(&diag);
		return error_sys(err, r,
				 "cannot enter the network namespace of %d",
				 (int)pid);
	}
	*ret = diag;
	return 0;
}

/* ---- asking ---- */

int sock_diag_ask(int diag, struct nlmsghdr *nlh, mnl_cb_t fn, void *arg)
{
	static _Thread_local char buf[32768] __attribute__((aligned(8)));
	ssize_t n;
	int r = MNL_CB_OK;

	nlh->nlmsg_seq = 1;
	if (send(diag, nlh, nlh->nlmsg_len, 0) < 0)
		return -errno;
	while (r > MNL_CB_STOP) {
		n = recv(diag, buf, sizeof(buf), 0);
		if (n < 0)
			return -errno;
		r = mnl_cb_run(buf, (size_t)n, 0, 0, fn, arg);
		if (r > MNL_CB_STOP && !(nlh->nlmsg_flags & NLM_F_DUMP))
			break;
	}
	return r < 0 ? -errno : 0;
}

static int parse_unix(const struct nlmsghdr *nlh, void *arg)
{
	const struct unix_diag_msg *m = mnl_nlmsg_get_payload(nlh);
	struct sock_diag_unix *u = arg;
	const struct unix_diag_rqlen *rq;
	const struct nlattr *a;

	u->ino = m->udiag_ino;
	u->state = m->udiag_state;
	mnl_attr_for_each (a, nlh, sizeof(*m)) {
		switch (mnl_attr_get_type(a)) {
		case UNIX_DIAG_PEER:
			u->peer = mnl_attr_get_u32(a);
			break;
		case UNIX_DIAG_SHUTDOWN:
			u->shutdown = mnl_attr_get_u8(a);
			break;
		case UNIX_DIAG_RQLEN:
			rq = mnl_attr_get_payload(a);
			if (u->state == TCP_LISTEN) {
				u->waiting = rq->udiag_rqueue;
				u->backlog = rq->udiag_wqueue;
			}
			break;
		}
	}
	return MNL_CB_OK;
}

int sock_diag_unix_get(int diag, uint64_t ino, struct sock_diag_unix *ret,
		       struct error *err)
{
	char buf[256] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct sock_diag_unix u = { .peer = -1 };
	struct unix_diag_req *req;
	int r;

	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	req = mnl_nlmsg_put_extra_header(nlh, sizeof(*req));
	req->sdiag_family = AF_UNIX;
	req->udiag_states = UINT32_MAX;
	req->udiag_ino = (uint32_t)ino;
	req->udiag_show = UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN;
	req->udiag_cookie[0] = req->udiag_cookie[1] = UINT32_MAX;
	r = sock_diag_ask(diag, nlh, parse_unix, &u);
	if (r < 0)
		return error_sys(err, r, "sock_diag of a unix socket");
	*ret = u;
	return 0;
}

struct each_arg {
	void (*fn)(const struct sock_diag_tcp *t, void *arg);
	void *arg;
};

static void put_address(struct sockaddr_storage *ss, int family,
			const uint32_t *addr, uint16_t port)
{
	if (family == AF_INET) {
		struct sockaddr_in *in = (void *)ss;

		in->sin_family = AF_INET;
		in->sin_port = port;
		memcpy(&in->sin_addr, addr, 4);
	} else {
		struct sockaddr_in6 *in6 = (void *)ss;

		in6->sin6_family = AF_INET6;
		in6->sin6_port = port;
		memcpy(&in6->sin6_addr, addr, 16);
	}
}

static void parse_info(const struct nlmsghdr *nlh, struct sock_diag_tcp *t)
{
	const struct nlattr *a;
	struct tcp_info ti;
	size_t n;

	t->min_rtt = UINT32_MAX;
	mnl_attr_for_each (a, nlh, sizeof(struct inet_diag_msg)) {
		if (mnl_attr_get_type(a) != INET_DIAG_INFO)
			continue;
		memset(&ti, 0, sizeof(ti));
		n = mnl_attr_get_payload_len(a);
		memcpy(&ti, mnl_attr_get_payload(a),
		       n < sizeof(ti) ? n : sizeof(ti));
		t->flying = ti.tcpi_unacked;
		t->min_rtt = ti.tcpi_min_rtt;
	}
}

static int parse_tcp(const struct nlmsghdr *nlh, void *arg)
{
	const struct inet_diag_msg *m = mnl_nlmsg_get_payload(nlh);
	const struct each_arg *each = arg;
	struct sock_diag_tcp t = {
		.ino = m->idiag_inode,
		.state = m->idiag_state,
		.rqueue = m->idiag_rqueue,
		.wqueue = m->idiag_wqueue,
		.len = m->idiag_family == AF_INET ? sizeof(struct sockaddr_in)
						  : sizeof(struct sockaddr_in6),
	};

	parse_info(nlh, &t);
	put_address(&t.local, m->idiag_family, m->id.idiag_src,
		    m->id.idiag_sport);
	put_address(&t.peer, m->idiag_family, m->id.idiag_dst,
		    m->id.idiag_dport);
	if (m->idiag_family == AF_INET6 && m->id.idiag_if &&
	    IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)&t.peer)->sin6_addr))
		((struct sockaddr_in6 *)&t.peer)->sin6_scope_id =
			m->id.idiag_if;
	each->fn(&t, each->arg);
	return MNL_CB_OK;
}

static int ask_each(int diag, int protocol, uint32_t states,
		    struct each_arg *each)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	int r = 0;

	for (int i = 0; i < 2 && !r; i++) {
		char buf[256] __attribute__((aligned(8)));
		struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
		struct inet_diag_req_v2 *req;

		nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
		nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
		req = mnl_nlmsg_put_extra_header(nlh, sizeof(*req));
		req->sdiag_family = families[i];
		req->sdiag_protocol = (uint8_t)protocol;
		req->idiag_states = states;
		req->idiag_ext = 1 << (INET_DIAG_INFO - 1);
		r = sock_diag_ask(diag, nlh, parse_tcp, each);
	}
	return r;
}

int sock_diag_tcp_each(int diag, uint32_t states,
		       void (*fn)(const struct sock_diag_tcp *t, void *arg),
		       void *arg, struct error *err)
{
	struct each_arg each = { fn, arg };
	int r = ask_each(diag, IPPROTO_TCP, states, &each);

	return r < 0 ? error_sys(err, r, "sock_diag of TCP") : 0;
}

struct member_arg {
	const struct sockaddr_storage *local;
	socklen_t len;
	bool (*ours)(uint64_t ino, void *arg);
	void *arg;
	bool found;
};

/* Is that socket bound to the same port and address? */
static bool is_bound_alike(const struct sock_diag_tcp *t,
			   const struct sockaddr_storage *local, socklen_t len)
{
	const struct sockaddr_in *a = (const void *)&t->local;
	const struct sockaddr_in *b = (const void *)local;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (t->len != len || a->sin_port != b->sin_port)
		return false;
	return len == sizeof(*a)
		       ? a->sin_addr.s_addr == b->sin_addr.s_addr
		       : IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr);
}

static void look_at_member(const struct sock_diag_tcp *t, void *arg)
{
	struct member_arg *m = arg;

	if (t->ino && is_bound_alike(t, m->local, m->len) &&
	    !m->ours(t->ino, m->arg))
		m->found = true;
}

int sock_diag_shared(int diag, bool stream,
		     const struct sockaddr_storage *local, socklen_t len,
		     bool (*ours)(uint64_t ino, void *arg), void *arg,
		     struct error *err)
{
	struct member_arg m = { local, len, ours, arg, false };
	struct each_arg each = { look_at_member, &m };
	int r = ask_each(diag, stream ? IPPROTO_TCP : IPPROTO_UDP,
			 TCP_STATE(stream ? TCP_LISTEN : TCP_CLOSE), &each);

	return r < 0 ? error_sys(err, r, "sock_diag of a port") : m.found;
}

static void take_tcp(const struct sock_diag_tcp *t, void *arg)
{
	*(struct sock_diag_tcp *)arg = *t;
}

static void put_id(struct inet_diag_sockid *id, const void *local,
		   const void *peer, sa_family_t family)
{
	const struct sockaddr_in *l = local, *p = peer;
	const struct sockaddr_in6 *l6 = local, *p6 = peer;

	/* The port is at the same place in the addresses of both families. */
	id->idiag_sport = l->sin_port;
	id->idiag_dport = p->sin_port;
	id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	if (family == AF_INET) {
		memcpy(id->idiag_src, &l->sin_addr, sizeof(l->sin_addr));
		memcpy(id->idiag_dst, &p->sin_addr, sizeof(p->sin_addr));
		return;
	}
	memcpy(id->idiag_src, &l6->sin6_addr, sizeof(l6->sin6_addr));
	memcpy(id->idiag_dst, &p6->sin6_addr, sizeof(p6->sin6_addr));
	id->idiag_if = p6->sin6_scope_id;
}

int sock_diag_tcp_get(int diag, const void *local, const void *peer,
		      socklen_t len, struct sock_diag_tcp *ret,
		      struct error *err)
{
	char buf[256] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct sock_diag_tcp got = { 0 };
	struct each_arg each = { take_tcp, &got };
	struct inet_diag_req_v2 *req;
	int r;

	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	req = mnl_nlmsg_put_extra_header(nlh, sizeof(*req));
	req->sdiag_family =
		len == sizeof(struct sockaddr_in) ? AF_INET : AF_INET6;
	req->sdiag_protocol = IPPROTO_TCP;
	req->idiag_states = UINT32_MAX;
	put_id(&req->id, local, peer, req->sdiag_family);
	r = sock_diag_ask(diag, nlh, parse_tcp, &each);
	if (!r && !got.state)
		r = -ENOENT;
	if (r < 0)
		return error_sys(err, r, "sock_diag of a connection");
	*ret = got;
	return 0;
}

struct udp_arg {
	uint64_t ino;
	uint32_t shutdown;
};

static int parse_udp(const struct nlmsghdr *nlh, void *arg)
{
	const struct inet_diag_msg *m = mnl_nlmsg_get_payload(nlh);
	struct udp_arg *u = arg;
	const struct nlattr *a;

	if (m->idiag_inode != u->ino)
		return MNL_CB_OK;
	mnl_attr_for_each (a, nlh, sizeof(*m))
		if (mnl_attr_get_type(a) == INET_DIAG_SHUTDOWN)
			u->shutdown = mnl_attr_get_u8(a) & 3;
	return MNL_CB_OK;
}

int sock_diag_udp_shutdown(int diag, int family, uint16_t port, uint64_t ino,
			   uint32_t *ret, struct error *err)
{
	char buf[256] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct udp_arg u = { .ino = ino };
	struct inet_diag_req_v2 *req;
	int r;

	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	req = mnl_nlmsg_put_extra_header(nlh, sizeof(*req));
	req->sdiag_family = (uint8_t)family;
	req->sdiag_protocol = IPPROTO_UDP;
	req->idiag_states = UINT32_MAX;
	req->id.idiag_sport = port;
	r = sock_diag_ask(diag, nlh, parse_udp, &u);
	if (r < 0)
		return error_sys(err, r, "sock_diag of UDP");
	*ret = u.shutdown;
	return 0;
}
