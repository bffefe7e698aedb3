/*
 * tcp_capture.c - capture of TCP connections
 *
 * A connection is in repair mode only for the few system calls that read it,
 * so that hardly any death of the engine can leave it there.
 */
#include "move/sock/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/xalloc.h"
#include "move/sock/diag.h"
#include "move/sock/options.h"
#include "move/sock/tcp_compat.h"
#include "move/sock/tcp_repair.h"
#include "move/wire/append.h"

static int ioctl_int(int fd, unsigned long what)
{
	int v;

	return ioctl(fd, what, &v) < 0 ? -errno : v;
}

int tcp_capture_state(int fd)
{
	struct tcp_info ti;
	int r = tcp_info_of(fd, &ti);

	return r < 0 ? r : ti.tcpi_state;
}

/* What packets can change while the process stands still. */
struct progress {
	int state, in, out, unsent;
};

static int get_progress(int fd, struct progress *ret)
{
	struct tcp_info ti;
	struct progress p = { 0 };
	int r = tcp_info_of(fd, &ti);

	if (r < 0)
		return r;
	p.state = ti.tcpi_state;
	if ((TCP_STATE(p.state) & TCP_STATES_CONNECTED) &&
	    (ioctl(fd, SIOCINQ, &p.in) < 0 || ioctl(fd, SIOCOUTQ, &p.out) < 0 ||
	     ioctl(fd, SIOCOUTQNSD, &p.unsent) < 0))
		return -errno;
	*ret = p;
	return 0;
}

static struct progress expected(const Fds__Tcp *t)
{
	bool fin = TCP_STATE(t->state) & TCP_STATES_FIN_QUEUED;
	int unsent = (int)t->unsent.len + t->fin_unsent;

	if (!(TCP_STATE(t->state) & TCP_STATES_CONNECTED))
		return (struct progress){ .state = (int)t->state };
	return (struct progress){
		.state = (int)t->state,
		.in = (int)t->received.len,
		.out = (int)(t->unacked.len + t->unsent.len) + fin,
		.unsent = unsent,
	};
}

static bool same_progress(const struct progress *a, const struct progress *b)
{
	return a->state == b->state && a->in == b->in && a->out == b->out &&
	       a->unsent == b->unsent;
}

/* ---- a connection ---- */

static int get_seq(int fd, int queue, uint32_t *ret)
{
	socklen_t n = sizeof(*ret);
	int r = sockopt_set_int(fd, SOL_TCP, TCP_REPAIR_QUEUE, queue);

	if (r < 0)
		return r;
	return getsockopt(fd, SOL_TCP, TCP_QUEUE_SEQ, ret, &n) < 0 ? -errno : 0;
}

static void alloc_queue(ProtobufCBinaryData *d, size_t n)
{
	free(d->data);
	d->len = n;
	d->data = n ? xmalloc(n) : NULL;
}

/* Read exactly as many bytes of the selected queue as a, then b, have room for. */
static int peek(int fd, ProtobufCBinaryData *a, ProtobufCBinaryData *b)
{
	struct iovec iov[2] = { { a->data, a->len }, { b->data, b->len } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	ssize_t n;

	if (!a->len && !b->len)
		return 0;
	n = recvmsg(fd, &msg, MSG_PEEK | MSG_DONTWAIT);
	if (n < 0)
		return -errno;
	return (size_t)n == a->len + b->len ? 0 : -EPROTO;
}

static int read_queues(int fd, Fds__Tcp *t, const struct progress *p)
{
	ProtobufCBinaryData none = { 0, NULL };
	bool fin = TCP_STATE(p->state) & TCP_STATES_FIN_QUEUED;
	int r;

	/*
	 * the numbers were read one after the other, and an acknowledgement
	 * came in between
	 */
	if (p->out < p->unsent || p->out < fin)
		return -EAGAIN;
	t->fin_unsent = fin && p->unsent;
	alloc_queue(&t->received, (size_t)p->in);
	alloc_queue(&t->unsent, (size_t)p->unsent - t->fin_unsent);
	alloc_queue(&t->unacked, (size_t)(p->out - fin) - t->unsent.len);
	r = get_seq(fd, TCP_RECV_QUEUE, &t->rcv_seq);
	if (!r)
		r = peek(fd, &t->received, &none);
	if (!r)
		r = get_seq(fd, TCP_SEND_QUEUE, &t->snd_seq);
	if (!r)
		r = peek(fd, &t->unacked, &t->unsent);
	return r;
}

static int read_parameters(int fd, Fds__Tcp *t)
{
	struct tcp_repair_window w;
	struct tcp_info ti;
	socklen_t n = sizeof(w);
	int r = tcp_info_of(fd, &ti), v;

	if (r < 0)
		return r;
	if (getsockopt(fd, SOL_TCP, TCP_REPAIR_WINDOW, &w, &n) < 0)
		return -errno;
	t->snd_wl1 = w.snd_wl1;
	t->snd_wnd = w.snd_wnd;
	t->max_window = w.max_window;
	t->rcv_wnd = w.rcv_wnd;
	t->rcv_wup = w.rcv_wup;
	v = sockopt_int(fd, SOL_TCP, TCP_MAXSEG);
	if (v < 0)
		return v;
	t->mss_clamp = (uint32_t)v;
	t->snd_wscale = t->rcv_wscale = -1;
	if (ti.tcpi_options & TCPI_OPT_WSCALE) {
		t->snd_wscale = ti.tcpi_snd_wscale;
		t->rcv_wscale = ti.tcpi_rcv_wscale;
	}
	t->sack = ti.tcpi_options & TCPI_OPT_SACK;
	t->timestamps = ti.tcpi_options & TCPI_OPT_TIMESTAMPS;
	n = sizeof(t->window_clamp);
	if (getsockopt(fd, SOL_TCP, TCP_WINDOW_CLAMP, &t->window_clamp, &n) < 0)
		return -errno;
	n = sizeof(t->timestamp);
	if (getsockopt(fd, SOL_TCP, TCP_TIMESTAMP, &t->timestamp, &n) < 0)
		return -errno;
	return 0;
}

static int read_repaired(int fd, Fds__Tcp *t)
{
	struct progress p;
	int r = get_progress(fd, &p);

	if (r < 0)
		return r;
	t->state = (uint32_t)p.state;
	if (p.state == TCP_SYN_SENT) {
		r = get_seq(fd, TCP_SEND_QUEUE, &t->snd_seq);
		return r < 0 ? r : read_parameters(fd, t);
	}
	/* The connection has ended since: tcp_capture_settle() reads it again. */
	if (!(TCP_STATE(p.state) & TCP_STATES_CONNECTED))
		return 0;
	r = read_queues(fd, t, &p);
	return r < 0 ? r : read_parameters(fd, t);
}

static int poll_now(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLRDHUP };

	return poll(&p, 1, 0) < 0 ? 0 : p.revents;
}

/*
 * For SIOCINQ and MSG_PEEK a stream ends at its urgent byte, unless
 * SO_OOBINLINE is set: the bytes behind it would be lost. If the urgent byte
 * has been read already, nothing else shows that it was there.
 */
static int check_behind(struct fdscan *sc, struct fdscan_file *f,
			unsigned state, int in, struct error *err)
{
	const Fds__Inet *m = f->msg->socket->inet;
	bool fin = TCP_STATE(state) & TCP_STATES_FIN_RECEIVED;
	struct sock_diag_tcp d;
	int r;

	if ((!in && ioctl_int(f->copy, SIOCATMARK) <= 0) ||
	    sockopt_int(f->copy, SOL_SOCKET, SO_OOBINLINE) > 0)
		return 0;
	r = sock_diag_tcp_get(sc->s->diag, m->local.data, m->peer.data,
			      (socklen_t)m->local.len, &d, err);
	if (r < 0)
		return error_prefix(err, r, "fd %d", f->number);
	/* more may just have come, which tcp_capture_settle() reads */
	if (d.rqueue <= (uint32_t)in + 1 + fin ||
	    ioctl_int(f->copy, SIOCINQ) != in)
		return 0;
	return error_set(err, -EAGAIN,
			 "fd %d: bytes behind an urgent one are not read yet",
			 f->number);
}

/*
 * Refuse an urgent byte that is still to be read: its mark cannot be set at the
 * destination.
 */
static int check_urgent(const struct fdscan_file *f, struct error *err)
{
	struct pollfd p = { .fd = f->copy, .events = POLLPRI };

	return poll(&p, 1, 0) > 0 && p.revents & POLLPRI
		       ? error_set(err, -EAGAIN,
				   "fd %d: an urgent byte (MSG_OOB) is not "
				   "read yet",
				   f->number)
		       : 0;
}

/*
 * A packet that comes between two of the calls makes them disagree: then read once
 * more.
 */
static int read_connection(struct fdscan_file *f, struct error *err)
{
	const Fds__Socket *m = f->msg->socket;
	Fds__Tcp *t = m->inet->tcp;
	int r = 0, off;

	for (int tries = 0; tries < 10; tries++) {
		r = tcp_repair_on(f->copy);
		if (r < 0)
			return error_sys(
				err, r,
				"fd %d: TCP_REPAIR (it needs CAP_NET_ADMIN over the capsule)",
				f->number);
		r = read_repaired(f->copy, t);
		off = tcp_repair_off(f->copy, m->reuseaddr);
		if (off < 0)
			return error_sys(err, off, "fd %d: TCP_REPAIR off",
					 f->number);
		if (r != -EPROTO && r != -EAGAIN)
			break;
	}
	if (r < 0)
		return error_sys(err, r == -EPROTO ? -ENOTSUP : r,
				 "fd %d: cannot read the connection's queues",
				 f->number);
	t->rcv_shutdown = poll_now(f->copy) & POLLRDHUP;
	return 0;
}

/* ---- other states ---- */

static int read_listener(struct fdscan_file *f, const struct tcp_info *ti,
			 struct error *err)
{
	Fds__Tcp *t = f->msg->socket->inet->tcp;

	if (ti->tcpi_unacked)
		return error_set(err, -EAGAIN,
				 "fd %d: a connection waits to be accepted",
				 f->number);
	t->backlog = ti->tcpi_sacked;
	t->window_clamp =
		(uint32_t)sockopt_int(f->copy, SOL_TCP, TCP_WINDOW_CLAMP);
	return 0;
}

/*
 * A socket that was never connected, or whose connection is over; the latter may have
 * bytes, and an error, to read.
 */
static int read_closed(struct fdscan_file *f, struct error *err)
{
	ProtobufCBinaryData none = { 0, NULL };
	Fds__Inet *m = f->msg->socket->inet;
	int events = poll_now(f->copy), in = 0, r;

	m->tcp->mss_clamp = (uint32_t)sockopt_int(f->copy, SOL_TCP, TCP_MAXSEG);
	if (!(events & POLLRDHUP))
		return 0;
	m->tcp->rcv_shutdown = true;
	m->tcp->failed = events & POLLERR;
	if (ioctl(f->copy, SIOCINQ, &in) < 0)
		return error_sys(err, -errno, "fd %d: SIOCINQ", f->number);
	alloc_queue(&m->tcp->received, (size_t)in);
	r = peek(f->copy, &m->tcp->received, &none);
	return r < 0 ? error_sys(err, r, "fd %d: MSG_PEEK", f->number) : 0;
}

struct find_arg {
	uint64_t ino;
	Fds__Inet *m;
};

static void find_peer(const struct sock_diag_tcp *d, void *arg)
{
	struct find_arg *find = arg;

	if (d->ino != find->ino || find->m->peer.len)
		return;
	find->m->peer = append_bytes(&d->peer, d->len);
}

/* getpeername() has no answer while a connection is being made. */
static int read_connecting(struct fdscan *sc, struct fdscan_file *f,
			   struct error *err)
{
	struct find_arg find = { f->st.st_ino, f->msg->socket->inet };
	int r = sock_diag_tcp_each(sc->s->diag, TCP_STATE(TCP_SYN_SENT),
				   find_peer, &find, err);

	if (r < 0)
		return r;
	r = read_connection(f, err);
	if (!r && !find.m->peer.len)
		return error_set(err, -EAGAIN,
				 "fd %d: a connection is just being made",
				 f->number);
	return r;
}

static int read_state(struct fdscan *sc, struct fdscan_file *f,
		      struct error *err)
{
	Fds__Tcp *t = f->msg->socket->inet->tcp;
	struct tcp_info ti;
	int r = tcp_info_of(f->copy, &ti);

	if (r < 0)
		return error_sys(err, r, "fd %d: TCP_INFO", f->number);
	t->state = ti.tcpi_state;
	if (TCP_STATE(t->state) & TCP_STATES_CONNECTED) {
		r = read_connection(f, err);
		return r < 0 ? r
			     : check_behind(sc, f, t->state,
					    (int)t->received.len, err);
	}
	switch (t->state) {
	case TCP_LISTEN:
		return read_listener(f, &ti, err);
	case TCP_CLOSE:
		return read_closed(f, err);
	case TCP_SYN_SENT:
		return read_connecting(sc, f, err);
	default:
		return error_set(err, -EAGAIN, "fd %d: TCP state %u", f->number,
				 t->state);
	}
}

/* Refuse for now if there is an obstacle that passes by itself. */
static int check_soon(struct fdscan *sc, struct fdscan_file *f,
		      struct error *err)
{
	struct progress p;
	int r = get_progress(f->copy, &p);

	/* the connection is not made yet, or ended meanwhile */
	if (r < 0 || !(TCP_STATE(p.state) & TCP_STATES_CONNECTED) ||
	    !f->msg->socket->inet->peer.len)
		return 0;
	r = check_behind(sc, f, (unsigned)p.state, p.in, err);
	return r == -ENOENT ? 0 : r;
}

int tcp_capture_socket(struct fdscan *sc, struct fdscan_file *f,
		       struct error *err)
{
	Fds__Tcp *t = append_new(&fds__tcp__descriptor);
	char ulp[16];
	socklen_t n = sizeof(ulp);
	int r;

	f->msg->socket->inet->tcp = t;
	if (getsockopt(f->copy, SOL_TCP, TCP_ULP, ulp, &n) == 0 && n)
		return error_set(err, -ENOTSUP,
				 "fd %d: TCP under the kernel's %.15s",
				 f->number, ulp);
	r = check_urgent(f, err);
	if (r < 0)
		return r;
	if (sc->content)
		return read_state(sc, f, err);
	return sc->s->soon ? check_soon(sc, f, err) : 0;
}

static bool is_tcp(const Fds__File *m)
{
	return m->kind_case == FDS__FILE__KIND_SOCKET &&
	       m->socket->kind_case == FDS__SOCKET__KIND_INET &&
	       m->socket->inet->tcp;
}

/* If packets have changed f, read it again: 1. */
static int refresh(struct fdscan *sc, struct fdscan_file *f, struct error *err)
{
	Fds__Tcp *t = f->msg->socket->inet->tcp;
	struct progress was = expected(t), now;
	int r = get_progress(f->copy, &now);

	if (r < 0)
		return error_sys(err, r, "fd %d: TCP", f->number);
	if (same_progress(&was, &now))
		return 0;
	r = read_state(sc, f, err);
	return r < 0 ? r : 1;
}

static bool has_listener(const struct fdscan *sc)
{
	for (size_t i = 0; i < sc->nr_file; i++) {
		const Fds__File *m = sc->file[i].msg;

		if (is_tcp(m) && m->socket->inet->tcp->state == TCP_LISTEN)
			return true;
	}
	return false;
}

int tcp_capture_settle(struct fdscan *sc, struct error *err)
{
	bool changed = true;
	int r;

	for (int round = 0; changed && round < 100; round++) {
		changed = false;
		for (size_t i = 0; i < sc->nr_file; i++) {
			if (!is_tcp(sc->file[i].msg))
				continue;
			r = refresh(sc, &sc->file[i], err);
			if (r < 0)
				return r;
			changed |= r;
		}
	}
	if (changed)
		return error_set(err, -EAGAIN,
				 "connections do not come to rest; is the "
				 "network unplugged?");
	return has_listener(sc) ? tcp_capture_check_making(sc->s, err) : 0;
}
