/*
 * spoof.c - packets that seem to come from a peer
 */
#include "move/sock/spoof.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/sock/tcp_compat.h"

#define SPOOF_TTL 255 /* the highest, so that any IP_MINTTL lets it through */

/* What follows the IP header. */
struct segment {
	uint8_t protocol;
	size_t n;
	uint8_t *data;
	size_t check; /* offset of the checksum */
};

static uint32_t add_words(uint32_t sum, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i + 1 < n; i += 2)
		sum += (uint32_t)b[i] << 8 | b[i + 1];
	return n % 2 ? sum + ((uint32_t)b[n - 1] << 8) : sum;
}

/* RFC 9293 §3.1: over addresses, protocol, length and the segment. */
static void set_checksum(const void *src, const void *dst, size_t n,
			 struct segment *s)
{
	uint32_t sum = s->protocol + (uint32_t)s->n;
	uint16_t check;

	sum = add_words(sum, src, n);
	sum = add_words(sum, dst, n);
	sum = add_words(sum, s->data, s->n);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	check = htons((uint16_t)~sum);
	/* RFC 768: a checksum of 0 would mean that there is none. */
	if (!check && s->protocol == IPPROTO_UDP)
		check = 0xffff;
	memcpy(s->data + s->check, &check, sizeof(check));
}

static int send_raw(int family, void *ip, size_t n, const struct segment *s,
		    void *to, socklen_t len)
{
	fd_auto fd = socket(family, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	struct iovec iov[2] = { { ip, n }, { s->data, s->n } };
	struct msghdr msg = { .msg_name = to,
			      .msg_namelen = len,
			      .msg_iov = iov,
			      .msg_iovlen = 2 };

	if (fd < 0)
		return -errno;
	return sendmsg(fd, &msg, 0) < 0 ? -errno : 0;
}

static int send4(const struct in_addr *from, const struct in_addr *to,
		 struct segment *s)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr = *to };
	struct iphdr ip = {
		.version = 4,
		.ihl = 5,
		.ttl = SPOOF_TTL,
		.protocol = s->protocol,
		.tot_len = htons((uint16_t)(sizeof(ip) + s->n)),
		.saddr = from->s_addr,
		.daddr = to->s_addr,
	};

	set_checksum(from, to, sizeof(*from), s);
	return send_raw(AF_INET, &ip, sizeof(ip), s, &sin, sizeof(sin));
}

static int send6(const struct in6_addr *from, const struct in6_addr *to,
		 struct segment *s)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6,
				     .sin6_addr = *to };
	struct ip6_hdr ip = { .ip6_src = *from, .ip6_dst = *to };

	ip.ip6_flow = htonl(6u << 28);
	ip.ip6_plen = htons((uint16_t)s->n);
	ip.ip6_nxt = s->protocol;
	ip.ip6_hlim = SPOOF_TTL;
	set_checksum(from, to, sizeof(*from), s);
	return send_raw(AF_INET6, &ip, sizeof(ip), s, &sin6, sizeof(sin6));
}

/* The last four bytes of a v4-mapped address are the address. */
static struct in_addr unmap(const struct in6_addr *a)
{
	struct in_addr in;

	memcpy(&in, &a->s6_addr[12], sizeof(in));
	return in;
}

static int send_segment(const void *from, const void *to, struct segment *s)
{
	const struct sockaddr_in *f = from, *t = to;
	const struct sockaddr_in6 *f6 = from, *t6 = to;
	struct in_addr f4, t4;

	if (f->sin_family == AF_INET)
		return send4(&f->sin_addr, &t->sin_addr, s);
	if (!IN6_IS_ADDR_V4MAPPED(&f6->sin6_addr))
		return send6(&f6->sin6_addr, &t6->sin6_addr, s);
	f4 = unmap(&f6->sin6_addr);
	t4 = unmap(&t6->sin6_addr);
	return send4(&f4, &t4, s);
}

/* n: size of the header with its options. */
static int send_tcp(const void *from, const void *to, struct tcphdr *tcp,
		    size_t n, struct error *err)
{
	/* Ports are at the same place in both families. */
	const struct sockaddr_in *f = from, *t = to;
	struct segment s = { IPPROTO_TCP, n, (void *)tcp,
			     offsetof(struct tcphdr, check) };
	int r;

	tcp->source = f->sin_port;
	tcp->dest = t->sin_port;
	tcp->doff = (uint16_t)(n / 4) & 0xf;
	tcp->ack = 1;
	r = send_segment(from, to, &s);
	return r < 0 ? error_sys(err, r, "raw TCP segment") : 0;
}

int spoof_tcp(const Fds__Inet *m, uint32_t seq, uint32_t ack, uint16_t window,
	      bool fin, struct error *err)
{
	struct tcphdr tcp = {
		.seq = htonl(seq),
		.ack_seq = htonl(ack),
		.fin = fin,
		.window = htons(window),
	};

	return send_tcp(m->peer.data, m->local.data, &tcp, sizeof(tcp), err);
}

int spoof_echo(const Fds__Inet *m, uint32_t seq, uint32_t ack, uint16_t window,
	       uint32_t echo, struct error *err)
{
	struct {
		struct tcphdr tcp;
		uint8_t fill[2], kind, length;
		uint32_t clock, echo;
	} segment = {
		.tcp = { .seq = htonl(seq),
			 .ack_seq = htonl(ack),
			 .window = htons(window) },
		.fill = { TCPOPT_NOOP, TCPOPT_NOOP },
		.kind = TCPOPT_TS,
		.length = 10,
		.echo = htonl(echo),
	};

	return send_tcp(m->peer.data, m->local.data, &segment.tcp,
			sizeof(segment), err);
}

int spoof_ack(const Fds__Inet *m, uint32_t seq, uint32_t ack, uint16_t window,
	      struct error *err)
{
	struct tcphdr tcp = {
		.seq = htonl(seq),
		.ack_seq = htonl(ack),
		.window = htons(window),
	};

	return send_tcp(m->local.data, m->peer.data, &tcp, sizeof(tcp), err);
}

int spoof_udp(const void *from, const void *to, const ProtobufCBinaryData *data,
	      struct error *err)
{
	const struct sockaddr_in *f = from, *t = to;
	struct udphdr udp = { .source = f->sin_port, .dest = t->sin_port };
	struct segment s = { IPPROTO_UDP, sizeof(udp) + data->len, NULL,
			     offsetof(struct udphdr, check) };
	int r;

	if (s.n > UINT16_MAX - sizeof(struct iphdr))
		return error_set(err, -EMSGSIZE, "datagram too large");
	udp.len = htons((uint16_t)s.n);
	s.data = xmalloc(s.n);
	memcpy(s.data, &udp, sizeof(udp));
	if (data->len)
		memcpy(s.data + sizeof(udp), data->data, data->len);
	r = send_segment(from, to, &s);
	free(s.data);
	return r < 0 ? error_sys(err, r, "raw datagram on loopback") : 0;
}
