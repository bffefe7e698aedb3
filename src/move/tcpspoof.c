/*
 * tcpspoof.c - segments that seem to come from the peer
 */
#include "move/tcpspoof.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <string.h>
#include <sys/socket.h>

#include "core/io.h"
#include "move/tcpcompat.h"

#define SPOOF_TTL 255 /* whatever IP_MINTTL asks */

struct packet4 {
	struct iphdr ip;
	struct tcphdr tcp;
};

struct packet6 {
	struct ip6_hdr ip;
	struct tcphdr tcp;
};

static uint32_t add(uint32_t sum, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i + 1 < n; i += 2)
		sum += (uint32_t)b[i] << 8 | b[i + 1];
	return sum;
}

/* RFC 9293 §3.1: over addresses, protocol, length and the segment. */
static uint16_t checksum(const void *src, const void *dst, size_t n,
			 const struct tcphdr *tcp)
{
	uint32_t sum = IPPROTO_TCP + sizeof(*tcp);

	sum = add(sum, src, n);
	sum = add(sum, dst, n);
	sum = add(sum, tcp, sizeof(*tcp));
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static int send_raw(int family, const void *p, size_t n,
		    const struct sockaddr *to, socklen_t len)
{
	fd_auto fd = socket(family, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);

	if (fd < 0)
		return -errno;
	return sendto(fd, p, n, 0, to, len) < 0 ? -errno : 0;
}

static int send4(const struct in_addr *from, const struct in_addr *to,
		 struct tcphdr *tcp)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr = *to };
	struct packet4 p = {
		.ip = { .version = 4,
			.ihl = 5,
			.ttl = SPOOF_TTL,
			.protocol = IPPROTO_TCP,
			.tot_len = htons(sizeof(p)),
			.saddr = from->s_addr,
			.daddr = to->s_addr },
	};

	tcp->check = checksum(from, to, sizeof(*from), tcp);
	p.tcp = *tcp;
	return send_raw(AF_INET, &p, sizeof(p), (struct sockaddr *)&sin,
			sizeof(sin));
}

static int send6(const struct in6_addr *from, const struct in6_addr *to,
		 struct tcphdr *tcp)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6,
				     .sin6_addr = *to };
	struct packet6 p = {
		.ip = { .ip6_src = *from, .ip6_dst = *to },
	};

	p.ip.ip6_flow = htonl(6u << 28);
	p.ip.ip6_plen = htons(sizeof(*tcp));
	p.ip.ip6_nxt = IPPROTO_TCP;
	p.ip.ip6_hlim = SPOOF_TTL;
	tcp->check = checksum(from, to, sizeof(*from), tcp);
	p.tcp = *tcp;
	return send_raw(AF_INET6, &p, sizeof(p), (struct sockaddr *)&sin6,
			sizeof(sin6));
}

/* The last four bytes of a v4-mapped address are the address. */
static struct in_addr unmap(const struct in6_addr *a)
{
	struct in_addr in;

	memcpy(&in, &a->s6_addr[12], sizeof(in));
	return in;
}

int tcpspoof_send(const Fds__Inet *m, uint32_t seq, uint32_t ack,
		  uint16_t window, bool fin, struct error *err)
{
	const struct sockaddr_in *from = (void *)m->peer.data;
	const struct sockaddr_in *to = (void *)m->local.data;
	const struct sockaddr_in6 *from6 = (void *)m->peer.data;
	const struct sockaddr_in6 *to6 = (void *)m->local.data;
	struct in_addr from4, to4;
	struct tcphdr tcp = {
		.source = from->sin_port,
		.dest = to->sin_port,
		.seq = htonl(seq),
		.ack_seq = htonl(ack),
		.doff = 5,
		.ack = 1,
		.fin = fin,
		.window = htons(window),
	};
	int r;

	if (from->sin_family == AF_INET) {
		r = send4(&from->sin_addr, &to->sin_addr, &tcp);
	} else if (IN6_IS_ADDR_V4MAPPED(&from6->sin6_addr)) {
		from4 = unmap(&from6->sin6_addr);
		to4 = unmap(&to6->sin6_addr);
		r = send4(&from4, &to4, &tcp);
	} else {
		r = send6(&from6->sin6_addr, &to6->sin6_addr, &tcp);
	}
	return r < 0 ? error_sys(err, r, "raw segment on loopback") : 0;
}
