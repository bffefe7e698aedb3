/*
 * test_bound.c - sockets bound to an address that other sockets have as well,
 * or that no interface has
 */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "move/fd/test_move.h"

static void both(void (*make)(void), void (*verify)(void))
{
	const struct fdt_case c = { make, verify, .net = true };

	fdt_both(&c);
}

/* ---- a port that several sockets of the process share ---- */

static void port_put(int type, int first)
{
	struct sockaddr_storage ss;
	socklen_t n = fdt_address("127.0.0.1", &ss);

	for (int fd = first; fd < first + 3; fd++) {
		fdt_put(socket(AF_INET, type, 0), fd);
		fdt_set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
		CHECK(bind(fd, (void *)&ss, n) == 0);
		CHECK(type == SOCK_DGRAM || listen(fd, 5) == 0);
		CHECK(getsockname(fd, (void *)&ss, &n) == 0);
	}
	fdt_set(first, SOL_SOCKET, SO_REUSEPORT, 0);
	fdt_set(first + 2, SOL_SOCKET, SO_REUSEPORT, 0);
}

static void port_make(void)
{
	port_put(SOCK_STREAM, 10);
	port_put(SOCK_DGRAM, 13);
}

static void port_verify(void)
{
	struct sockaddr_storage a, b;
	socklen_t n = sizeof(a);

	for (int fd = 10; fd < 16; fd++) {
		CHECK(fdt_get(fd, SOL_SOCKET, SO_REUSEPORT) ==
		      (fd == 11 || fd == 14));
		CHECK(getsockname(fd, (void *)&b, &n) == 0);
		if (fd % 3 != 1)
			CHECK(!memcmp(&a, &b, n));
		a = b;
	}
}

static void port(void **state)
{
	both(port_make, port_verify);
}

/* ---- addresses that no interface has ---- */

static void foreign_put(int fd, const char *where, int type, bool later)
{
	struct sockaddr_storage ss;
	socklen_t n = fdt_address(where, &ss);

	fdt_put(socket(ss.ss_family, type, 0), fd);
	fdt_set(fd, SOL_IP, IP_FREEBIND, 1);
	CHECK(bind(fd, (void *)&ss, n) == 0);
	CHECK(type == SOCK_DGRAM || listen(fd, 5) == 0);
	if (later)
		fdt_set(fd, SOL_IP, IP_FREEBIND, 0);
}

static void foreign_make(void)
{
	foreign_put(20, "192.0.2.1", SOCK_STREAM, true);
	foreign_put(21, "192.0.2.1", SOCK_DGRAM, true);
	foreign_put(22, "2001:db8::1", SOCK_STREAM, true);
	foreign_put(23, "::ffff:192.0.2.2", SOCK_DGRAM, true);
	foreign_put(24, "192.0.2.3", SOCK_DGRAM, false);
}

static void foreign_verify(void)
{
	struct sockaddr_storage ss, want;
	socklen_t n = sizeof(ss);

	for (int fd = 20; fd < 25; fd++)
		CHECK(fdt_get(fd, SOL_IP, IP_FREEBIND) == (fd == 24));
	CHECK(getsockname(20, (void *)&ss, &n) == 0);
	fdt_address("192.0.2.1", &want);
	CHECK(((struct sockaddr_in *)&ss)->sin_addr.s_addr ==
	      ((struct sockaddr_in *)&want)->sin_addr.s_addr);
}

static void foreign(void **state)
{
	both(foreign_make, foreign_verify);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(port),
		cmocka_unit_test(foreign),
	};

	return cmocka_run_group_tests_name("fdbound", tests, NULL, NULL);
}
