/*
 * socket.c - unix, UDP and TCP sockets (move/sock)
 */
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "move/kind/kind.h"
#include "move/sock/capture.h"
#include "move/sock/make.h"
#include "move/sock/needs.h"
#include "move/sock/tcp_compat.h"
#include "move/sock/tcp_later.h"
#include "move/sock/tcp_repair.h"

static bool socket_is(const struct fdscan *sc, const struct fdscan_file *f,
		      const char *link)
{
	return S_ISSOCK(f->st.st_mode);
}

static int socket_capture(struct fdscan *sc, struct fdscan_file *f, char *link,
			  struct error *err)
{
	return sock_capture_socket(sc, f, err);
}

static size_t socket_size(const struct fdscan_file *f)
{
	int in = 0, out = 0;

	(void)!ioctl(f->copy, SIOCINQ, &in);
	(void)!ioctl(f->copy, SIOCOUTQ, &out);
	return (size_t)(in > 0 ? in : 0) + (size_t)(out > 0 ? out : 0);
}

static int socket_end(const struct fdscan_file *f)
{
	return tcp_is(f->copy) ? tcp_capture_kill(f->copy) : 0;
}

/* ---- what came over the wire ---- */

static int check_unix(const Fds__Set *set, size_t i, const Fds__Socket *s,
		      struct error *err)
{
	const Fds__Unix *u = s->un;
	const Fds__File *peer;

	if (s->family != AF_UNIX)
		return fdkind_bad(err, "socket of two families");
	if (s->type != SOCK_STREAM && s->type != SOCK_DGRAM &&
	    s->type != SOCK_SEQPACKET)
		return fdkind_bad(err, "socket type");
	if (u->local.len > sizeof(struct sockaddr_storage) || u->peer < -2 ||
	    u->peer >= (int64_t)set->n_file)
		return fdkind_bad(err, "unix socket out of range");
	if (u->peer >= 0) {
		peer = set->file[u->peer];
		if (peer->kind_case != FDS__FILE__KIND_SOCKET ||
		    !peer->socket || !peer->socket->un ||
		    peer->socket->kind_case != FDS__SOCKET__KIND_UN ||
		    peer->socket->un->peer != (int64_t)i ||
		    peer->socket->type != s->type || u->peer == (int64_t)i)
			return fdkind_bad(err, "unix sockets do not match");
	}
	return fdkind_check_messages(u->queue, u->n_queue, UINT32_MAX, err);
}

static int check_address(const Fds__Socket *s, const ProtobufCBinaryData *a,
			 struct error *err)
{
	sa_family_t family;

	if (!a->len)
		return 0;
	if (a->len != (s->family == AF_INET ? sizeof(struct sockaddr_in)
					    : sizeof(struct sockaddr_in6)))
		return fdkind_bad(err, "address of odd length");
	memcpy(&family, a->data, sizeof(family));
	if (family != s->family)
		return fdkind_bad(err, "address of another family");
	return 0;
}

static int check_tcp(const Fds__Inet *m, struct error *err)
{
	const Fds__Tcp *t = m->tcp;
	uint32_t known = TCP_STATES_CONNECTED | TCP_STATE(TCP_LISTEN) |
			 TCP_STATE(TCP_CLOSE) | TCP_STATE(TCP_SYN_SENT);

	if (t->state > TCP_CLOSING || !(TCP_STATE(t->state) & known))
		return fdkind_bad(err, "TCP state");
	if (t->state != TCP_CLOSE && !m->local.len)
		return fdkind_bad(err, "TCP socket without an address");
	if (t->state != TCP_CLOSE && t->state != TCP_LISTEN && !m->peer.len)
		return fdkind_bad(err, "TCP connection without a peer");
	if (t->snd_wscale < -1 || t->snd_wscale > 14 || t->rcv_wscale < -1 ||
	    t->rcv_wscale > 14 || t->backlog > INT32_MAX ||
	    t->mss_clamp > UINT16_MAX || t->window_clamp > INT32_MAX)
		return fdkind_bad(err, "TCP parameters");
	if (tcplater_bytes(t) > FDS_QUEUED_MOST ||
	    (tcplater_bytes(t) &&
	     !(TCP_STATE(t->state) & TCP_STATES_CONNECTED)))
		return fdkind_bad(err, "TCP queues");
	return 0;
}

/* A v6 socket may be a member of groups of either family. */
static int check_membership(const Fds__Socket *s, const Fds__Membership *m,
			    struct error *err)
{
	Fds__Socket as = *s;
	int r;

	if (m->group.len == sizeof(struct sockaddr_in))
		as.family = AF_INET;
	r = m->group.len ? check_address(&as, &m->group, err)
			 : fdkind_bad(err, "membership of no group");
	if (!r && m->n_source > UINT16_MAX)
		r = fdkind_bad(err, "too many sources");
	for (size_t i = 0; i < m->n_source && !r; i++)
		r = m->source[i].len
			    ? check_address(&as, &m->source[i], err)
			    : fdkind_bad(err, "source without address");
	return r;
}

static int check_inet(const Fds__Socket *s, struct error *err)
{
	int r;

	if (s->family != AF_INET && s->family != AF_INET6)
		return fdkind_bad(err, "socket of two families");
	if (s->inet->tcp ? s->type != SOCK_STREAM : s->type != SOCK_DGRAM)
		return fdkind_bad(err, "socket type");
	r = check_address(s, &s->inet->local, err);
	if (!r)
		r = check_address(s, &s->inet->peer, err);
	if (!r && s->inet->tcp)
		r = check_tcp(s->inet, err);
	if (!r)
		r = fdkind_check_messages(s->inet->queue, s->inet->n_queue,
					  UINT32_MAX, err);
	for (size_t i = 0; i < s->inet->n_queue && !r; i++)
		r = check_address(s, &s->inet->queue[i]->from, err);
	for (size_t i = 0; i < s->inet->n_membership && !r; i++)
		r = check_membership(s, s->inet->membership[i], err);
	return r;
}

static int socket_check(const Fds__Set *set, size_t i, struct error *err)
{
	const Fds__Socket *s = set->file[i]->socket;

	if (s->kind_case == FDS__SOCKET__KIND_UN && s->un)
		return check_unix(set, i, s, err);
	if (s->kind_case == FDS__SOCKET__KIND_INET && s->inet)
		return check_inet(s, err);
	return fdkind_bad(err, "socket of no kind");
}

static int socket_make(struct fds_restored *r, size_t i, struct error *err)
{
	int fd = -1, e = sock_make_socket(r, i, &fd, err);

	return e < 0 ? e : fd;
}

const struct fd_kind fd_kind_socket = {
	.message = FDS__FILE__KIND_SOCKET,
	.is = socket_is,
	.capture = socket_capture,
	.capture_all = sock_capture_finish,
	.size = socket_size,
	.tell = sock_needs_tell,
	.end = socket_end,
	.check = socket_check,
	.make = socket_make,
	.make_last = sock_make_finish,
	.activate = sock_make_activate,
};
