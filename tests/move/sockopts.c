/*
 * sockopts.c - the options of sockets, one by one
 *
 * Each option of the table gets an odd value on a fresh socket of each kind
 * that takes it; all that getsockopt() then tells of these sockets must stay.
 */
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sys/time.h>
#include <sys/un.h>

#include "check.h"

enum kind { TCP4, TCP6, LISTENER, CONNECTED, UDP4, UDP6, UNIX, NR_KINDS };

/* Sets of kinds of sockets. */
#define ON(kind) (1u << (kind))
#define STREAMS	 (ON(TCP4) | ON(TCP6) | ON(LISTENER) | ON(CONNECTED))
#define UDPS	 (ON(UDP4) | ON(UDP6))
#define INET	 (STREAMS | UDPS)
#define SIX	 (ON(TCP6) | ON(UDP6))
#define ALL	 (INET | ON(UNIX))
#define RECV	 UDPS /* options of what comes with a datagram */

static const struct option {
	unsigned on;
	int level, name, value;
} options[] = {
	{ ALL, SOL_SOCKET, SO_KEEPALIVE, 1 },
	{ UDPS, SOL_SOCKET, SO_BROADCAST, 1 },
	{ STREAMS, SOL_SOCKET, SO_OOBINLINE, 1 },
	{ INET, SOL_SOCKET, SO_PRIORITY, 5 },
	{ ALL, SOL_SOCKET, SO_RCVLOWAT, 7 },
	{ INET, SOL_SOCKET, SO_REUSEADDR, 1 },
	{ UDPS, SOL_SOCKET, SO_REUSEPORT, 1 },
	{ INET, SOL_SOCKET, SO_DONTROUTE, 1 },
	{ INET, SOL_SOCKET, SO_MARK, 77 },
	{ INET, SOL_SOCKET, SO_TIMESTAMPNS, 1 },
	{ UDPS, SOL_SOCKET, SO_NO_CHECK, 1 },
	{ ALL, SOL_SOCKET, SO_MAX_PACING_RATE, 1000000 },
	{ UDPS | ON(UNIX), SOL_SOCKET, SO_PEEK_OFF, 0 },
	{ UDPS | ON(UNIX), SOL_SOCKET, SO_RXQ_OVFL, 1 },
	{ UDPS, SOL_SOCKET, 75, 1 }, /* SO_RCVMARK */
	{ UDPS, SOL_SOCKET, 82, 1 }, /* SO_RCVPRIORITY */
	{ UDPS, SOL_SOCKET, SO_SELECT_ERR_QUEUE, 1 },
	{ ON(UNIX), SOL_SOCKET, SO_PASSCRED, 1 },
	{ ON(UNIX), SOL_SOCKET, 76, 1 }, /* SO_PASSPIDFD */
	{ ON(UNIX), SOL_SOCKET, 83, 0 }, /* SO_PASSRIGHTS */
	{ ALL, SOL_SOCKET, SO_SNDBUF, 30000 },
	{ ALL, SOL_SOCKET, SO_RCVBUF, 40000 },
	{ INET, SOL_IP, IP_TOS, 0x48 },
	{ INET, SOL_IP, IP_TTL, 33 },
	{ INET, SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO },
	{ UDPS, SOL_IP, IP_RECVERR, 1 },
	{ RECV, SOL_IP, IP_PKTINFO, 1 },
	{ RECV, SOL_IP, IP_RECVTTL, 1 },
	{ RECV, SOL_IP, IP_RECVTOS, 1 },
	{ RECV, SOL_IP, IP_RECVOPTS, 1 },
	{ RECV, SOL_IP, IP_RETOPTS, 1 },
	{ RECV, SOL_IP, IP_PASSSEC, 1 },
	{ RECV, SOL_IP, IP_RECVORIGDSTADDR, 1 },
	{ RECV, SOL_IP, IP_CHECKSUM, 1 },
	{ RECV, SOL_IP, IP_RECVFRAGSIZE, 1 },
	{ RECV, SOL_IP, 26, 1 }, /* IP_RECVERR_RFC4884 */
	{ INET, SOL_IP, IP_FREEBIND, 1 },
	{ INET, SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1 },
	{ STREAMS, SOL_IP, IP_MINTTL, 3 },
	{ UDPS, SOL_IP, IP_MULTICAST_TTL, 9 },
	{ UDPS, SOL_IP, IP_MULTICAST_LOOP, 0 },
	{ UDPS, SOL_IP, IP_MULTICAST_ALL, 0 },
	{ SIX, SOL_IPV6, IPV6_V6ONLY, 1 },
	{ SIX, SOL_IPV6, IPV6_UNICAST_HOPS, 17 },
	{ SIX, SOL_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DONT },
	{ SIX, SOL_IPV6, IPV6_TCLASS, 0x20 },
	{ SIX, SOL_IPV6, IPV6_DONTFRAG, 1 },
	{ SIX, SOL_IPV6, IPV6_AUTOFLOWLABEL, 0 },
	{ SIX, SOL_IPV6, IPV6_ADDR_PREFERENCES, 2 }, /* public */
	{ SIX, SOL_IPV6, IPV6_MINHOPCOUNT, 4 },
	{ SIX, SOL_IPV6, 33, 1 }, /* IPV6_FLOWINFO_SEND */
	{ ON(UDP6), SOL_IPV6, IPV6_RECVERR, 1 },
	{ ON(UDP6), SOL_IPV6, IPV6_RECVPKTINFO, 1 },
	{ ON(UDP6), SOL_IPV6, IPV6_RECVHOPLIMIT, 1 },
	{ ON(UDP6), SOL_IPV6, IPV6_RECVTCLASS, 1 },
	{ ON(UDP6), SOL_IPV6, IPV6_RECVHOPOPTS, 1 },
	{ ON(UDP6), SOL_IPV6, IPV6_RECVRTHDR, 1 },
	{ ON(UDP6), SOL_IPV6, IPV6_RECVDSTOPTS, 1 },
	{ ON(UDP6), SOL_IPV6, IPV6_RECVPATHMTU, 1 },
	{ ON(UDP6), SOL_IPV6, IPV6_RECVORIGDSTADDR, 1 },
	{ ON(UDP6), SOL_IPV6, IPV6_RECVFRAGSIZE, 1 },
	{ ON(UDP6), SOL_IPV6, IPV6_2292PKTINFO, 1 },
	{ ON(UDP6), SOL_IPV6, IPV6_2292HOPLIMIT, 1 },
	{ ON(UDP6), SOL_IPV6, 31, 1 }, /* IPV6_RECVERR_RFC4884 */
	{ ON(UDP6), SOL_IPV6, IPV6_MULTICAST_HOPS, 6 },
	{ ON(UDP6), SOL_IPV6, IPV6_MULTICAST_LOOP, 0 },
	{ ON(UDP6), SOL_IPV6, 29, 0 }, /* IPV6_MULTICAST_ALL */
	{ STREAMS, SOL_TCP, TCP_NODELAY, 1 },
	{ STREAMS, SOL_TCP, TCP_KEEPIDLE, 111 },
	{ STREAMS, SOL_TCP, TCP_KEEPINTVL, 22 },
	{ STREAMS, SOL_TCP, TCP_KEEPCNT, 4 },
	{ STREAMS, SOL_TCP, TCP_SYNCNT, 3 },
	{ STREAMS, SOL_TCP, TCP_LINGER2, 15 },
	{ STREAMS, SOL_TCP, TCP_USER_TIMEOUT, 90000 },
	{ STREAMS, SOL_TCP, TCP_NOTSENT_LOWAT, 16384 },
	{ STREAMS, SOL_TCP, 36, 1 }, /* TCP_INQ */
	{ STREAMS, SOL_TCP, TCP_THIN_LINEAR_TIMEOUTS, 1 },
	{ ON(LISTENER), SOL_TCP, TCP_DEFER_ACCEPT, 3 },
	{ ON(LISTENER), SOL_TCP, TCP_FASTOPEN, 5 },
	{ ON(LISTENER), SOL_TCP, TCP_SAVE_SYN, 1 },
	{ ON(TCP4) | ON(TCP6) | ON(LISTENER), SOL_TCP, TCP_MAXSEG, 1000 },
	{ UDPS, SOL_UDP, 101, 1 },    /* UDP_NO_CHECK6_TX */
	{ UDPS, SOL_UDP, 103, 1200 }, /* UDP_SEGMENT */
	{ UDPS, SOL_UDP, 104, 1 },    /* UDP_GRO */
};
#define NR (sizeof(options) / sizeof(*options))

/* Options that are not ints; each on kinds that can have it. */
static const struct timeval soon = { 3, 250000 };
static const struct linger linger = { 1, 7 };
static const char router_alert[4] = { (char)0x94, 4, 0, 0 };
static const char padding[8] = { 0, 0, 1, 4, 0, 0, 0, 0 };
static const struct big {
	unsigned on;
	int level, name;
	const void *value;
	socklen_t size;
} bigs[] = {
	{ ALL, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon) },
	{ ALL, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon) },
	{ ALL, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger) },
	{ INET, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3 },
	{ ON(UDP4), SOL_IP, IP_OPTIONS, router_alert, 4 },
	{ ON(UDP6), SOL_IPV6, IPV6_DSTOPTS, padding, 8 },
	{ STREAMS, SOL_TCP, TCP_CONGESTION, "reno", 4 },
};
#define NR_BIG (sizeof(bigs) / sizeof(*bigs))

static int sock[NR_KINDS];
static const char *const names[] = { "TCP", "TCP6", "listener", "connection",
				     "UDP", "UDP6", "unix" };

/* Read once: every option below these numbers that there is. */
static const int levels[] = { SOL_SOCKET, SOL_IP, SOL_IPV6, SOL_TCP, SOL_UDP };
#define NR_LEVELS 5
#define NAMES	  110
struct reading {
	socklen_t size; /* 0: there is none */
	unsigned char value[64];
};
static struct reading before[NR_KINDS][NR_LEVELS][NAMES];

/* Options that are no settings: the kernel counts them or makes them up. */
static const int not_settings[][2] = {
	{ SOL_SOCKET, SO_ERROR },
	{ SOL_SOCKET, SO_PEERCRED },
	{ SOL_SOCKET, SO_MEMINFO },
	{ SOL_SOCKET, SO_INCOMING_NAPI_ID },
	{ SOL_SOCKET, SO_COOKIE },
	{ SOL_SOCKET, SO_INCOMING_CPU },
	{ SOL_SOCKET, 77 /* PEERPIDFD */ },
	{ SOL_IP, IP_MTU },
	{ SOL_TCP, TCP_INFO },
	{ SOL_TCP, TCP_WINDOW_CLAMP },
	{ SOL_TCP, TCP_QUICKACK },
	{ SOL_TCP, TCP_TIMESTAMP },
	{ SOL_TCP, TCP_CC_INFO },
	{ SOL_TCP, TCP_QUEUE_SEQ },
	{ SOL_TCP, TCP_ZEROCOPY_RECEIVE },
};

static bool is_no_setting(int kind, int level, int name)
{
	if (kind == CONNECTED && level == SOL_TCP && name == TCP_MAXSEG)
		return true; /* what it came to */
	for (size_t i = 0; i < sizeof(not_settings) / sizeof(*not_settings);
	     i++)
		if (not_settings[i][0] == level && not_settings[i][1] == name)
			return true;
	return false;
}

static struct reading read_option(int kind, int level, int name)
{
	struct reading r = { .size = sizeof(r.value) };

	if (is_no_setting(kind, level, name) ||
	    getsockopt(sock[kind], level, name, r.value, &r.size) < 0)
		r.size = 0;
	return r;
}

static void for_each(void (*fn)(int kind, int level, int name,
				struct reading *b))
{
	for (int kind = 0; kind < NR_KINDS; kind++)
		for (int l = 0; l < NR_LEVELS; l++)
			for (int name = 1; name < NAMES; name++)
				fn(kind, levels[l], name,
				   &before[kind][l][name]);
}

static void note(int kind, int level, int name, struct reading *b)
{
	*b = read_option(kind, level, name);
}

static void compare(int kind, int level, int name, struct reading *b)
{
	struct reading now = read_option(kind, level, name);

	CHECK(now.size == b->size && !memcmp(now.value, b->value, now.size),
	      "%s option %d/%d: was %#x (%u bytes), is %#x (%u)", names[kind],
	      level, name, *(unsigned *)(void *)b->value, b->size,
	      *(unsigned *)(void *)now.value, now.size);
}

static void make_sockets(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int l;

	sock[TCP4] = socket(AF_INET, SOCK_STREAM, 0);
	sock[TCP6] = socket(AF_INET6, SOCK_STREAM, 0);
	sock[LISTENER] = check_listen(&a);
	l = check_listen(&a);
	sock[CONNECTED] = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(connect(sock[CONNECTED], (void *)&a, sizeof(a)) == 0);
	CHECK(accept(l, NULL, NULL) >= 0 && close(l) == 0);
	sock[UDP4] = socket(AF_INET, SOCK_DGRAM, 0);
	sock[UDP6] = socket(AF_INET6, SOCK_DGRAM, 0);
	sock[UNIX] = socket(AF_UNIX, SOCK_STREAM, 0);
}

/* Kernels differ in the options that they know; most must be there. */
static void set_options(void)
{
	unsigned set = 0;

	for (int kind = 0; kind < NR_KINDS; kind++) {
		for (size_t i = 0; i < NR; i++)
			if (options[i].on & ON(kind))
				set += setsockopt(sock[kind], options[i].level,
						  options[i].name,
						  &options[i].value, 4) == 0;
		for (size_t i = 0; i < NR_BIG; i++)
			if (bigs[i].on & ON(kind))
				set += setsockopt(sock[kind], bigs[i].level,
						  bigs[i].name, bigs[i].value,
						  bigs[i].size) == 0;
	}
	CHECK(set > 150, "only %u could be set", set);
}

int main(void)
{
	make_sockets();
	set_options();
	for_each(note);
	check_ready();
	if (check_sabotaged())
		before[UDP6][1][IP_TTL].value[0]++;
	while (check_running())
		check_nap();
	for_each(compare);
	return check_pass();
}
