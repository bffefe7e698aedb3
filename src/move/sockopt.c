/*
 * sockopt.c - the options of a socket, as a list
 */
#include "move/sockopt.h"

#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "core/xalloc.h"
#include "move/tcpcompat.h"

/* Of <linux/in.h> and <linux/udp.h>, which do not go with glibc's. */
#define OPT_IP_LOCAL_PORT_RANGE 51
#define OPT_UDP_NO_CHECK6_TX	101
#define OPT_UDP_NO_CHECK6_RX	102
#define OPT_UDP_SEGMENT		103
#define OPT_UDP_GRO		104

#define OPT_MAX 64 /* bytes */

struct opt {
	int level, name;
	bool datagram; /* streams have them, but may not set them */
};

static const struct opt opts[] = {
	{ SOL_SOCKET, SO_REUSEPORT },
	{ SOL_SOCKET, SO_KEEPALIVE },
	{ SOL_SOCKET, SO_BROADCAST },
	{ SOL_SOCKET, SO_OOBINLINE },
	{ SOL_SOCKET, SO_RCVLOWAT },
	{ SOL_SOCKET, SO_MARK },
	{ SOL_SOCKET, SO_BUSY_POLL },
	{ SOL_SOCKET, SO_PREFER_BUSY_POLL },
	{ SOL_SOCKET, SO_TIMESTAMP },
	{ SOL_SOCKET, SO_TIMESTAMPNS },
	{ SOL_SOCKET, SO_LINGER },
	{ SOL_SOCKET, SO_RCVTIMEO },
	{ SOL_SOCKET, SO_SNDTIMEO },
	{ SOL_SOCKET, SO_BINDTODEVICE },
	{ SOL_SOCKET, SO_PASSCRED },
	{ SOL_SOCKET, SO_PASSSEC },
	{ SOL_SOCKET, SO_RXQ_OVFL },
	{ SOL_SOCKET, SO_NO_CHECK },
	{ SOL_SOCKET, SO_DONTROUTE },
	{ SOL_SOCKET, SO_ZEROCOPY },
	{ SOL_SOCKET, SO_MAX_PACING_RATE },
	{ SOL_SOCKET, SO_PEEK_OFF },
	{ SOL_SOCKET, SO_TXREHASH },
	{ SOL_IP, IP_TOS },
	{ SOL_SOCKET, SO_PRIORITY }, /* which IP_TOS sets as well */
	{ SOL_IP, IP_TTL },
	{ SOL_IP, IP_MTU_DISCOVER },
	{ SOL_IP, IP_RECVERR },
	{ SOL_IP, IP_PKTINFO },
	{ SOL_IP, IP_RECVTTL },
	{ SOL_IP, IP_RECVTOS },
	{ SOL_IP, IP_FREEBIND },
	{ SOL_IP, IP_TRANSPARENT },
	{ SOL_IP, IP_BIND_ADDRESS_NO_PORT },
	{ SOL_IP, IP_MULTICAST_TTL, true },
	{ SOL_IP, IP_MULTICAST_LOOP, true },
	{ SOL_IP, IP_MULTICAST_IF, true },
	{ SOL_IP, IP_MINTTL },
	{ SOL_IP, OPT_IP_LOCAL_PORT_RANGE },
	{ SOL_IPV6, IPV6_V6ONLY },
	{ SOL_IPV6, IPV6_UNICAST_HOPS },
	{ SOL_IPV6, IPV6_MTU_DISCOVER },
	{ SOL_IPV6, IPV6_RECVERR },
	{ SOL_IPV6, IPV6_RECVPKTINFO },
	{ SOL_IPV6, IPV6_TCLASS },
	{ SOL_IPV6, IPV6_RECVTCLASS },
	{ SOL_IPV6, IPV6_RECVHOPLIMIT },
	{ SOL_IPV6, IPV6_FREEBIND },
	{ SOL_IPV6, IPV6_TRANSPARENT },
	{ SOL_IPV6, IPV6_MULTICAST_HOPS, true },
	{ SOL_IPV6, IPV6_MULTICAST_LOOP, true },
	{ SOL_IPV6, IPV6_MULTICAST_IF, true },
	{ SOL_IPV6, IPV6_AUTOFLOWLABEL },
	{ SOL_IPV6, IPV6_DONTFRAG },
	{ SOL_IPV6, IPV6_MINHOPCOUNT },
	{ SOL_TCP, TCP_CONGESTION },
	{ SOL_TCP, TCP_NODELAY },
	{ SOL_TCP, TCP_CORK },
	{ SOL_TCP, TCP_QUICKACK },
	{ SOL_TCP, TCP_KEEPIDLE },
	{ SOL_TCP, TCP_KEEPINTVL },
	{ SOL_TCP, TCP_KEEPCNT },
	{ SOL_TCP, TCP_SYNCNT },
	{ SOL_TCP, TCP_LINGER2 },
	{ SOL_TCP, TCP_DEFER_ACCEPT },
	{ SOL_TCP, TCP_USER_TIMEOUT },
	{ SOL_TCP, TCP_NOTSENT_LOWAT },
	{ SOL_TCP, TCP_THIN_LINEAR_TIMEOUTS },
	{ SOL_TCP, TCP_THIN_DUPACK },
	{ SOL_TCP, TCP_SAVE_SYN },
	{ SOL_TCP, TCP_INQ },
	{ SOL_TCP, TCP_TX_DELAY },
	{ SOL_TCP, TCP_FASTOPEN },
	{ SOL_TCP, TCP_FASTOPEN_CONNECT },
	{ SOL_TCP, TCP_FASTOPEN_NO_COOKIE },
	{ SOL_UDP, UDP_CORK },
	{ SOL_UDP, OPT_UDP_NO_CHECK6_TX },
	{ SOL_UDP, OPT_UDP_NO_CHECK6_RX },
	{ SOL_UDP, OPT_UDP_SEGMENT },
	{ SOL_UDP, OPT_UDP_GRO },
};

#define NR_OPTS (sizeof(opts) / sizeof(*opts))

int sockopt_int(int fd, int level, int name)
{
	socklen_t n = sizeof(int);
	int v;

	return getsockopt(fd, level, name, &v, &n) < 0 ? -errno : v;
}

int sockopt_set_int(int fd, int level, int name, int v)
{
	return setsockopt(fd, level, name, &v, sizeof(v)) < 0 ? -errno : 0;
}

/* Levels that such a socket has. */
static bool applies(const struct opt *o, const Fds__Socket *m)
{
	if (o->datagram && m->type == SOCK_STREAM)
		return false;
	switch (o->level) {
	case SOL_SOCKET:
		return true;
	case SOL_IP:
		return m->family != AF_UNIX;
	case SOL_IPV6:
		return m->family == AF_INET6;
	case SOL_TCP:
		return m->family != AF_UNIX && m->type == SOCK_STREAM;
	case SOL_UDP:
		return m->family != AF_UNIX && m->type == SOCK_DGRAM;
	default:
		return false;
	}
}

int sockopt_get_all(int fd, Fds__Socket *m, struct error *err)
{
	uint8_t buf[OPT_MAX];
	Fds__SockOpt *o;
	socklen_t n;

	m->opt = xcalloc(NR_OPTS, sizeof(*m->opt));
	for (size_t i = 0; i < NR_OPTS; i++) {
		n = sizeof(buf);
		if (!applies(&opts[i], m) ||
		    getsockopt(fd, opts[i].level, opts[i].name, buf, &n) < 0)
			continue; /* of another kernel */
		o = xmalloc(sizeof(*o));
		fds__sock_opt__init(o);
		o->level = opts[i].level;
		o->name = opts[i].name;
		o->value.len = n;
		o->value.data = n ? xmalloc(n) : NULL;
		if (n)
			memcpy(o->value.data, buf, n);
		m->opt[m->n_opt++] = o;
	}
	m->reuseaddr = sockopt_int(fd, SOL_SOCKET, SO_REUSEADDR) > 0;
	m->sndbuf = (uint32_t)sockopt_int(fd, SOL_SOCKET, SO_SNDBUF);
	m->rcvbuf = (uint32_t)sockopt_int(fd, SOL_SOCKET, SO_RCVBUF);
	n = (socklen_t)sockopt_int(fd, SOL_SOCKET, SO_BUF_LOCK);
	m->buf_locks = (int)n < 0 ? 3 : n;
	/* A program cannot be read back from a socket in full. */
	if (sockopt_int(fd, SOL_SOCKET, SO_LOCK_FILTER) > 0)
		return error_set(err, -ENOTSUP, "socket with a locked filter");
	n = 0;
	if (getsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, NULL, &n) < 0 || n)
		return error_set(err, -ENOTSUP, "socket with a filter");
	return 0;
}

static bool is_known(const Fds__SockOpt *o, const Fds__Socket *m)
{
	for (size_t i = 0; i < NR_OPTS; i++) {
		if (opts[i].level == o->level && opts[i].name == o->name)
			return applies(&opts[i], m);
	}
	return false;
}

/* If it differs. */
static int set_one(int fd, const Fds__Socket *m, const Fds__SockOpt *o,
		   struct error *err)
{
	uint8_t now[OPT_MAX];
	socklen_t n = sizeof(now);

	if (!is_known(o, m) || o->value.len > OPT_MAX)
		return error_set(err, -EPROTO, "socket option %d/%d", o->level,
				 o->name);
	if (getsockopt(fd, o->level, o->name, now, &n) == 0 &&
	    n == o->value.len && (!n || !memcmp(now, o->value.data, n)))
		return 0;
	return setsockopt(fd, o->level, o->name, o->value.data,
			  (socklen_t)o->value.len) < 0
		       ? error_sys(err, -errno, "socket option %d/%d", o->level,
				   o->name)
		       : 0;
}

int sockopt_set_all(int fd, const Fds__Socket *m, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < m->n_opt && r == 0; i++)
		r = set_one(fd, m, m->opt[i], err);
	return r;
}

int sockopt_set_unbound(int fd, const Fds__Socket *m, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < m->n_opt && r == 0; i++)
		if (m->opt[i]->level == SOL_IPV6 &&
		    m->opt[i]->name == IPV6_V6ONLY)
			r = set_one(fd, m, m->opt[i], err);
	return r;
}

static void set_buffer(int fd, int force, int plain, uint32_t v)
{
	if (sockopt_int(fd, SOL_SOCKET, plain) == (int)v || v > INT32_MAX)
		return;
	if (sockopt_set_int(fd, SOL_SOCKET, force, (int)(v / 2)) < 0)
		sockopt_set_int(fd, SOL_SOCKET, plain, (int)(v / 2));
}

int sockopt_set_buffers(int fd, const Fds__Socket *m, struct error *err)
{
	int r;

	set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, m->sndbuf);
	set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, m->rcvbuf);
	r = sockopt_set_int(fd, SOL_SOCKET, SO_BUF_LOCK,
			    (int)(m->buf_locks & 3));
	if (r < 0)
		return error_sys(err, r, "SO_BUF_LOCK");
	return 0;
}
