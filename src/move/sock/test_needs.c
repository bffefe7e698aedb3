/* test_needs.c - what a destination says of a need, and which are told once */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "core/xalloc.h"
#include "move/sock/needs.h"

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

/* Whoever sends them may lie. */
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
	/* One that every destination has, and one that is none of such sockets. */
	assert_int_equal(check_option(AF_INET, SOCK_STREAM,
				      option(SOL_SOCKET, SO_KEEPALIVE, "1"),
				      NULL),
			 -EPROTO);
	assert_int_equal(check_option(AF_UNIX, SOCK_STREAM,
				      option(SOL_TCP, TCP_CONGESTION, "reno"),
				      NULL),
			 -EPROTO);
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
		cmocka_unit_test(told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
