/*
 * test_share.c - a share of a host's uplink for its guests (share.h), and who else has
 * hooks there, against the kernel
 */
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "core/io.h"
#include "net/fast_path.h"
#include "net/request.h"
#include "net/share.h"
#include "net/testing.h"

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

/*
 * How many of 5 MB arrive that are sent at once, in datagrams that are read one
 * by one.
 */
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
	/* What a second allows and some packets pass, each way. */
	assert_true(flood(&f.guest, &f.far, "10.2.0.2") < 3000000);
	assert_true(flood(&f.far, &f.guest, "10.1.0.2") < 3000000);
	assert_true(reaches(&f.host, &f.far, "10.2.0.2", false));
	assert_int_equal(net_visit(f.host.fd, find_hooks, what, NULL), 1);
	assert_non_null(strstr(what, "stint-guests.test"));

	/*
	 * Rules that somebody has removed are set again; without a share they
	 * are removed.
	 */
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
		cmocka_unit_test(a_share_of_the_uplink),
	};

	if (!spaces_here())
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
