/*
 * make.c - making sockets again
 */
#include "move/sock/make.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/io.h"
#include "move/sock/options.h"
#include "move/sock/tcp_compat.h"
#include "move/sock/tcp_later.h"
#include "move/sock/tcp_make.h"
#include "move/sock/udp_make.h"

int sock_make_fill(int fd, Fds__Message *const *m, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		size_t n_left = m[i]->data.len;
		const uint8_t *p = n_left ? m[i]->data.data : (uint8_t *)"";

		do { /* at least once, for an empty message */
			ssize_t w = send(fd, p, n_left,
					 MSG_DONTWAIT | MSG_NOSIGNAL);

			if (w < 0)
				return error_sys(err, -errno,
						 "cannot fill a socket");
			p += w;
			n_left -= (size_t)w;
		} while (n_left);
	}
	return 0;
}

static int set_options(int fd, const Fds__Socket *m, struct error *err)
{
	int r = sockopt_set_all(fd, m, err);

	return r < 0 ? r : sockopt_set_buffers(fd, m, err);
}

/* ---- unix sockets ---- */

/*
 * Fill the queue with a larger buffer at the sending side, whose own size is set
 * afterwards.
 */
static int fill_wide(int fd, const Fds__Unix *u, struct error *err)
{
	Fds__Socket wide = FDS__SOCKET__INIT;
	size_t sum = 65536;

	for (size_t i = 0; i < u->n_queue; i++)
		sum += 2 * u->queue[i]->data.len + 2048;
	wide.sndbuf = sum > INT32_MAX ? INT32_MAX : (uint32_t)sum;
	wide.rcvbuf = (uint32_t)sockopt_int(fd, SOL_SOCKET, SO_RCVBUF);
	if (u->n_queue)
		sockopt_set_buffers(fd, &wide, NULL);
	return sock_make_fill(fd, u->queue, u->n_queue, err);
}

static int shut_down(int fd, uint32_t mask)
{
	int how = mask == 3 ? SHUT_RDWR : mask == 1 ? SHUT_RD : SHUT_WR;

	return mask && shutdown(fd, how) < 0 ? -errno : 0;
}

/* Queues first, as shutdown forbids filling them. */
static int set_up_pair(const int fd[2], const Fds__Socket *a,
		       const Fds__Socket *b, struct error *err)
{
	int r = fill_wide(fd[1], a->un, err);

	if (!r && b)
		r = fill_wide(fd[0], b->un, err);
	if (!r)
		r = set_options(fd[0], a, err);
	if (!r && b)
		r = set_options(fd[1], b, err);
	if (!r && b) {
		r = shut_down(fd[0], a->un->shutdown & 3);
		if (!r)
			r = shut_down(fd[1], b->un->shutdown & 3);
		if (r < 0)
			return error_sys(err, r, "shutdown");
	}
	return r;
}

static int make_pair(struct fds_restored *r, size_t i, int *ret,
		     struct error *err)
{
	const Fds__Socket *a = r->set->file[i]->socket, *b = NULL;
	int32_t peer = a->un->peer;
	int fd[2], up[2], e;

	if (peer >= 0)
		b = r->set->file[peer]->socket;
	if (socketpair(AF_UNIX, a->type | SOCK_CLOEXEC, a->protocol, fd) < 0)
		return error_sys(err, -errno, "socketpair");
	up[0] = fdkit_lift(r, fd[0]);
	up[1] = fdkit_lift(r, fd[1]);
	e = up[0] < 0 ? up[0] : up[1] < 0 ? up[1] : 0;
	if (e < 0)
		error_sys(err, e, "socketpair");
	else
		e = set_up_pair(up, a, b, err);
	if (!e && b)
		r->at[peer] = up[1];
	else
		io_close(&up[1]);
	if (e < 0)
		io_close(&up[0]);
	else
		*ret = up[0];
	return e;
}

/* Fill the queue of a socket that no other is connected to by sending to its name. */
static int fill_named(const Fds__Socket *m, struct error *err)
{
	fd_auto fd = -1;

	if (!m->un->n_queue)
		return 0;
	fd = socket(AF_UNIX, m->type | SOCK_CLOEXEC, m->protocol);
	if (fd < 0 || connect(fd, (struct sockaddr *)m->un->local.data,
			      (socklen_t)m->un->local.len) < 0)
		return error_sys(err, -errno, "unix socket");
	return fill_wide(fd, m->un, err);
}

static int make_single(const Fds__Socket *m, int *ret, struct error *err)
{
	fd_auto fd = socket(AF_UNIX, m->type | SOCK_CLOEXEC, m->protocol);
	int r;

	if (fd < 0)
		return error_sys(err, -errno, "unix socket");
	r = set_options(fd, m, err);
	if (r < 0)
		return r;
	if (m->un->local.len && bind(fd, (struct sockaddr *)m->un->local.data,
				     (socklen_t)m->un->local.len) < 0)
		return error_sys(err, -errno, "unix socket: bind");
	if (m->un->listening && listen(fd, (int)m->un->backlog) < 0)
		return error_sys(err, -errno, "unix socket: listen");
	r = fill_named(m, err);
	if (!r)
		r = shut_down(fd, m->un->shutdown & 3);
	if (r < 0)
		return r;
	*ret = fd;
	fd = -1;
	return 0;
}

/* ---- internet sockets ---- */

/*
 * File i, if it is a socket that is bound to a port and receives what comes there; or
 * NULL.
 */
static const Fds__Socket *bound_at(const struct fds_restored *r, size_t i)
{
	const Fds__File *f = r->set->file[i];
	const Fds__Socket *s = f->socket;

	if (f->kind_case != FDS__FILE__KIND_SOCKET ||
	    s->kind_case != FDS__SOCKET__KIND_INET || !s->inet->local.len ||
	    s->inet->peer.len)
		return NULL;
	return !s->inet->tcp || s->inet->tcp->state == TCP_LISTEN ? s : NULL;
}

static bool bound_alike(const Fds__Socket *a, const Fds__Socket *b)
{
	const ProtobufCBinaryData *x = &a->inet->local, *y = &b->inet->local;

	return a->type == b->type && x->len == y->len &&
	       !memcmp(x->data, y->data, x->len);
}

/*
 * Was SO_REUSEPORT on when the socket was bound?  It was if another socket of the
 * process is bound to the same address, although it may be off by now.  Datagram
 * sockets with SO_REUSEADDR do not need it.
 */
static bool was_in_group(const struct fds_restored *r, size_t i)
{
	const Fds__Socket *m = bound_at(r, i), *other;

	for (size_t k = 0; m && k < r->set->n_file; k++) {
		other = k == i ? NULL : bound_at(r, k);
		if (other && bound_alike(m, other) &&
		    (m->type == SOCK_STREAM || !m->reuseaddr ||
		     !other->reuseaddr))
			return true;
	}
	return false;
}

static bool has_reuseport(const Fds__Socket *m)
{
	for (size_t i = 0; i < m->n_opt; i++) {
		const Fds__SockOpt *o = m->opt[i];

		if (o->level == SOL_SOCKET && o->name == SO_REUSEPORT)
			return o->value.len && o->value.data[0];
	}
	return false;
}

/*
 * Once all sockets are bound, switch the options that this took off again where they
 * were off.
 */
static int leave_group(const struct fds_restored *r, size_t i,
		       struct error *err)
{
	int e = 0;

	if (was_in_group(r, i) && !has_reuseport(bound_at(r, i)))
		e = sockopt_set_int(r->at[i], SOL_SOCKET, SO_REUSEPORT, 0);
	return e < 0 ? error_sys(err, e, "SO_REUSEPORT") : 0;
}

static int make_inet(const struct fds_restored *set, size_t i, int *ret,
		     struct error *err)
{
	const Fds__Socket *m = set->set->file[i]->socket;
	fd_auto fd = socket(m->family, m->type | SOCK_CLOEXEC, m->protocol);
	int r;

	if (fd < 0)
		return error_sys(err, -errno, "socket");
	r = set_options(fd, m, err);
	if (!r && was_in_group(set, i)) {
		r = sockopt_set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1);
		if (r < 0)
			error_sys(err, r, "SO_REUSEPORT");
	}
	if (!r && !m->inet->tcp)
		r = udpmake_state(fd, m, err);
	if (r < 0)
		return r;
	*ret = fd;
	fd = -1;
	return 0;
}

int sock_make_socket(struct fds_restored *r, size_t i, int *ret,
		     struct error *err)
{
	const Fds__Socket *m = r->set->file[i]->socket;

	if (m->kind_case == FDS__SOCKET__KIND_INET)
		return make_inet(r, i, ret, err);
	if (m->un->peer == -1)
		return make_single(m, ret, err);
	return make_pair(r, i, ret, err);
}

/* File i, if it is a TCP socket; or NULL. */
static const Fds__Socket *tcp_of(const struct fds_restored *r, size_t i)
{
	const Fds__File *f = r->set->file[i];

	if (f->kind_case != FDS__FILE__KIND_SOCKET ||
	    f->socket->kind_case != FDS__SOCKET__KIND_INET ||
	    !f->socket->inet->tcp)
		return NULL;
	return f->socket;
}

static int make_state(const struct fds_restored *r, size_t i, struct error *err)
{
	Fds__Tcp *t = r->set->file[i]->socket->inet->tcp;
	bool later = tcplater_bytes(t);
	int e = later ? tcplater_fetch(t, r->ops, r->ctx, err) : 0;

	if (!e)
		e = tcp_make_state(r->at[i], r->set->file[i]->socket, err);
	if (later)
		tcplater_forget(t);
	return e;
}

/*
 * Listeners first, because a port that has connections cannot be listened on.  FINs
 * last: the end that gets one acknowledges it, and if the other end is in this capsule
 * as well and not made yet, the kernel answers the acknowledgement with a reset.
 */
int sock_make_finish(struct fds_restored *r, struct error *err)
{
	const Fds__Socket *m;
	int e = 0;

	for (size_t i = 0; i < r->set->n_file && !e; i++) {
		m = tcp_of(r, i);
		if (m && m->inet->tcp->state == TCP_LISTEN)
			e = tcp_make_listen(r->at[i], m, err);
	}
	for (size_t i = 0; i < r->set->n_file && !e; i++) {
		m = tcp_of(r, i);
		if (m && m->inet->tcp->state != TCP_LISTEN)
			e = make_state(r, i, err);
	}
	for (size_t i = 0; i < r->set->n_file && !e; i++) {
		m = tcp_of(r, i);
		if (m)
			e = tcp_make_ends(r->at[i], m, err);
	}
	for (size_t i = 0; i < r->set->n_file && !e; i++)
		e = leave_group(r, i, err);
	return e;
}

/* The error text is that of the first socket that failed. */
int sock_make_activate(struct fds_restored *r, struct error *err)
{
	struct error here = ERROR_INIT;
	const Fds__Socket *m;
	int ret = 0, e;

	for (size_t i = 0; i < r->set->n_file; i++) {
		m = tcp_of(r, i);
		e = m ? tcp_make_activate(r->at[i], m, &here) : 0;
		if (e < 0 && !ret)
			ret = error_set(err, e, "fd %d: %s", r->at[i],
					here.text);
	}
	return ret;
}
