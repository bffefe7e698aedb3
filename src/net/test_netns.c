/*
 * test_netns.c - the calls of net.h against the kernel
 *
 * In network namespaces of its own below a user namespace of its own, so that
 * it needs no privilege and touches nothing.  Skipped where that is forbidden.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/io.h"
#include "net/fast_path.h"
#include "net/request.h"
#include "net/share.h"

#define PORT 4242

/* A namespace, and a socket that works in it. */
struct space {
	int fd;
	struct net *net;
};

static struct in_addr ip(const char *text)
{
	struct in_addr a;

	assert_int_equal(inet_pton(AF_INET, text, &a), 1);
	return a;
}

static void space_open(struct space *s)
{
	fd_auto home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct net_link lo;

	assert_int_equal(unshare(CLONE_NEWNET), 0);
	s->fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	assert_true(s->fd >= 0);
	assert_int_equal(setns(home, CLONE_NEWNET), 0);
	assert_int_equal(net_open_at(s->fd, &s->net, NULL), 0);
	assert_int_equal(net_link_find(s->net, "lo", &lo, NULL), 0);
	assert_int_equal(net_link_up(s->net, lo.index, true, NULL), 0);
}

static void space_close(struct space *s)
{
	net_close(s->net);
	close(s->fd);
}

/* A pair from a to b, up, with these addresses; returns the index in a. */
static int cable(struct space *a, const char *a_name, const char *a_ip,
		 struct space *b, const char *b_name, const char *b_ip)
{
	struct net_veth_end ea = { .name = a_name, .netns = -1 };
	struct net_veth_end eb = { .name = b_name, .netns = b->fd };
	struct net_link link;
	int index = net_veth_create(a->net, &ea, &eb, 0, NULL);

	assert_true(index > 0);
	assert_int_equal(net_link_find(b->net, b_name, &link, NULL), 0);
	assert_int_equal(net_link_up(a->net, index, true, NULL), 0);
	assert_int_equal(net_link_up(b->net, link.index, true, NULL), 0);
	if (a_ip)
		assert_int_equal(
			net_address_put(a->net, index, ip(a_ip), 24, NULL), 0);
	if (b_ip)
		assert_int_equal(
			net_address_put(b->net, link.index, ip(b_ip), 24, NULL),
			0);
	return index;
}

static int make_udp(void *arg, struct error *err)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

/* A socket in s that datagrams to `to` are for. */
static int hears(struct space *s, const char *to)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr = ip(to),
	};
	int fd = net_visit(s->fd, make_udp, NULL, NULL);

	assert_int_equal(bind(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	return fd;
}

/*
 * Does a datagram from a reach `to`, which b has?  Waits long enough only
 * for what is to arrive; `silence` is looked for a short while.
 */
static bool reaches(struct space *a, struct space *b, const char *to,
		    bool silence)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr = ip(to),
	};
	fd_auto from = net_visit(a->fd, make_udp, NULL, NULL);
	fd_auto at = hears(b, to);
	struct pollfd p[] = { { .fd = at, .events = POLLIN },
			      { .fd = from, .events = 0 } };
	int n = 0;

	assert_int_equal(connect(from, (struct sockaddr *)&sin, sizeof(sin)),
			 0);
	for (int i = 0; i < (silence ? 3 : 600) && !n; i++) {
		/* Neither an unreachable nor a refusal may ever come back. */
		assert_int_equal(send(from, "x", 1, 0), 1);
		n = poll(p, 2, 100);
		assert_false(p[1].revents);
	}
	return n;
}

static void links(void **state)
{
	static const uint8_t mac[6] = { 2, 0x53, 1, 2, 3, 4 };
	struct net_veth_end ea = { .name = "left", .mac = mac, .netns = -1 };
	struct net_veth_end eb = { .name = "right", .netns = -1 };
	struct error err = ERROR_INIT;
	struct net_link link, other;
	struct space a, b;
	int index;

	space_open(&a);
	space_open(&b);
	index = net_veth_create(a.net, &ea, &eb, 1400, &err);
	assert_true(index > 0);
	assert_int_equal(net_veth_create(a.net, &ea, &eb, 0, &err), -EEXIST);
	assert_true(strstr(err.text, "left"));
	assert_int_equal(net_link_find(a.net, "left", &link, NULL), 0);
	assert_int_equal(link.index, index);
	assert_memory_equal(link.mac, mac, 6);
	assert_int_equal(link.mtu, 1400);
	assert_false(link.up);
	assert_int_equal(net_link_get(a.net, link.peer, &other, NULL), 0);
	assert_string_equal(other.name, "right");

	assert_int_equal(net_link_up(a.net, index, true, NULL), 0);
	assert_int_equal(net_link_get(a.net, index, &link, NULL), 0);
	assert_true(link.up);

	assert_int_equal(net_link_delete(a.net, index, NULL), 0);
	assert_int_equal(net_link_delete(a.net, index, NULL), 0);
	assert_int_equal(net_link_find(a.net, "right", &other, NULL), -ENODEV);
	assert_int_equal(
		net_link_find(a.net, "alinknamethatistoolong", &link, NULL),
		-ENODEV);
	space_close(&a);
	space_close(&b);
}

/* What a visit to its namespace reads in /proc/sys/net/ipv4/conf/v0. */
static int read_conf(void *arg, struct error *err)
{
	char path[64], *text;
	int value;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/conf/v0/%s",
		 (const char *)arg);
	if (io_read_file(AT_FDCWD, path, 16, &text) < 0)
		return -EIO;
	value = (int)strtol(text, NULL, 10);
	free(text);
	return value;
}

static int write_strict(void *arg, struct error *err)
{
	return io_write_file(AT_FDCWD, "/proc/sys/net/ipv4/conf/v0/rp_filter",
			     "1");
}

static void forwarding(void **state)
{
	struct space a, b;
	struct net_link link;
	int index;

	(void)state;
	space_open(&a);
	space_open(&b);
	index = cable(&a, "v0", NULL, &b, "v1", NULL);
	assert_int_equal(net_link_up(a.net, index, false, NULL), 0);
	assert_int_equal(net_visit(a.fd, write_strict, NULL, NULL), 0);
	assert_int_equal(net_link_up_forwarding(a.net, index, NULL), 0);
	assert_int_equal(net_link_get(a.net, index, &link, NULL), 0);
	assert_true(link.up);
	assert_int_equal(net_visit(a.fd, read_conf, (void *)"forwarding", NULL),
			 1);
	assert_int_equal(net_visit(a.fd, read_conf, (void *)"rp_filter", NULL),
			 0);
	assert_true(net_link_up_forwarding(a.net, 4711, NULL) < 0);
	space_close(&a);
	space_close(&b);
}

static void bridge_port(void **state)
{
	struct space lan, a, b;
	int br, pa, pb;

	space_open(&lan);
	space_open(&a);
	space_open(&b);
	br = net_bridge_create(lan.net, "br0", NULL);
	assert_true(br > 0);
	assert_int_equal(net_link_up(lan.net, br, true, NULL), 0);
	pa = cable(&lan, "a", NULL, &a, "eth0", "10.1.0.1");
	pb = cable(&lan, "b", NULL, &b, "eth0", "10.1.0.2");
	assert_int_equal(net_link_set_master(lan.net, pa, br, NULL), 0);
	assert_int_equal(net_link_set_master(lan.net, pb, br, NULL), 0);
	assert_true(reaches(&a, &b, "10.1.0.2", false));
	assert_int_equal(net_port_open(lan.net, pb, false, NULL), 0);
	assert_false(reaches(&a, &b, "10.1.0.2", true));
	assert_int_equal(net_port_open(lan.net, pb, true, NULL), 0);
	assert_true(reaches(&a, &b, "10.1.0.2", false));
	space_close(&a);
	space_close(&b);
	space_close(&lan);
}

static void routes(void **state)
{
	struct net_route route = { .dst = ip("10.9.0.7"), .prefix = 32 };
	struct space a, b;

	space_open(&a);
	space_open(&b);
	route.index = cable(&a, "eth0", "10.1.0.1", &b, "eth0", "10.1.0.2");
	route.via = ip("10.1.0.2");
	assert_int_equal(net_route_put(a.net, &route, NULL), 0);
	assert_int_equal(net_route_put(a.net, &route, NULL), 0);
	assert_int_equal(net_address_put(b.net, 1, ip("10.9.0.7"), 32, NULL),
			 0);
	assert_true(reaches(&a, &b, "10.9.0.7", false));
	assert_int_equal(net_route_delete(a.net, &route, NULL), 0);
	assert_int_equal(net_route_delete(a.net, &route, NULL), 0);
	space_close(&a);
	space_close(&b);
}

/* Of the many reasons for EINVAL the kernel tells which it is. */
static void the_kernels_hint(void **state)
{
	struct net_route route = { .dst = ip("10.9.0.7"), .prefix = 32 };
	struct error err;
	struct space a;

	space_open(&a);
	route.via = ip("10.1.0.2"); /* through no link */
	assert_true(net_route_put(a.net, &route, &err) < 0);
	assert_non_null(strstr(err.text, "(Nexthop "));
	space_close(&a);
}

/* a - r - c: r forwards to c, and has it fall into a hole, and back again. */
static void blackhole(void **state)
{
	struct net_route hole = { .dst = ip("10.2.0.2"), .prefix = 32 };
	struct net_route back = { .prefix = 0 };
	struct net_route to = { .dst = ip("10.2.0.0"), .prefix = 24 };
	struct space a, r, c;
	struct net_link eth0;

	space_open(&a);
	space_open(&r);
	space_open(&c);
	cable(&r, "a", "10.1.0.2", &a, "eth0", "10.1.0.1");
	cable(&r, "c", "10.2.0.1", &c, "eth0", "10.2.0.2");
	assert_int_equal(setns(r.fd, CLONE_NEWNET), 0);
	assert_int_equal(net_sysctl_link("conf", "a", "forwarding", "1"), 0);
	assert_int_equal(net_sysctl_link("conf", "c", "forwarding", "1"), 0);
	assert_int_equal(net_sysctl_link("conf", "nolink", "forwarding", "1"),
			 -ENOENT);
	assert_int_equal(net_link_find(a.net, "eth0", &eth0, NULL), 0);
	to.index = eth0.index;
	to.via = ip("10.1.0.2");
	assert_int_equal(net_route_put(a.net, &to, NULL), 0);
	assert_int_equal(net_link_find(c.net, "eth0", &eth0, NULL), 0);
	back.index = eth0.index;
	back.via = ip("10.2.0.1");
	assert_int_equal(net_route_put(c.net, &back, NULL), 0);
	assert_true(reaches(&a, &c, "10.2.0.2", false));
	hole.blackhole = true;
	assert_int_equal(net_route_put(r.net, &hole, NULL), 0);
	assert_false(reaches(&a, &c, "10.2.0.2", true));
	assert_int_equal(net_route_delete(r.net, &hole, NULL), 0);
	assert_true(reaches(&a, &c, "10.2.0.2", false));
	space_close(&a);
	space_close(&r);
	space_close(&c);
}

static void neighbours(void **state)
{
	static const uint8_t nobody[6] = { 2, 0x53 };
	struct net_link there;
	struct space a, b;
	int here;

	space_open(&a);
	space_open(&b);
	here = cable(&a, "eth0", "10.1.0.1", &b, "eth0", "10.1.0.2");
	assert_int_equal(net_link_find(b.net, "eth0", &there, NULL), 0);
	assert_int_equal(
		net_neighbour_put(a.net, here, ip("10.1.0.2"), nobody, NULL),
		0);
	assert_false(reaches(&a, &b, "10.1.0.2", true));
	assert_int_equal(
		net_neighbour_put(a.net, here, ip("10.1.0.2"), there.mac, NULL),
		0);
	assert_true(reaches(&a, &b, "10.1.0.2", false));
	space_close(&a);
	space_close(&b);
}

/* An announcement turns a known neighbour to another place at once. */
static void announcement(void **state)
{
	struct space lan, a, b, c;
	struct net_link eth0;
	fd_auto packet = -1, still = -1;
	int br, ports[3];

	space_open(&lan);
	space_open(&a);
	space_open(&b);
	space_open(&c);
	br = net_bridge_create(lan.net, "br0", NULL);
	assert_int_equal(net_link_up(lan.net, br, true, NULL), 0);
	ports[0] = cable(&lan, "a", NULL, &a, "eth0", "10.1.0.1");
	ports[1] = cable(&lan, "b", NULL, &b, "eth0", "10.1.0.9");
	ports[2] = cable(&lan, "c", NULL, &c, "eth0", "10.1.0.3");
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			net_link_set_master(lan.net, ports[i], br, NULL), 0);
	assert_true(reaches(&a, &b, "10.1.0.9", false));
	/* It is said once, and a new port that is not yet up would drop it. */
	assert_true(reaches(&c, &a, "10.1.0.1", false));
	assert_int_equal(net_link_find(c.net, "eth0", &eth0, NULL), 0);
	assert_int_equal(
		net_address_put(c.net, eth0.index, ip("10.1.0.9"), 32, NULL),
		0);
	assert_true(reaches(&a, &b, "10.1.0.9", false));
	/* Until a has heard of it, b takes what it sends. */
	still = hears(&b, "10.1.0.9");
	packet = net_packet_open_at(c.fd, NULL);
	assert_true(packet >= 0);
	assert_int_equal(net_arp_announce(packet, eth0.index, ip("10.1.0.9"),
					  eth0.mac, NULL),
			 0);
	assert_true(reaches(&a, &c, "10.1.0.9", false));
	space_close(&a);
	space_close(&b);
	space_close(&c);
	space_close(&lan);
}

/* A host that forwards between a guest's link and its uplink. */
struct forwarder {
	struct space guest, host, far;
};

static void forwarder_open(struct forwarder *f)
{
	struct net_route out = { .via = ip("10.1.0.1") };
	int up, index;
	struct net_link link;

	space_open(&f->guest);
	space_open(&f->host);
	space_open(&f->far);
	index = cable(&f->host, "stg1x0", "10.1.0.1", &f->guest, "eth0",
		      "10.1.0.2");
	up = cable(&f->host, "up", "10.2.0.1", &f->far, "eth0", "10.2.0.2");
	assert_int_equal(net_link_up_forwarding(f->host.net, index, NULL), 0);
	assert_int_equal(net_link_up_forwarding(f->host.net, up, NULL), 0);
	assert_int_equal(net_link_find(f->guest.net, "eth0", &link, NULL), 0);
	out.index = link.index;
	assert_int_equal(net_route_put(f->guest.net, &out, NULL), 0);
	out.via = ip("10.2.0.1");
	assert_int_equal(net_link_find(f->far.net, "eth0", &link, NULL), 0);
	out.index = link.index;
	assert_int_equal(net_route_put(f->far.net, &out, NULL), 0);
}

/* Bytes that arrive of 5 MB sent at once, in datagrams that are read one by one. */
static size_t flood(struct space *from, struct space *to, const char *address)
{
	static char data[50000];
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr = ip(address),
	};
	fd_auto out = net_visit(from->fd, make_udp, NULL, NULL);
	fd_auto in = hears(to, address);
	size_t sum = 0;

	assert_int_equal(connect(out, (struct sockaddr *)&sin, sizeof(sin)), 0);
	for (int i = 0; i < 100; i++) {
		struct pollfd p = { .fd = in, .events = POLLIN };

		assert_int_equal(send(out, data, sizeof(data), 0),
				 sizeof(data));
		if (poll(&p, 1, 0) > 0)
			sum += (size_t)recv(in, data, sizeof(data), 0);
	}
	return sum;
}

static int set_share(void *arg, struct error *err)
{
	struct net_share **both = arg;

	return net_share_set(both[0], both[1], err);
}

static int find_hooks(void *arg, struct error *err)
{
	return net_hooks_find((int)if_nametoindex("up"), arg, err);
}

static void a_share_of_the_uplink(void **state)
{
	struct forwarder f;
	struct net_share share = { .table = "stint-guests.test",
				   .guests = "stg",
				   .uplink = "up",
				   .rate = 1 << 20 };
	struct net_share none = share, other = share;
	struct net_share *set[] = { &share, NULL };
	char what[NET_HOOK_TEXT] = "";
	struct error err;
	int r;

	none.rate = 0;
	other.guests = "sto";
	forwarder_open(&f);
	assert_true(reaches(&f.guest, &f.far, "10.2.0.2", false));
	assert_true(flood(&f.guest, &f.far, "10.2.0.2") > 4000000);
	r = net_visit(f.host.fd, set_share, set, &err);
	if (r == -EOPNOTSUPP || r == -EINVAL || r == -ENOENT) {
		printf("# no nftables here: %s\n", err.text);
		return;
	}
	assert_int_equal(r, 0);
	/* A second's worth and some packets, each way. */
	assert_true(flood(&f.guest, &f.far, "10.2.0.2") < 3000000);
	assert_true(flood(&f.far, &f.guest, "10.1.0.2") < 3000000);
	assert_true(reaches(&f.host, &f.far, "10.2.0.2", false));
	assert_int_equal(net_visit(f.host.fd, find_hooks, what, NULL), 1);
	assert_non_null(strstr(what, "stint-guests.test"));

	/* Removed by somebody, it comes again; wanted no more, it goes. */
	set[0] = &none;
	assert_int_equal(net_visit(f.host.fd, set_share, set, &err), 0);
	assert_true(flood(&f.guest, &f.far, "10.2.0.2") > 4000000);
	set[0] = set[1] = &share;
	assert_int_equal(net_visit(f.host.fd, set_share, set, &err), 0);
	assert_int_equal(net_visit(f.host.fd, find_hooks, what, NULL), 1);
	assert_int_equal(net_visit(f.host.fd, set_share, set, &err), 0);
	set[0] = &other;
	set[1] = NULL;
	assert_int_equal(net_visit(f.host.fd, set_share, set, &err), 0);
	assert_true(flood(&f.guest, &f.far, "10.2.0.2") > 4000000);
	set[0] = &none;
	assert_int_equal(net_visit(f.host.fd, set_share, set, &err), 0);
	assert_int_not_equal(net_visit(f.host.fd, find_hooks, what, NULL), 1);
	space_close(&f.guest);
	space_close(&f.host);
	space_close(&f.far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links),
		cmocka_unit_test(forwarding),
		cmocka_unit_test(bridge_port),
		cmocka_unit_test(routes),
		cmocka_unit_test(blackhole),
		cmocka_unit_test(the_kernels_hint),
		cmocka_unit_test(neighbours),
		cmocka_unit_test(announcement),
		cmocka_unit_test(a_share_of_the_uplink),
	};

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0) {
		printf("1..0 # SKIP no user namespaces here\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
