/*
 * test_needs.c - which needs of sockets a look finds, what a destination
 * answers, and that each need is told once
 */
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/xalloc.h"
#include "move/sock/needs.h"
#include "move/sock/options.h"

static Fds__Need need_of(int family, int type)
{
	Fds__Need need = FDS__NEED__INIT;

	need.family = family;
	need.type = type;
	return need;
}

static Fds__SockOpt option(int level, int name, const char *value)
{
	Fds__SockOpt o = FDS__SOCK_OPT__INIT;

	o.level = level;
	o.name = name;
	o.value.len = strlen(value);
	o.value.data = (uint8_t *)value;
	return o;
}

static int check_option(int family, int type, Fds__SockOpt o, struct error *err)
{
	Fds__Need need = need_of(family, type);

	need.opt = &o;
	return sock_need_check(&need, err);
}

static void lacking(void **state)
{
	struct error err = ERROR_INIT;
	Fds__SockOpt o = option(SOL_SOCKET, SO_BINDTODEVICE, "nosuch0");

	assert_int_equal(check_option(AF_INET, SOCK_STREAM, o, &err), -ENODEV);
	assert_string_equal(err.text,
			    "the destination has no interface nosuch0");
	o = option(SOL_IP, IP_UNICAST_IF, "");
	o.interface = (char *)"nosuch1";
	assert_int_equal(check_option(AF_INET, SOCK_DGRAM, o, &err), -ENODEV);
	assert_string_equal(err.text,
			    "the destination has no interface nosuch1");
	o = option(SOL_TCP, TCP_CONGESTION, "nosuch");
	assert_int_equal(check_option(AF_INET, SOCK_STREAM, o, &err), -ENOENT);
	assert_non_null(strstr(err.text, "cannot set TCP_CONGESTION of a "
					 "socket: "));
}

static void there(void **state)
{
	struct error err = ERROR_INIT;

	assert_int_equal(check_option(AF_INET, SOCK_STREAM,
				      option(SOL_TCP, TCP_CONGESTION, "reno"),
				      &err),
			 0);
	assert_int_equal(check_option(AF_INET, SOCK_DGRAM,
				      option(SOL_SOCKET, SO_BINDTODEVICE, "lo"),
				      &err),
			 0);
}

/* Whoever sends the needs may lie. */
static void no_needs(void **state)
{
	static const struct {
		int family, type;
		uint32_t port;
		bool repair;
	} lies[] = {
		{ AF_PACKET, SOCK_DGRAM, 0, false },
		{ AF_INET, SOCK_RAW, 0, false },
		{ AF_INET, SOCK_DGRAM, 0, true },
		{ AF_UNIX, SOCK_STREAM, 0, true },
		{ AF_UNIX, SOCK_STREAM, 80, false },
		{ AF_INET6, SOCK_STREAM, 1024, false },
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		Fds__Need need = need_of(lies[i].family, lies[i].type);

		need.port = lies[i].port;
		need.repair = lies[i].repair;
		assert_int_equal(sock_need_check(&need, NULL), -EPROTO);
	}
	/*
	 * A need that every destination meets, and one that such sockets do not
	 * have.
	 */
	assert_int_equal(check_option(AF_INET, SOCK_STREAM,
				      option(SOL_SOCKET, SO_KEEPALIVE, "1"),
				      NULL),
			 -EPROTO);
	assert_int_equal(check_option(AF_UNIX, SOCK_STREAM,
				      option(SOL_TCP, TCP_CONGESTION, "reno"),
				      NULL),
			 -EPROTO);
}

static void set(int fd, int level, int name, const void *value, size_t n)
{
	if (setsockopt(fd, level, name, value, (socklen_t)n) < 0)
		fail_msg("option %d/%d: %s", level, name, strerror(errno));
}

/* Visit the needs among these sockets, one after the other. */
static size_t needs_of(const Fds__Socket *m, Fds__SockOpt **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_opt; i++)
		if (sockopt_is_need(m, m->opt[i]))
			ret[n++] = m->opt[i];
	return n;
}

static Fds__Socket *socket_like(int family, int type)
{
	Fds__Socket *m = xmalloc(sizeof(*m));

	fds__socket__init(m);
	m->family = family;
	m->type = type;
	return m;
}

/* What a look reads shows all needs that a capture would find. */
static void expect_same_needs(int fd, int family, int type, size_t number)
{
	Fds__Socket *all = socket_like(family, type);
	Fds__Socket *few = socket_like(family, type);
	Fds__SockOpt *a[64], *b[64];

	assert_int_equal(sockopt_get_all(fd, all, NULL), 0);
	assert_int_equal(sockopt_get_needs(fd, few, NULL), 0);
	assert_int_equal(needs_of(all, a), number);
	assert_int_equal(needs_of(few, b), number);
	for (size_t i = 0; i < number; i++) {
		assert_int_equal(a[i]->level, b[i]->level);
		assert_int_equal(a[i]->name, b[i]->name);
		assert_string_equal(a[i]->interface, b[i]->interface);
		assert_int_equal(a[i]->value.len, b[i]->value.len);
		if (a[i]->value.len)
			assert_memory_equal(a[i]->value.data, b[i]->value.data,
					    a[i]->value.len);
	}
	assert_true(few->n_opt < all->n_opt / 2);
	fds__socket__free_unpacked(all, NULL);
	fds__socket__free_unpacked(few, NULL);
}

static void a_look_finds_all_needs(void **state)
{
	uint32_t lo = htonl(1); /* the loopback interface's number */
	int fd = socket(AF_INET6, SOCK_DGRAM, 0), one = 1;

	set(fd, SOL_SOCKET, SO_PRIORITY, &one, sizeof(one));
	set(fd, SOL_IPV6, IPV6_UNICAST_IF, &lo, sizeof(lo));
	set(fd, SOL_IPV6, IPV6_MULTICAST_IF, &one, sizeof(one));
	expect_same_needs(fd, AF_INET6, SOCK_DGRAM, 3);
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	set(fd, SOL_TCP, TCP_CONGESTION, "reno", 4);
	set(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3);
	expect_same_needs(fd, AF_INET, SOCK_STREAM, 2);
	close(fd);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	set(fd, SOL_SOCKET, SO_PRIORITY, &one, sizeof(one));
	expect_same_needs(fd, AF_UNIX, SOCK_STREAM, 1);
	close(fd);
}

static void a_look_finds_filters(void **state)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
	struct sock_fprog filter = { 1, &all };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), one = 1;
	Fds__Socket *m = socket_like(AF_INET, SOCK_DGRAM);
	struct error err = ERROR_INIT;

	set(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
	assert_int_equal(sockopt_get_needs(fd, m, &err), -ENOTSUP);
	assert_string_equal(err.text, "socket with a filter");
	fds__socket__free_unpacked(m, NULL);
	m = socket_like(AF_INET, SOCK_DGRAM);
	set(fd, SOL_SOCKET, SO_LOCK_FILTER, &one, sizeof(one));
	assert_int_equal(sockopt_get_needs(fd, m, &err), -ENOTSUP);
	assert_string_equal(err.text, "socket with a locked filter");
	fds__socket__free_unpacked(m, NULL);
	close(fd);
}

static void told_once(void **state)
{
	Fds__Paths *told = xmalloc(sizeof(*told));
	struct fds_source s = { .told = told };
	Fds__SockOpt mark = option(SOL_SOCKET, SO_MARK, "1234");
	Fds__Need need = need_of(AF_INET, SOCK_DGRAM);

	fds__paths__init(told);
	need.opt = &mark;
	fdtold_need(&s, &need);
	fdtold_need(&s, &need);
	assert_int_equal(told->n_need, 1);
	need.protocol = IPPROTO_UDPLITE;
	fdtold_need(&s, &need);
	assert_int_equal(told->n_need, 2);
	mark.value.data = (uint8_t *)"1235";
	fdtold_need(&s, &need);
	assert_int_equal(told->n_need, 3);
	need.opt = NULL;
	need.port = 80;
	fdtold_need(&s, &need);
	fdtold_need(&s, &need);
	assert_int_equal(told->n_need, 4);
	fds__paths__free_unpacked(told, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lacking),
		cmocka_unit_test(there),
		cmocka_unit_test(no_needs),
		cmocka_unit_test(a_look_finds_all_needs),
		cmocka_unit_test(a_look_finds_filters),
		cmocka_unit_test(told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
