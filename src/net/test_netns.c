/*
 * test_netns.c - the calls of net.h against the kernel
 *
 * In network namespaces of its own below a user namespace of its own, so that
 * it needs no privilege and touches nothing.  Skipped where that is forbidden.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/io.h"
#include "net/request.h"
#include "net/testing.h"

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

/* Read a value of /proc/sys/net/ipv4/conf/v0 from within the namespace. */
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

/* The kernel says which of the many reasons for EINVAL it was. */
static void the_kernels_hint(void **state)
{
	struct net_route route = { .dst = ip("10.9.0.7"), .prefix = 32 };
	struct error err;
	struct space a;

	space_open(&a);
	route.via = ip("10.1.0.2"); /* which is reached by no link */
	assert_true(net_route_put(a.net, &route, &err) < 0);
	assert_non_null(strstr(err.text, "(Nexthop "));
	space_close(&a);
}

/*
 * a - r - c: r forwards to c; then it drops what is for c; then it forwards
 * again.
 */
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

/* An announcement makes a known neighbour point to another place at once. */
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
	/*
	 * It is sent only once, and a new port that is not up yet would drop
	 * it.
	 */
	assert_true(reaches(&c, &a, "10.1.0.1", false));
	assert_int_equal(net_link_find(c.net, "eth0", &eth0, NULL), 0);
	assert_int_equal(
		net_address_put(c.net, eth0.index, ip("10.1.0.9"), 32, NULL),
		0);
	assert_true(reaches(&a, &b, "10.1.0.9", false));
	/* Until a has heard the announcement, b receives what it sends. */
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
	};

	if (!spaces_here())
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
