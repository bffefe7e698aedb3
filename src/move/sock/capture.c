/*
 * capture.c - capture of sockets
 */
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/xalloc.h"
#include "move/sock/capture.h"
#include "move/sock/diag.h"
#include "move/sock/multicast.h"
#include "move/sock/options.h"
#include "move/sock/tcp.h"
#include "move/sock/tcp_compat.h"
#include "move/wire/append.h"

/*
 * A unix socket's abstract name can be bound again; a path cannot, as that would make
 * another file.
 */
static int check_name(const Fds__Unix *u, const struct sockaddr_un *sun,
		      struct fdscan_file *f, struct error *err)
{
	if (!u->local.len || !sun->sun_path[0] || u->peer != -1)
		return 0;
	return error_set(err, -ENOTSUP, "fd %d: unix socket bound to %.*s",
			 f->number, (int)sizeof(sun->sun_path), sun->sun_path);
}

static int compare_inode(const void *key, const void *file)
{
	const struct stat *x = key,
			  *y = &((const struct fdscan_file *)file)->st;

	if (x->st_dev != y->st_dev)
		return x->st_dev < y->st_dev ? -1 : 1;
	return (x->st_ino > y->st_ino) - (x->st_ino < y->st_ino);
}

/*
 * The file of the scan that is the socket of that inode number, or -1. Inode numbers
 * are of sockfs, the device of every socket; `like` is any socket.
 */
static int32_t find_socket(const struct fdscan *sc,
			   const struct fdscan_file *like, uint64_t ino)
{
	const struct stat key = { .st_dev = like->st.st_dev, .st_ino = ino };
	const struct fdscan_file *found = bsearch(
		&key, sc->file, sc->nr_file, sizeof(*found), compare_inode);

	return found ? (int32_t)(found - sc->file) : -1;
}

/* Find the socket's other end, which must be in the process; see check_pair(). */
static int set_peer(struct fdscan *sc, struct fdscan_file *f,
		    const struct sock_diag_unix *d, struct error *err)
{
	Fds__Unix *u = f->msg->socket->un;

	u->peer = d->peer < 0 ? -1 : -2;
	if (d->peer <= 0)
		return 0;
	u->peer = find_socket(sc, f, (uint64_t)d->peer);
	if (u->peer < 0)
		return error_set(err, -ENOTSUP,
				 "fd %d: unix socket whose other end is "
				 "outside the process",
				 f->number);
	return 0;
}

static const Fds__Unix *unix_of(const struct fdscan_file *f)
{
	return f->msg->kind_case == FDS__FILE__KIND_SOCKET &&
			       f->msg->socket->kind_case == FDS__SOCKET__KIND_UN
		       ? f->msg->socket->un
		       : NULL;
}

/* Once all sockets are captured: is the other end connected to this one? */
static int check_pair(const struct fdscan *sc, size_t i, struct error *err)
{
	const Fds__Unix *u = unix_of(&sc->file[i]), *other;

	/* without a sock_diag socket the other ends are not known */
	if (sc->s->diag < 0 || !u || u->peer < 0)
		return 0;
	other = unix_of(&sc->file[u->peer]);
	if (other && other->peer == (int64_t)i)
		return 0;
	return error_set(err, -ENOTSUP, "fd %d: unix socket connected one way",
			 sc->file[i].number);
}

static int unix_queue(struct fdscan *sc, struct fdscan_file *f,
		      struct error *err)
{
	Fds__Unix *u = f->msg->socket->un;
	uint64_t rights = 0;
	int r = 0, in = 0;

	fdinfo_field(f->info.text, "scm_fds", 10, &rights);
	if (rights)
		return error_set(err, -EAGAIN,
				 "fd %d: descriptors are being passed over it",
				 f->number);
	if (sc->content)
		r = sockq_peek(f->copy, false, &u->queue, &u->n_queue, err);
	if (r < 0)
		return error_prefix(err, r, "fd %d", f->number);
	if (!sc->content)
		(void)!ioctl(f->copy, SIOCINQ, &in);
	if ((u->n_queue || in > 0) &&
	    sockopt_int(f->copy, SOL_SOCKET, SO_PASSCRED) > 0)
		return error_set(err, -ENOTSUP,
				 "fd %d: unread messages with credentials",
				 f->number);
	return 0;
}

static int cap_unix(struct fdscan *sc, struct fdscan_file *f, struct error *err)
{
	Fds__Unix *u = xmalloc(sizeof(*u));
	struct sockaddr_un sun = { 0 };
	socklen_t len = sizeof(sun);
	struct sock_diag_unix d;
	int r;

	fds__unix__init(u);
	f->msg->socket->un = u;
	f->msg->socket->kind_case = FDS__SOCKET__KIND_UN;
	if (sc->s->diag < 0)
		return 0;
	if (getsockname(f->copy, (struct sockaddr *)&sun, &len) < 0)
		return error_sys(err, -errno, "fd %d", f->number);
	if (len > sizeof(sa_family_t))
		u->local = append_bytes(&sun, len);
	r = sock_diag_unix_get(sc->s->diag, f->st.st_ino, &d, err);
	if (!r)
		r = set_peer(sc, f, &d, err);
	if (!r)
		r = check_name(u, &sun, f, err);
	if (r < 0)
		return r;
	u->shutdown = d.shutdown;
	u->listening = d.state == TCP_LISTEN;
	u->backlog = d.backlog;
	if (!sc->content && !sc->s->soon)
		return 0;
	if (u->listening)
		return d.waiting ? error_set(err, -EAGAIN,
					     "fd %d: a connection waits to be "
					     "accepted",
					     f->number)
				 : 0;
	if (u->peer == -1 && f->msg->socket->type != SOCK_DGRAM)
		return 0; /* not connected: nothing can have been sent to it */
	return unix_queue(sc, f, err);
}

static int cap_names(struct fdscan_file *f, Fds__Inet *m)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getsockname(f->copy, (struct sockaddr *)&ss, &len) < 0)
		return -errno;
	/* The port is at the same place in the addresses of both families. */
	if (((struct sockaddr_in *)&ss)->sin_port)
		m->local = append_bytes(&ss, len);
	len = sizeof(ss);
	if (getpeername(f->copy, (struct sockaddr *)&ss, &len) == 0)
		m->peer = append_bytes(&ss, len);
	return 0;
}

/*
 * Read how a UDP socket was shut down: no system call tells, and sock_diag lists only
 * sockets with a port.
 */
static int cap_shutdown(const struct fdscan *sc, const struct fdscan_file *f,
			Fds__Inet *m, struct error *err)
{
	if (!m->local.len || !sc->content || sc->s->diag < 0)
		return 0;
	return sock_diag_udp_shutdown(
		sc->s->diag, f->msg->socket->family,
		((struct sockaddr_in *)(void *)m->local.data)->sin_port,
		f->st.st_ino, &m->shutdown, err);
}

/*
 * Note whether the socket is bound to an address that its network does not have.  Only
 * for sockets that are not connected: a connection takes more than an address that can
 * be bound.
 */
static int cap_foreign(const struct fdscan *sc, const struct fdscan_file *f,
		       Fds__Inet *m, struct error *err)
{
	bool foreign;
	int r;

	if (!m->local.len || m->peer.len || !sc->content || sc->s->route < 0)
		return 0;
	r = sock_diag_foreign(sc->s->route, m->local.data, &foreign, err);
	if (r < 0)
		return error_prefix(err, r, "fd %d", f->number);
	m->foreign = foreign;
	return 0;
}

static int cap_inet(struct fdscan *sc, struct fdscan_file *f, struct error *err)
{
	Fds__Inet *m = append_new(&fds__inet__descriptor);
	int r;

	f->msg->socket->inet = m;
	f->msg->socket->kind_case = FDS__SOCKET__KIND_INET;
	r = cap_names(f, m);
	if (r < 0)
		return error_sys(err, r, "fd %d", f->number);
	r = cap_foreign(sc, f, m, err);
	if (r < 0)
		return r;
	if (f->msg->socket->type == SOCK_STREAM)
		return tcp_capture_socket(sc, f, err);
	r = cap_shutdown(sc, f, m, err);
	if (r < 0)
		return error_prefix(err, r, "fd %d", f->number);
	r = multicast_get(sc->s->pid, f->copy, f->msg->socket, err);
	if (r < 0)
		return error_prefix(err, r, "fd %d", f->number);
	if (!sc->content)
		return 0;
	r = sockq_peek(f->copy, true, &m->queue, &m->n_queue, err);
	return r < 0 ? error_prefix(err, r, "fd %d", f->number) : 0;
}

static int refuse_socket(const Fds__Socket *m, struct fdscan_file *f,
			 struct error *err)
{
	const char *kind = m->family == AF_NETLINK  ? "netlink socket"
			   : m->family == AF_PACKET ? "packet socket"
			   : m->type == SOCK_RAW    ? "raw socket"
						    : "socket";

	return error_set(err, -ENOTSUP,
			 "fd %d: %s (family %d, type %d, protocol %d)",
			 f->number, kind, m->family, m->type, m->protocol);
}

int sock_capture_socket(struct fdscan *sc, struct fdscan_file *f,
			struct error *err)
{
	Fds__Socket *m = append_new(&fds__socket__descriptor);
	bool inet;
	int r;

	f->msg->socket = m;
	m->family = sockopt_int(f->copy, SOL_SOCKET, SO_DOMAIN);
	m->type = sockopt_int(f->copy, SOL_SOCKET, SO_TYPE);
	m->protocol = sockopt_int(f->copy, SOL_SOCKET, SO_PROTOCOL);
	inet = m->family == AF_INET || m->family == AF_INET6;
	if (m->family != AF_UNIX &&
	    !(inet && m->type == SOCK_STREAM && m->protocol == IPPROTO_TCP) &&
	    !(inet && m->type == SOCK_DGRAM && m->protocol == IPPROTO_UDP))
		return refuse_socket(m, f, err);
	r = sc->content || sc->s->whole ? sockopt_get_all(f->copy, m, err)
					: sockopt_get_needs(f->copy, m, err);
	if (r < 0)
		return error_prefix(err, r, "fd %d", f->number);
	return inet ? cap_inet(sc, f, err) : cap_unix(sc, f, err);
}

static bool on_loopback(const void *address)
{
	const struct sockaddr_in *a = address;
	const struct sockaddr_in6 *b = address;

	if (a->sin_family == AF_INET)
		return ntohl(a->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&b->sin6_addr) ||
	       (IN6_IS_ADDR_V4MAPPED(&b->sin6_addr) &&
		b->sin6_addr.s6_addr[12] == 127);
}

static const Fds__Inet *stream_of(const struct fdscan_file *f)
{
	return f->msg && f->msg->kind_case == FDS__FILE__KIND_SOCKET &&
			       f->msg->socket->kind_case ==
				       FDS__SOCKET__KIND_INET &&
			       f->msg->socket->type == SOCK_STREAM
		       ? f->msg->socket->inet
		       : NULL;
}

/*
 * The port is at the same place in both families; the address may be v4 mapped into v6.
 */
static in_port_t port_of(const ProtobufCBinaryData *address)
{
	const struct sockaddr_in *sin = (const void *)address->data;

	return address->len ? sin->sin_port : 0;
}

/* Is b the other end of connection a, or the listener that has not accepted it yet? */
static bool leads_to(const Fds__Inet *a, const Fds__Inet *b)
{
	return port_of(&a->peer) == port_of(&b->local) &&
	       (!b->peer.len || port_of(&a->local) == port_of(&b->peer));
}

static bool same_address(const void *local, const void *peer)
{
	const struct sockaddr_in *a = local, *b = peer;
	const struct sockaddr_in6 *a6 = local, *b6 = peer;

	if (a->sin_family == AF_INET)
		return a->sin_addr.s_addr == b->sin_addr.s_addr;
	return IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr);
}

/*
 * Does a process in the same network namespace have the other end open?  False if there
 * is no sock_diag socket to ask.
 */
static bool is_held(const struct fdscan *sc, const Fds__Inet *m)
{
	struct sock_diag_tcp d;

	return sc->s->diag >= 0 &&
	       sock_diag_tcp_get(sc->s->diag, m->peer.data, m->local.data,
				 (socklen_t)m->local.len, &d, NULL) == 0 &&
	       d.state != TCP_LISTEN && d.ino;
}

/*
 * Is the other end on this host, at any of its addresses?  Only the first checks ask,
 * as that takes a system call for each connection.
 */
static bool is_within(const struct fdscan *sc, const Fds__Inet *m, int state)
{
	bool near = on_loopback(m->peer.data) ||
		    same_address(m->local.data, m->peer.data);

	if (near && state == TCP_ESTABLISHED)
		/* An other end that is not accepted yet counts, too. */
		return true;
	return (near || (!sc->content && !sc->s->soon)) && is_held(sc, m);
}

/*
 * Refuse a connection within this host, because the process at its other end stays.  It
 * is not refused if that end belongs to the process as well, or is closed; a connection
 * that the process has yet to accept is waited for.
 */
static int check_local(struct fdscan *sc, struct fdscan_file *f,
		       struct error *err)
{
	const Fds__Inet *m = stream_of(f), *other;
	int state;

	if (!m || !m->peer.len || !m->local.len)
		return 0;
	state = tcp_capture_state(f->copy);
	if (state < 0 || !(TCP_STATE(state) & TCP_STATES_CONNECTED) ||
	    !is_within(sc, m, state))
		return 0;
	for (size_t i = 0; i < sc->nr_file; i++)
		if ((other = stream_of(&sc->file[i])) && leads_to(m, other))
			return 0;
	return error_set(
		err, sc->content ? -EAGAIN : -ENOTSUP,
		"fd %d: connected within this host, port %u, to a socket outside the process",
		f->number, ntohs(port_of(&m->peer)));
}

struct ours {
	const struct fdscan *sc;
	const struct fdscan_file *like;
};

static bool is_ours(uint64_t ino, void *arg)
{
	const struct ours *ours = arg;

	return find_socket(ours->sc, ours->like, ino) >= 0;
}

static bool takes_part(const Fds__Socket *s, const Fds__Inet *m, int fd)
{
	const struct sockaddr_in *in = (const void *)m->local.data;

	if (!m->local.len || m->peer.len || m->n_membership ||
	    sockopt_int(fd, SOL_SOCKET, SO_REUSEPORT) <= 0)
		return false;
	/*
	 * Sockets that are bound to a multicast group share nothing: each gets
	 * every datagram.
	 */
	if (s->family == AF_INET
		    ? IN_MULTICAST(ntohl(in->sin_addr.s_addr))
		    : IN6_IS_ADDR_MULTICAST(
			      &((const struct sockaddr_in6 *)in)->sin6_addr))
		return false;
	return s->type == SOCK_DGRAM || tcp_capture_state(fd) == TCP_LISTEN;
}

/*
 * Refuse a socket that shares its port with a socket of another process (SO_REUSEPORT),
 * which does not move along: the kernel distributes what comes for the port among them.
 * Only the first checks ask.
 */
static int check_port_group(struct fdscan *sc, struct fdscan_file *f,
			    struct error *err)
{
	const Fds__Socket *s;
	struct sockaddr_storage local = { 0 };
	struct ours ours = { sc, f };
	int r;

	if (sc->content || sc->s->soon || sc->s->diag < 0 || !f->msg ||
	    f->msg->kind_case != FDS__FILE__KIND_SOCKET)
		return 0;
	s = f->msg->socket;
	if (s->kind_case != FDS__SOCKET__KIND_INET ||
	    !takes_part(s, s->inet, f->copy))
		return 0;
	memcpy(&local, s->inet->local.data, s->inet->local.len);
	r = sock_diag_shared(sc->s->diag, s->type == SOCK_STREAM, &local,
			     (socklen_t)s->inet->local.len, is_ours, &ours,
			     err);
	if (r <= 0)
		return r;
	return error_set(
		err, -ENOTSUP,
		"fd %d: shares port %u with a socket outside the process (SO_REUSEPORT)",
		f->number, ntohs(port_of(&s->inet->local)));
}

int sock_capture_finish(struct fdscan *sc, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < sc->nr_file && !r; i++) {
		r = check_pair(sc, i, err);
		if (!r)
			r = check_local(sc, &sc->file[i], err);
		if (!r)
			r = check_port_group(sc, &sc->file[i], err);
	}
	if (r < 0)
		return r;
	return sc->content ? tcp_capture_settle(sc, err) : 0;
}
