/* testing.c - network namespaces for tests, see testing.h */
#include "net/testing.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/io.h"
#include "net/request.h"

bool spaces_here(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0)
		return true;
	printf("1..0 # SKIP no user namespaces here\n");
	return false;
}

struct in_addr ip(const char *text)
{
	struct in_addr a;

	assert_int_equal(inet_pton(AF_INET, text, &a), 1);
	return a;
}

void space_open(struct space *s)
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

void space_close(struct space *s)
{
	net_close(s->net);
	close(s->fd);
}

int cable(struct space *a, const char *a_name, const char *a_ip,
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

int make_udp(void *arg, struct error *err)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

int hears(struct space *s, const char *to)
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

bool reaches(struct space *a, struct space *b, const char *to, bool silence)
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
		/*
		 * Neither an "unreachable" nor a "connection refused" may ever
		 * come back.
		 */
		assert_int_equal(send(from, "x", 1, 0), 1);
		n = poll(p, 2, 100);
		assert_false(p[1].revents);
	}
	return n;
}
