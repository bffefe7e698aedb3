/*
 * multicast.c - a socket receives the groups that it has joined, and no others
 *
 * One has joined a group as most programs do, one but for one source, one for
 * two sources alone, one a group of IPv6; one has joined nothing.  Where the
 * harness moves it the interface has another number on each host.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>

#include "check.h"

enum { PLAIN, EXCLUDES, INCLUDES, SIX, STRANGER, NR };

static int sock[NR], out;
static uint16_t port;
static char name[IF_NAMESIZE] = "lo";

/*
 * The interface between the two hosts. If there are other interfaces, the
 * network is the machine's own, and such an interface belongs to another test,
 * which takes it away.
 */
static void find_interface(void)
{
	struct ifaddrs *all;
	bool machine = false;

	CHECK(getifaddrs(&all) == 0);
	for (struct ifaddrs *a = all; a; a = a->ifa_next) {
		struct sockaddr_in *in = (void *)a->ifa_addr;

		if (!in || in->sin_family != AF_INET ||
		    a->ifa_flags & IFF_LOOPBACK)
			continue;
		if (ntohl(in->sin_addr.s_addr) >> 8 == 0x0a4d00)
			snprintf(name, sizeof(name), "%s", a->ifa_name);
		else
			machine = true;
	}
	freeifaddrs(all);
	if (machine)
		snprintf(name, sizeof(name), "lo");
}

static struct sockaddr_storage v4(const char *text)
{
	struct sockaddr_storage ret = { .ss_family = AF_INET };

	CHECK(inet_pton(AF_INET, text,
			&((struct sockaddr_in *)&ret)->sin_addr) == 1);
	return ret;
}

static struct sockaddr_storage v6(const char *text)
{
	struct sockaddr_storage ret = { .ss_family = AF_INET6 };

	CHECK(inet_pton(AF_INET6, text,
			&((struct sockaddr_in6 *)&ret)->sin6_addr) == 1);
	return ret;
}

static void join(int fd, int level, const char *on,
		 struct sockaddr_storage group)
{
	struct group_req req = { if_nametoindex(on), group };

	CHECK(setsockopt(fd, level, MCAST_JOIN_GROUP, &req, sizeof(req)) == 0);
}

static void source(int fd, int how, const char *group, const char *from)
{
	struct group_source_req req = { if_nametoindex("lo"), v4(group),
					v4(from) };

	CHECK(setsockopt(fd, IPPROTO_IP, how, &req, sizeof(req)) == 0);
}

/*
 * What the kernel knows of a membership: its filter mode, and how many sources.
 */
static int asked(int fd, int level, const char *on,
		 struct sockaddr_storage group)
{
	union {
		struct group_filter f;
		char room[GROUP_FILTER_SIZE(4)];
	} u = { .f = { .gf_interface = if_nametoindex(on),
		       .gf_group = group,
		       .gf_numsrc = 4 } };
	socklen_t n = sizeof(u);

	if (getsockopt(fd, level, MCAST_MSFILTER, &u, &n) < 0)
		return -errno;
	return (int)(u.f.gf_fmode == MCAST_INCLUDE ? 100 : 0) +
	       (int)u.f.gf_numsrc;
}

static void make_sockets(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct ip_mreqn from = { .imr_address.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(any);
	int no = 0, yes = 1, six;

	for (int i = 0; i < NR; i++) {
		sock[i] = socket(i == SIX ? AF_INET6 : AF_INET, SOCK_DGRAM, 0);
		CHECK(sock[i] >= 0);
		if (i == SIX)
			continue;
		CHECK(setsockopt(sock[i], SOL_SOCKET, SO_REUSEADDR, &yes, 4) ==
		      0);
		/* else each socket receives the groups of all others */
		CHECK(setsockopt(sock[i], IPPROTO_IP, IP_MULTICAST_ALL, &no,
				 4) == 0);
		any.sin_port = port;
		CHECK(bind(sock[i], (void *)&any, sizeof(any)) == 0);
		CHECK(getsockname(sock[i], (void *)&any, &n) == 0);
		port = any.sin_port;
	}
	out = socket(AF_INET, SOCK_DGRAM, 0);
	CHECK(setsockopt(out, IPPROTO_IP, IP_MULTICAST_IF, &from,
			 sizeof(from)) == 0);
	six = (int)if_nametoindex(name);
	CHECK(setsockopt(sock[SIX], IPPROTO_IPV6, IPV6_MULTICAST_IF, &six, 4) ==
	      0);
}

static void join_all(void)
{
	join(sock[PLAIN], IPPROTO_IP, "lo", v4("239.77.1.1"));
	join(sock[PLAIN], IPPROTO_IP, name, v4("239.77.1.2"));
	join(sock[EXCLUDES], IPPROTO_IP, "lo", v4("239.77.1.1"));
	source(sock[EXCLUDES], MCAST_BLOCK_SOURCE, "239.77.1.1", "192.0.2.1");
	source(sock[INCLUDES], MCAST_JOIN_SOURCE_GROUP, "239.77.1.1",
	       "192.0.2.1");
	source(sock[INCLUDES], MCAST_JOIN_SOURCE_GROUP, "239.77.1.1",
	       "192.0.2.2");
	join(sock[SIX], IPPROTO_IPV6, name, v6("ff15::77:1"));
	join(sock[SIX], IPPROTO_IP, "lo", v4("239.77.1.3"));
}

static void check_asked(void)
{
	int index = 0;
	socklen_t n = sizeof(index);

	CHECK(asked(sock[PLAIN], IPPROTO_IP, "lo", v4("239.77.1.1")) == 0);
	CHECK(asked(sock[PLAIN], IPPROTO_IP, name, v4("239.77.1.2")) == 0);
	CHECK(asked(sock[PLAIN], IPPROTO_IP, "lo", v4("239.77.1.3")) ==
	      -EADDRNOTAVAIL);
	CHECK(asked(sock[EXCLUDES], IPPROTO_IP, "lo", v4("239.77.1.1")) == 1);
	CHECK(asked(sock[INCLUDES], IPPROTO_IP, "lo", v4("239.77.1.1")) == 102);
	CHECK(asked(sock[SIX], IPPROTO_IPV6, name, v6("ff15::77:1")) == 0);
	CHECK(asked(sock[SIX], IPPROTO_IP, "lo", v4("239.77.1.3")) == 0);
	CHECK(asked(sock[STRANGER], IPPROTO_IP, "lo", v4("239.77.1.1")) ==
	      -EADDRNOTAVAIL);
	CHECK(getsockopt(sock[SIX], IPPROTO_IPV6, IPV6_MULTICAST_IF, &index,
			 &n) == 0 &&
		      index == (int)if_nametoindex(name),
	      "interface %d", index);
}

static bool receives(int i, uint64_t want, int patience)
{
	struct pollfd p = { .fd = sock[i], .events = POLLIN };
	uint64_t got = 0;

	if (poll(&p, 1, patience) == 0)
		return false;
	CHECK(recv(sock[i], &got, sizeof(got), 0) == sizeof(got));
	CHECK(got == want, "got %llu", (unsigned long long)got);
	return true;
}

/*
 * Send one datagram to each group; any may be lost, as what is sent during the
 * move is.
 */
static bool exchange(uint64_t n)
{
	struct sockaddr_storage ss = v4("239.77.1.1");
	struct sockaddr_in to = *(struct sockaddr_in *)&ss;

	to.sin_port = port;
	CHECK(sendto(out, &n, sizeof(n), 0, (void *)&to, sizeof(to)) == 8);
	if (!receives(PLAIN, n, 1000) || !receives(EXCLUDES, n, 1000))
		return false;
	CHECK(!receives(INCLUDES, n, 0), "from a source it did not ask for");
	CHECK(!receives(STRANGER, n, 0), "by one that did not join");
	return true;
}

int main(void)
{
	unsigned lost = 0;
	uint64_t n = 0;

	find_interface();
	make_sockets();
	join_all();
	check_asked();
	CHECK(exchange(n));
	check_ready();
	if (check_sabotaged()) {
		close(sock[PLAIN]);
		sock[PLAIN] = sock[STRANGER];
	}
	while (check_running()) {
		lost = exchange(++n) ? 0 : lost + 1;
		CHECK(lost < 3, "nothing comes any more");
		check_asked();
		check_nap();
	}
	CHECK(exchange(++n));
	return check_pass();
}
