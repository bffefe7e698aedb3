/* test_fdinet.c - TCP and UDP sockets inside one capsule, moved and not */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "move/tcpcompat.h"
#include "move/test_fdmove.h"

static void put(int fd, int number)
{
	CHECK(fd >= 0);
	if (fd == number)
		return;
	CHECK(dup2(fd, number) == number);
	close(fd);
}

static void both(void (*make)(void), void (*verify)(void))
{
	const struct fdt_case c = { make, verify, .net = true };

	fdt_move(&c);
	fdt_abort(&c);
}

static bool reads(int fd, const char *text)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t n = strlen(text);
	char buf[4096];

	return poll(&p, 1, 5000) == 1 &&
	       recv(fd, buf, n ? n : 1, n ? MSG_WAITALL : 0) == (ssize_t)n &&
	       !memcmp(buf, text, n);
}

static bool says(int fd, const char *text)
{
	return send(fd, text, strlen(text), MSG_NOSIGNAL) ==
	       (ssize_t)strlen(text);
}

static int state_of(int fd)
{
	struct tcp_info ti;
	socklen_t n = sizeof(ti);

	CHECK(getsockopt(fd, SOL_TCP, TCP_INFO, &ti, &n) == 0);
	return ti.tcpi_state;
}

static int get(int fd, int level, int name)
{
	socklen_t n = sizeof(int);
	int v;

	CHECK(getsockopt(fd, level, name, &v, &n) == 0);
	return v;
}

static void set(int fd, int level, int name, int v)
{
	CHECK(setsockopt(fd, level, name, &v, sizeof(v)) == 0);
}

static socklen_t address(const char *text, struct sockaddr_storage *ss)
{
	struct sockaddr_in *in = (void *)ss;
	struct sockaddr_in6 *in6 = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		ss->ss_family = AF_INET;
		return sizeof(*in);
	}
	CHECK(inet_pton(AF_INET6, text, &in6->sin6_addr) == 1);
	ss->ss_family = AF_INET6;
	return sizeof(*in6);
}

/* Listener at l, client at c, accepted at a. */
static void connection(const char *where, int l, int c, int a)
{
	struct sockaddr_storage ss;
	socklen_t n = address(where, &ss);

	put(socket(ss.ss_family, SOCK_STREAM, 0), l);
	set(l, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK(bind(l, (void *)&ss, n) == 0 && listen(l, 12) == 0);
	CHECK(getsockname(l, (void *)&ss, &n) == 0);
	put(socket(ss.ss_family, SOCK_STREAM, 0), c);
	CHECK(connect(c, (void *)&ss, n) == 0);
	put(accept(l, NULL, NULL), a);
}

/* ---- a connection to itself ---- */

static void self_make(void)
{
	connection("127.0.0.1", 10, 11, 12);
	set(11, SOL_TCP, TCP_NODELAY, 1);
	set(11, SOL_SOCKET, SO_KEEPALIVE, 1);
	set(11, SOL_TCP, TCP_KEEPIDLE, 77);
	set(12, SOL_SOCKET, SO_RCVBUF, 50000);
	set(12, SOL_TCP, TCP_USER_TIMEOUT, 12345);
	CHECK(setsockopt(12, SOL_TCP, TCP_CONGESTION, "reno", 4) == 0);
	CHECK(says(11, "to the server") && says(12, "to the client"));
	connection("::1", 13, 14, 15);
	CHECK(says(14, "six"));
	connection("::ffff:127.0.0.1", 16, 17, 18);
	CHECK(says(18, "mapped"));
	CHECK(fcntl(15, F_SETFL, O_NONBLOCK) == 0);
}

static void self_verify(void)
{
	char name[16] = "";
	socklen_t n = sizeof(name);
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	CHECK(get(11, SOL_TCP, TCP_NODELAY) == 1);
	CHECK(get(12, SOL_TCP, TCP_NODELAY) == 0);
	CHECK(get(11, SOL_SOCKET, SO_KEEPALIVE) == 1);
	CHECK(get(11, SOL_TCP, TCP_KEEPIDLE) == 77);
	CHECK(get(12, SOL_SOCKET, SO_RCVBUF) == 100000);
	CHECK(get(12, SOL_SOCKET, 72 /* SO_BUF_LOCK */) == 2);
	CHECK(get(11, SOL_SOCKET, 72) == 0);
	CHECK(get(12, SOL_TCP, TCP_USER_TIMEOUT) == 12345);
	CHECK(get(10, SOL_SOCKET, SO_REUSEADDR) == 1);
	CHECK(get(11, SOL_SOCKET, SO_REUSEADDR) == 0);
	CHECK(get(12, SOL_SOCKET, SO_REUSEADDR) == 1);
	CHECK(getsockopt(12, SOL_TCP, TCP_CONGESTION, name, &n) == 0);
	CHECK(!strcmp(name, "reno"));
	CHECK(reads(12, "to the server") && reads(11, "to the client"));
	CHECK(says(11, "more") && reads(12, "more"));
	CHECK(says(12, "back") && reads(11, "back"));
	CHECK(reads(15, "six") && says(15, "seven") && reads(14, "seven"));
	CHECK(fcntl(15, F_GETFL) & O_NONBLOCK);
	CHECK(reads(17, "mapped") && says(17, "x") && reads(18, "x"));
	/* The listener accepts, and the end of a connection arrives. */
	CHECK(getsockname(10, (void *)&ss, &len) == 0);
	put(socket(AF_INET, SOCK_STREAM, 0), 19);
	CHECK(connect(19, (void *)&ss, len) == 0);
	CHECK(accept(10, NULL, NULL) >= 0);
	close(11);
	CHECK(reads(12, ""));
}

static void self(void **state)
{
	both(self_make, self_verify);
}

/* ---- ends of connections ---- */

static void ends_make(void)
{
	const struct linger now = { .l_onoff = 1 };

	connection("127.0.0.1", 10, 11, 12);
	CHECK(says(11, "bye") && shutdown(11, SHUT_WR) == 0);
	connection("::1", 20, 21, 22);
	CHECK(shutdown(21, SHUT_WR) == 0 && says(22, "still"));
	connection("127.0.0.1", 30, 31, 32); /* dead by a reset */
	CHECK(says(31, "unread"));
	CHECK(setsockopt(31, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0);
	close(31);
	connection("127.0.0.1", 40, 41, 42); /* over, both ways */
	CHECK(says(41, "last"));
	close(41);
	CHECK(shutdown(42, SHUT_WR) == 0);
	connection("127.0.0.1", 50, 51, 52);
	CHECK(shutdown(51, SHUT_RD) == 0);
	put(socket(AF_INET, SOCK_STREAM, 0), 60);
	put(socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0), 61);
	while (state_of(11) != TCP_FIN_WAIT2 || state_of(21) != TCP_FIN_WAIT2 ||
	       state_of(32) != TCP_CLOSE || state_of(42) != TCP_CLOSE)
		poll(NULL, 0, 1);
}

static void ends_verify(void)
{
	char c;

	CHECK(state_of(11) == TCP_FIN_WAIT2 && state_of(12) == TCP_CLOSE_WAIT);
	CHECK(reads(12, "bye") && reads(12, ""));
	CHECK(says(12, "answer") && reads(11, "answer"));
	CHECK(send(11, "x", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE);
	close(12);
	CHECK(reads(11, ""));
	CHECK(reads(21, "still") && says(22, "on") && reads(21, "on"));
	CHECK(reads(32, "unread"));
	CHECK(recv(32, &c, 1, 0) < 0 && errno == ECONNRESET);
	CHECK(reads(42, "last") && reads(42, ""));
	CHECK(recv(51, &c, 1, 0) == 0 && says(51, "x") && reads(52, "x"));
	CHECK(state_of(60) == TCP_CLOSE && state_of(61) == TCP_CLOSE);
	CHECK(fcntl(61, F_GETFL) & O_NONBLOCK);
}

static void ends(void **state)
{
	both(ends_make, ends_verify);
}

/* ---- UDP ---- */

static void udp_make(void)
{
	struct sockaddr_storage ss, me;
	socklen_t n = address("127.0.0.1", &ss), len = sizeof(me);

	put(socket(AF_INET, SOCK_DGRAM, 0), 10);
	CHECK(bind(10, (void *)&ss, n) == 0);
	CHECK(getsockname(10, (void *)&me, &len) == 0);
	put(socket(AF_INET, SOCK_DGRAM, 0), 11);
	CHECK(connect(11, (void *)&me, len) == 0);
	set(11, SOL_SOCKET, SO_BROADCAST, 1);
	set(10, SOL_IP, IP_PKTINFO, 1);
	CHECK(says(11, "one") && says(11, "two"));
	n = address("::", &ss);
	put(socket(AF_INET6, SOCK_DGRAM, 0), 12);
	CHECK(bind(12, (void *)&ss, n) == 0);
	len = sizeof(me);
	CHECK(getsockname(12, (void *)&me, &len) == 0);
	((struct sockaddr_in6 *)&me)->sin6_addr = in6addr_loopback;
	put(socket(AF_INET6, SOCK_DGRAM, 0), 13);
	CHECK(connect(13, (void *)&me, len) == 0 && says(13, "six"));
}

static bool receives(int fd, const char *text, int from)
{
	struct sockaddr_storage ss = { 0 }, want = { 0 };
	socklen_t n = sizeof(ss), len = sizeof(want);
	char buf[100];

	if (recvfrom(fd, buf, sizeof(buf), MSG_DONTWAIT, (void *)&ss, &n) !=
	    (ssize_t)strlen(text))
		return false;
	CHECK(getsockname(from, (void *)&want, &len) == 0);
	return !memcmp(buf, text, strlen(text)) && n == len &&
	       !memcmp(&ss, &want, n);
}

static void udp_verify(void)
{
	CHECK(receives(10, "one", 11) && receives(10, "two", 11));
	CHECK(receives(12, "six", 13));
	CHECK(says(11, "new") && receives(10, "new", 11));
	CHECK(get(11, SOL_SOCKET, SO_BROADCAST) == 1);
	CHECK(get(10, SOL_IP, IP_PKTINFO) == 1);
}

static void udp(void **state)
{
	both(udp_make, udp_verify);
}

/* ---- what has to wait ---- */

static void unaccepted_make(void)
{
	struct sockaddr_storage ss;
	socklen_t n = address("127.0.0.1", &ss);

	put(socket(AF_INET, SOCK_STREAM, 0), 7);
	CHECK(bind(7, (void *)&ss, n) == 0 && listen(7, 5) == 0);
	CHECK(getsockname(7, (void *)&ss, &n) == 0);
	put(socket(AF_INET, SOCK_STREAM, 0), 8);
	CHECK(connect(8, (void *)&ss, n) == 0);
}

static void nothing(void)
{
}

static void unaccepted(void **state)
{
	const struct fdt_case c = { unaccepted_make, nothing, .net = true };

	fdt_refused(&c, -EAGAIN, "wait to be accepted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(self),
		cmocka_unit_test(ends),
		cmocka_unit_test(udp),
		cmocka_unit_test(unaccepted),
	};

	return cmocka_run_group_tests_name("fdinet", tests, NULL, NULL);
}
