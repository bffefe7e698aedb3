/*
 * options.c - the options of a socket, as a list
 */
#include "move/sock/options.h"

#include <errno.h>
#include <linux/filter.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "core/xalloc.h"
#include "move/sock/tcp_compat.h"
#include "move/wire/append.h"

/* From <linux/in.h> and <linux/udp.h>, which cannot be included beside glibc's. */
#define OPT_IP_RECVERR_RFC4884	 26
#define OPT_IP_LOCAL_PORT_RANGE	 51
#define OPT_IPV6_MULTICAST_ALL	 29
#define OPT_IPV6_RECVERR_RFC4884 31
#define OPT_IPV6_FLOWINFO_SEND	 33
#define OPT_UDP_ENCAP		 100
#define OPT_UDP_NO_CHECK6_TX	 101
#define OPT_UDP_NO_CHECK6_RX	 102
#define OPT_UDP_SEGMENT		 103
#define OPT_UDP_GRO		 104
/* Newer than Debian 12's headers. */
#define OPT_SO_RCVMARK		 75
#define OPT_SO_PASSPIDFD	 76
#define OPT_SO_RCVPRIORITY	 82
#define OPT_SO_PASSRIGHTS	 83

#define OPT_MAX 2048 /* bytes: IPv6 headers */

enum how {
	DATAGRAM = 1,	 /* not for streams */
	LOCAL = 16,	 /* for unix sockets alone */
	UNCONNECTED = 2, /* not once connected */
	INDEX = 4,	 /* an interface's number: its name travels */
	INDEX_NET = 8,	 /* the same, in network byte order */
	NEED = 32,	 /* a destination may not be able to set it */
};

struct opt {
	int level, name;
	unsigned how;
	const char *called; /* its name in messages, if it is NEED */
};

#define NEEDED(level, name, how)                 \
	{                                        \
		level, name, NEED | (how), #name \
	}

static const struct opt opts[] = {
	{ SOL_SOCKET, SO_REUSEPORT },
	{ SOL_SOCKET, SO_KEEPALIVE },
	{ SOL_SOCKET, SO_BROADCAST },
	{ SOL_SOCKET, SO_OOBINLINE },
	{ SOL_SOCKET, SO_RCVLOWAT },
	NEEDED(SOL_SOCKET, SO_MARK, 0),
	NEEDED(SOL_SOCKET, SO_BUSY_POLL, 0),
	NEEDED(SOL_SOCKET, SO_PREFER_BUSY_POLL, 0),
	{ SOL_SOCKET, SO_TIMESTAMPING }, /* any ..._NEW makes all new */
	{ SOL_SOCKET, SO_TIMESTAMPING_NEW },
	{ SOL_SOCKET, SO_TIMESTAMP },
	{ SOL_SOCKET, SO_TIMESTAMP_NEW },
	{ SOL_SOCKET, SO_TIMESTAMPNS_NEW },
	{ SOL_SOCKET, SO_TIMESTAMPNS },
	{ SOL_SOCKET, SO_LINGER },
	{ SOL_SOCKET, SO_RCVTIMEO },
	{ SOL_SOCKET, SO_SNDTIMEO },
	NEEDED(SOL_SOCKET, SO_BINDTODEVICE, 0),
	{ SOL_SOCKET, SO_PASSCRED, LOCAL },
	{ SOL_SOCKET, SO_PASSSEC, LOCAL },
	{ SOL_SOCKET, OPT_SO_PASSPIDFD, LOCAL },
	{ SOL_SOCKET, OPT_SO_PASSRIGHTS, LOCAL },
	NEEDED(SOL_SOCKET, OPT_SO_RCVMARK, DATAGRAM),
	{ SOL_SOCKET, OPT_SO_RCVPRIORITY, DATAGRAM },
	NEEDED(SOL_SOCKET, SO_TXTIME, DATAGRAM),
	{ SOL_SOCKET, SO_WIFI_STATUS, DATAGRAM },
	{ SOL_SOCKET, SO_NOFCS, DATAGRAM },
	{ SOL_SOCKET, SO_SELECT_ERR_QUEUE },
	{ SOL_SOCKET, SO_RXQ_OVFL },
	{ SOL_SOCKET, SO_NO_CHECK },
	{ SOL_SOCKET, SO_DONTROUTE },
	{ SOL_SOCKET, SO_ZEROCOPY },
	{ SOL_SOCKET, SO_MAX_PACING_RATE },
	{ SOL_SOCKET, SO_PEEK_OFF },
	{ SOL_SOCKET, SO_TXREHASH },
	{ SOL_IP, IP_TOS },
	NEEDED(SOL_SOCKET, SO_PRIORITY, 0), /* IP_TOS sets it, too */
	{ SOL_IP, IP_TTL },
	{ SOL_IP, IP_MTU_DISCOVER },
	{ SOL_IP, IP_RECVERR },
	{ SOL_IP, IP_PKTINFO },
	{ SOL_IP, IP_RECVTTL },
	{ SOL_IP, IP_RECVTOS },
	NEEDED(SOL_IP, IP_OPTIONS, 0),
	{ SOL_IP, IP_RECVOPTS, DATAGRAM },
	{ SOL_IP, IP_RETOPTS, DATAGRAM },
	{ SOL_IP, IP_PASSSEC, DATAGRAM },
	{ SOL_IP, IP_RECVORIGDSTADDR, DATAGRAM },
	{ SOL_IP, IP_CHECKSUM, DATAGRAM },
	{ SOL_IP, IP_RECVFRAGSIZE, DATAGRAM },
	{ SOL_IP, OPT_IP_RECVERR_RFC4884, DATAGRAM },
	NEEDED(SOL_IP, IP_UNICAST_IF, INDEX_NET),
	{ SOL_IP, IP_FREEBIND },
	NEEDED(SOL_IP, IP_TRANSPARENT, 0),
	{ SOL_IP, IP_BIND_ADDRESS_NO_PORT },
	{ SOL_IP, IP_MULTICAST_TTL, DATAGRAM },
	{ SOL_IP, IP_MULTICAST_LOOP, DATAGRAM },
	NEEDED(SOL_IP, IP_MULTICAST_IF, DATAGRAM),
	{ SOL_IP, IP_MULTICAST_ALL, DATAGRAM },
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
	{ SOL_IPV6, IPV6_2292PKTINFO, DATAGRAM },
	{ SOL_IPV6, IPV6_2292HOPOPTS, DATAGRAM },
	{ SOL_IPV6, IPV6_2292DSTOPTS, DATAGRAM },
	{ SOL_IPV6, IPV6_2292RTHDR, DATAGRAM },
	{ SOL_IPV6, IPV6_2292HOPLIMIT, DATAGRAM },
	{ SOL_IPV6, IPV6_RECVHOPOPTS, DATAGRAM },
	{ SOL_IPV6, IPV6_RECVRTHDR, DATAGRAM },
	{ SOL_IPV6, IPV6_RECVDSTOPTS, DATAGRAM },
	NEEDED(SOL_IPV6, IPV6_HOPOPTS, 0),
	NEEDED(SOL_IPV6, IPV6_RTHDRDSTOPTS, 0),
	NEEDED(SOL_IPV6, IPV6_RTHDR, 0),
	NEEDED(SOL_IPV6, IPV6_DSTOPTS, 0),
	{ SOL_IPV6, IPV6_RECVPATHMTU, DATAGRAM },
	{ SOL_IPV6, IPV6_RECVORIGDSTADDR, DATAGRAM },
	{ SOL_IPV6, IPV6_RECVFRAGSIZE, DATAGRAM },
	{ SOL_IPV6, OPT_IPV6_RECVERR_RFC4884, DATAGRAM },
	{ SOL_IPV6, OPT_IPV6_FLOWINFO_SEND },
	{ SOL_IPV6, IPV6_ADDR_PREFERENCES },
	NEEDED(SOL_IPV6, IPV6_UNICAST_IF, INDEX_NET),
	{ SOL_IPV6, IPV6_FREEBIND },
	NEEDED(SOL_IPV6, IPV6_TRANSPARENT, 0),
	{ SOL_IPV6, IPV6_MULTICAST_HOPS, DATAGRAM },
	{ SOL_IPV6, IPV6_MULTICAST_LOOP, DATAGRAM },
	NEEDED(SOL_IPV6, IPV6_MULTICAST_IF, DATAGRAM | INDEX),
	{ SOL_IPV6, OPT_IPV6_MULTICAST_ALL, DATAGRAM },
	{ SOL_IPV6, IPV6_AUTOFLOWLABEL },
	{ SOL_IPV6, IPV6_DONTFRAG },
	{ SOL_IPV6, IPV6_MINHOPCOUNT },
	NEEDED(SOL_TCP, TCP_CONGESTION, 0),
	{ SOL_TCP, TCP_MAXSEG, UNCONNECTED },
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
	{ SOL_UDP, OPT_UDP_ENCAP },
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

/* Does the option apply to such a socket? */
static bool applies(const struct opt *o, const Fds__Socket *m)
{
	if (o->how & DATAGRAM && m->type == SOCK_STREAM)
		return false;
	if (o->how & LOCAL && m->family != AF_UNIX)
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

int sockopt_interface_name(int fd, uint32_t index, char ret[IF_NAMESIZE])
{
	struct ifreq req = { .ifr_ifindex = (int)index };

	if (ioctl(fd, SIOCGIFNAME, &req) < 0)
		return -errno;
	memcpy(ret, req.ifr_name, IF_NAMESIZE);
	return 0;
}

int sockopt_interface_index(int fd, const char *name, uint32_t *ret,
			    struct error *err)
{
	struct ifreq req = { .ifr_ifindex = 0 };

	if (snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name) >=
		    IF_NAMESIZE ||
	    ioctl(fd, SIOCGIFINDEX, &req) < 0)
		return error_set(err, -ENODEV,
				 "the destination has no interface %s", name);
	*ret = (uint32_t)req.ifr_ifindex;
	return 0;
}

/* The name of the interface; NULL if it is gone: nothing can be sent there. */
static char *name_of_index(int fd, const struct opt *o, const uint8_t *value)
{
	char name[IF_NAMESIZE];
	uint32_t index;

	memcpy(&index, value, sizeof(index));
	if (o->how & INDEX_NET)
		index = ntohl(index);
	return index && sockopt_interface_name(fd, index, name) == 0
		       ? xstrdup(name)
		       : NULL;
}

static Fds__SockOpt *get_one(int fd, const struct opt *o)
{
	uint8_t buf[OPT_MAX];
	socklen_t n = sizeof(buf);
	Fds__SockOpt *m;
	char *name;

	if (getsockopt(fd, o->level, o->name, buf, &n) < 0)
		return NULL; /* an option that this kernel does not have */
	m = append_new(&fds__sock_opt__descriptor);
	m->level = o->level;
	m->name = o->name;
	if (o->how & (INDEX | INDEX_NET)) {
		name = name_of_index(fd, o, buf);
		if (name)
			m->interface = name;
		return m;
	}
	m->value.len = n;
	m->value.data = n ? xmalloc(n) : NULL;
	if (n)
		memcpy(m->value.data, buf, n);
	return m;
}

/* Is it a TCP socket that is or was connected? */
static bool had_peer(int fd)
{
	struct sockaddr_storage ss;
	struct tcp_info info = { 0 };
	socklen_t n = sizeof(ss), m = sizeof(info);

	return getpeername(fd, (struct sockaddr *)&ss, &n) == 0 ||
	       (getsockopt(fd, SOL_TCP, TCP_INFO, &info, &m) == 0 &&
		info.tcpi_segs_out);
}

/* Read the options with one of the flags `with` (0: any) and none of `not`. */
static void get_options(int fd, Fds__Socket *m, unsigned with, unsigned not )
{
	Fds__SockOpt *o;

	m->opt = xcalloc(NR_OPTS, sizeof(*m->opt));
	for (size_t i = 0; i < NR_OPTS; i++)
		if ((!with || opts[i].how & with) && !(opts[i].how & not ) &&
		    applies(&opts[i], m) && (o = get_one(fd, &opts[i])))
			m->opt[m->n_opt++] = o;
}

/* A BPF filter cannot be read back from a socket in full. */
static int check_filter(int fd, struct error *err)
{
	socklen_t n = 0;

	if (sockopt_int(fd, SOL_SOCKET, SO_LOCK_FILTER) > 0)
		return error_set(err, -ENOTSUP, "socket with a locked filter");
	if (getsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, NULL, &n) < 0 || n)
		return error_set(err, -ENOTSUP, "socket with a filter");
	return 0;
}

int sockopt_get_all(int fd, Fds__Socket *m, struct error *err)
{
	int locks = sockopt_int(fd, SOL_SOCKET, SO_BUF_LOCK);

	get_options(fd, m, 0, had_peer(fd) ? UNCONNECTED : 0);
	m->reuseaddr = sockopt_int(fd, SOL_SOCKET, SO_REUSEADDR) > 0;
	m->sndbuf = (uint32_t)sockopt_int(fd, SOL_SOCKET, SO_SNDBUF);
	m->rcvbuf = (uint32_t)sockopt_int(fd, SOL_SOCKET, SO_RCVBUF);
	m->buf_locks = locks < 0 ? 3 : (uint32_t)locks;
	return check_filter(fd, err);
}

int sockopt_get_needs(int fd, Fds__Socket *m, struct error *err)
{
	get_options(fd, m, NEED, 0);
	return check_filter(fd, err);
}

static const struct opt *find_option(const Fds__SockOpt *o,
				     const Fds__Socket *m)
{
	for (size_t i = 0; i < NR_OPTS; i++)
		if (opts[i].level == o->level && opts[i].name == o->name)
			return applies(&opts[i], m) ? &opts[i] : NULL;
	return NULL;
}

/* The value to set; for an interface, its number here by its name. */
static int value_of(int fd, const Fds__SockOpt *o, const struct opt *known,
		    ProtobufCBinaryData *ret, uint32_t *index,
		    struct error *err)
{
	int r = 0;

	*ret = o->value;
	if (!(known->how & (INDEX | INDEX_NET)))
		return 0;
	*index = 0;
	if (*o->interface)
		r = sockopt_interface_index(fd, o->interface, index, err);
	if (known->how & INDEX_NET)
		*index = htonl(*index);
	*ret = (ProtobufCBinaryData){ sizeof(*index), (uint8_t *)index };
	return r;
}

static bool is_zero(const ProtobufCBinaryData *v)
{
	for (size_t i = 0; i < v->len; i++)
		if (v->data[i])
			return false;
	return true;
}

/* Set the option if it differs. */
static int set_one(int fd, const Fds__Socket *m, const Fds__SockOpt *o,
		   struct error *err)
{
	const struct opt *known = find_option(o, m);
	uint8_t now[OPT_MAX];
	socklen_t n = sizeof(now);
	ProtobufCBinaryData v;
	uint32_t index;
	int r;

	if (!known || o->value.len > OPT_MAX)
		return error_set(err, -EPROTO, "socket option %d/%d", o->level,
				 o->name);
	r = value_of(fd, o, known, &v, &index, err);
	if (r < 0)
		return r;
	r = getsockopt(fd, o->level, o->name, now, &n) < 0 ? -errno : 0;
	if (!r && n == v.len && (!n || !memcmp(now, v.data, n)))
		return 0;
	/* without the option it is as if off */
	if (r == -ENOPROTOOPT && is_zero(&v))
		return 0;
	return setsockopt(fd, o->level, o->name, v.data, (socklen_t)v.len) < 0
		       ? error_sys(err, -errno, "socket option %d/%d", o->level,
				   o->name)
		       : 0;
}

int sockopt_set_all(int fd, const Fds__Socket *m, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < m->n_opt && !r; i++)
		r = set_one(fd, m, m->opt[i], err);
	return r;
}

bool sockopt_is_need(const Fds__Socket *m, const Fds__SockOpt *o)
{
	const struct opt *known;

	if (is_zero(&o->value) && !*o->interface)
		return false;
	known = find_option(o, m);
	return known && known->how & NEED;
}

int sockopt_try(int fd, const Fds__Socket *m, const Fds__SockOpt *o,
		struct error *err)
{
	const struct opt *known = find_option(o, m);
	struct error why;
	int r;

	if (!known || !(known->how & NEED))
		return error_set(err, -EPROTO, "socket option %d/%d is no need",
				 o->level, o->name);
	r = set_one(fd, m, o, &why);
	if (r == -ENODEV && known->name == SO_BINDTODEVICE &&
	    known->level == SOL_SOCKET)
		error_set(err, r, "the destination has no interface %.*s",
			  (int)o->value.len, (const char *)o->value.data);
	else if (r == -ENODEV)
		*err = why;
	else if (r < 0)
		error_set(err, r,
			  "the destination cannot set %s of a socket: %s%s",
			  known->called, strerror(-r),
			  r == -EPERM || r == -EACCES
				  ? " (it takes a privilege there)"
				  : "");
	return r;
}

int sockopt_set_unbound(int fd, const Fds__Socket *m, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < m->n_opt && !r; i++)
		if (m->opt[i]->level == SOL_IPV6 &&
		    m->opt[i]->name == IPV6_V6ONLY)
			r = set_one(fd, m, m->opt[i], err);
	return r;
}

/* IP_FREEBIND matters at bind() alone, whatever it was set to afterwards. */
int sockopt_bind(int fd, const Fds__Inet *m)
{
	int was = sockopt_int(fd, SOL_IP, IP_FREEBIND), r = 0;

	if (!m->local.len)
		return 0;
	if (m->foreign)
		r = sockopt_set_int(fd, SOL_IP, IP_FREEBIND, 1);
	if (!r && bind(fd, (struct sockaddr *)m->local.data,
		       (socklen_t)m->local.len) < 0)
		r = -errno;
	if (!r && m->foreign && was >= 0)
		r = sockopt_set_int(fd, SOL_IP, IP_FREEBIND, was);
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
