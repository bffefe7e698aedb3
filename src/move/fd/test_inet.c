/*
 * test_inet.c - TCP and UDP sockets within one capsule: those that move, and
 * those that do not
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "move/fd/test_move.h"
#include "move/sock/tcp_compat.h"

static void both(void (*make)(void), void (*verify)(void))
{
	const struct fdt_case c = { make, verify, .net = true };

	fdt_both(&c);
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

static struct tcp_info info_of(int fd)
{
	struct tcp_info ti;
	socklen_t n = sizeof(ti);

	CHECK(getsockopt(fd, SOL_TCP, TCP_INFO, &ti, &n) == 0);
	return ti;
}

static int state_of(int fd)
{
	return info_of(fd).tcpi_state;
}

/*
 * The connection has measured its round-trip time (no timeout of seconds), and
 * has segments of the full size.
 */
static bool is_measured(int fd)
{
	struct tcp_info ti = info_of(fd);

	return ti.tcpi_rtt && ti.tcpi_rto < 1000000 && ti.tcpi_snd_mss > 536;
}

/* Listener at l, client at c, the accepted end at a. */
static void connection(const char *where, int l, int c, int a)
{
	struct sockaddr_storage ss;
	socklen_t n = fdt_address(where, &ss);

	fdt_put(socket(ss.ss_family, SOCK_STREAM, 0), l);
	fdt_set(l, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK(bind(l, (void *)&ss, n) == 0 && listen(l, 12) == 0);
	CHECK(getsockname(l, (void *)&ss, &n) == 0);
	fdt_put(socket(ss.ss_family, SOCK_STREAM, 0), c);
	CHECK(connect(c, (void *)&ss, n) == 0);
	fdt_put(accept(l, NULL, NULL), a);
}

/* ---- a connection to itself ---- */

static void self_make(void)
{
	connection("127.0.0.1", 10, 11, 12);
	fdt_set(11, SOL_TCP, TCP_NODELAY, 1);
	fdt_set(11, SOL_SOCKET, SO_KEEPALIVE, 1);
	fdt_set(11, SOL_TCP, TCP_KEEPIDLE, 77);
	fdt_set(12, SOL_SOCKET, SO_RCVBUF, 50000);
	fdt_set(12, SOL_TCP, TCP_USER_TIMEOUT, 12345);
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

	for (int fd = 11; fd <= 18; fd++)
		if (fd != 13 && fd != 16) /* listeners */
			CHECK(is_measured(fd));
	CHECK(fdt_get(11, SOL_TCP, TCP_NODELAY) == 1);
	CHECK(fdt_get(12, SOL_TCP, TCP_NODELAY) == 0);
	CHECK(fdt_get(11, SOL_SOCKET, SO_KEEPALIVE) == 1);
	CHECK(fdt_get(11, SOL_TCP, TCP_KEEPIDLE) == 77);
	CHECK(fdt_get(12, SOL_SOCKET, SO_RCVBUF) == 100000);
	CHECK(fdt_get(12, SOL_SOCKET, 72 /* SO_BUF_LOCK */) == 2);
	CHECK(fdt_get(11, SOL_SOCKET, 72) == 0);
	CHECK(fdt_get(12, SOL_TCP, TCP_USER_TIMEOUT) == 12345);
	CHECK(fdt_get(10, SOL_SOCKET, SO_REUSEADDR) == 1);
	CHECK(fdt_get(11, SOL_SOCKET, SO_REUSEADDR) == 0);
	CHECK(fdt_get(12, SOL_SOCKET, SO_REUSEADDR) == 1);
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
	fdt_put(socket(AF_INET, SOCK_STREAM, 0), 19);
	CHECK(connect(19, (void *)&ss, len) == 0);
	CHECK(accept(10, NULL, NULL) >= 0);
	close(11);
	CHECK(reads(12, ""));
}

static void self(void **state)
{
	both(self_make, self_verify);
}

/* ---- options ---- */

/*
 * Each option is set on both ends of a connection and on its listener, where
 * possible.
 */
static const struct {
	int level, name, value;
	const char *where; /* NULL: anywhere; "4", "6": family */
} ints[] = {
	{ SOL_SOCKET, SO_MARK, 77, NULL },
	{ SOL_SOCKET, SO_REUSEPORT, 1, NULL },
	{ SOL_SOCKET, SO_OOBINLINE, 1, NULL },
	{ SOL_SOCKET, SO_RCVLOWAT, 3, NULL },
	{ SOL_SOCKET, SO_DONTROUTE, 1, NULL },
	{ SOL_SOCKET, SO_TIMESTAMPNS, 1, NULL },
	{ SOL_SOCKET, SO_PEEK_OFF, 2, NULL },
	{ SOL_SOCKET, SO_PREFER_BUSY_POLL, 1, NULL },
	{ SOL_SOCKET, SO_TXREHASH, 0, NULL },
	{ SOL_IP, IP_TOS, 0x28, "4" },
	{ SOL_IP, IP_TTL, 33, "4" },
	{ SOL_SOCKET, SO_PRIORITY, 5, NULL },
	{ SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT, "4" },
	{ SOL_IPV6, IPV6_TCLASS, 0x28, "6" },
	{ SOL_IPV6, IPV6_UNICAST_HOPS, 34, "6" },
	{ SOL_TCP, TCP_CORK, 1, NULL },
	{ SOL_TCP, TCP_KEEPIDLE, 71, NULL },
	{ SOL_TCP, TCP_KEEPINTVL, 72, NULL },
	{ SOL_TCP, TCP_KEEPCNT, 7, NULL },
	{ SOL_SOCKET, SO_KEEPALIVE, 1, NULL },
	{ SOL_TCP, TCP_SYNCNT, 4, NULL },
	{ SOL_TCP, TCP_LINGER2, 9, NULL },
	{ SOL_TCP, TCP_DEFER_ACCEPT, 1, "l" },
	{ SOL_TCP, TCP_USER_TIMEOUT, 4321, NULL },
	{ SOL_TCP, TCP_NOTSENT_LOWAT, 5000, NULL },
	{ SOL_TCP, TCP_QUICKACK, 0, "a" },
	{ SOL_TCP, TCP_INQ, 1, NULL },
	{ SOL_TCP, TCP_SAVE_SYN, 1, "l" },
	{ SOL_TCP, TCP_FASTOPEN, 4, "l" },
	{ SOL_TCP, TCP_WINDOW_CLAMP, 40000, NULL },
};

/* Listener, client and accepted end of each family follow one another. */
static bool has(size_t i, int fd)
{
	const char *w = ints[i].where;
	bool six = fd >= 13;

	if (!w)
		return true;
	if ((strchr(w, '4') && six) || (strchr(w, '6') && !six))
		return false;
	if (strchr(w, 'l') && fd % 3 != 1)
		return false;
	return !strchr(w, 'a') || fd % 3 == 0;
}

static void options_make(void)
{
	struct linger linger = { 1, 17 };
	struct timeval tv = { 3, 500000 };

	connection("127.0.0.1", 10, 11, 12);
	connection("::1", 13, 14, 15);
	for (int fd = 10; fd <= 15; fd++) {
		for (size_t i = 0; i < sizeof(ints) / sizeof(*ints); i++)
			if (has(i, fd))
				fdt_set(fd, ints[i].level, ints[i].name,
					ints[i].value);
		CHECK(!setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger,
				  sizeof(linger)));
		CHECK(!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv,
				  sizeof(tv)));
		CHECK(!setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
		CHECK(!setsockopt(fd, SOL_TCP, TCP_CONGESTION, "reno", 4));
	}
}

static void check_int(size_t i, int fd)
{
	char text[64];
	int v = fdt_get(fd, ints[i].level, ints[i].name);

	snprintf(text, sizeof(text), "fd %d: option %d/%d is %d, not %d", fd,
		 ints[i].level, ints[i].name, v, ints[i].value);
	fdt_check(v == ints[i].value, text, __FILE__, __LINE__);
}

static void options_verify(void)
{
	struct linger linger;
	struct timeval tv;
	char name[16];
	socklen_t n;

	for (int fd = 10; fd <= 15; fd++) {
		for (size_t i = 0; i < sizeof(ints) / sizeof(*ints); i++)
			if (has(i, fd))
				check_int(i, fd);
		n = sizeof(linger);
		CHECK(!getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &n) &&
		      linger.l_onoff == 1 && linger.l_linger == 17);
		n = sizeof(tv);
		CHECK(!getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, &n) &&
		      tv.tv_sec == 3 && tv.tv_usec == 500000);
		n = sizeof(name);
		CHECK(!getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &n) &&
		      !strcmp(name, "lo"));
		n = sizeof(name);
		CHECK(!getsockopt(fd, SOL_TCP, TCP_CONGESTION, name, &n) &&
		      !strcmp(name, "reno"));
	}
}

static void options(void **state)
{
	both(options_make, options_verify);
}

/* ---- ends of connections ---- */

static void ends_make(void)
{
	const struct linger now = { .l_onoff = 1 };

	connection("127.0.0.1", 10, 11, 12);
	CHECK(says(11, "bye") && shutdown(11, SHUT_WR) == 0);
	connection("::1", 20, 21, 22);
	CHECK(shutdown(21, SHUT_WR) == 0 && says(22, "still"));
	connection("127.0.0.1", 30, 31, 32); /* ended by a reset */
	CHECK(says(31, "unread"));
	CHECK(setsockopt(31, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0);
	close(31);
	connection("127.0.0.1", 40, 41, 42); /* ended in both directions */
	CHECK(says(41, "last"));
	close(41);
	CHECK(shutdown(42, SHUT_WR) == 0);
	connection("127.0.0.1", 50, 51, 52);
	CHECK(shutdown(51, SHUT_RD) == 0);
	connection("::1", 70, 71, 72); /* over; V6ONLY is its listener's */
	CHECK(says(71, "last six"));
	close(71);
	CHECK(shutdown(72, SHUT_WR) == 0);
	CHECK(fdt_get(72, SOL_IPV6, IPV6_V6ONLY) == 1);
	fdt_put(socket(AF_INET, SOCK_STREAM, 0), 60);
	fdt_put(socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0), 61);
	while (state_of(11) != TCP_FIN_WAIT2 || state_of(21) != TCP_FIN_WAIT2 ||
	       state_of(32) != TCP_CLOSE || state_of(42) != TCP_CLOSE ||
	       state_of(72) != TCP_CLOSE)
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
	CHECK(reads(72, "last six") && reads(72, ""));
	CHECK(fdt_get(72, SOL_IPV6, IPV6_V6ONLY) == 1);
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
	socklen_t n = fdt_address("127.0.0.1", &ss), len = sizeof(me);

	fdt_put(socket(AF_INET, SOCK_DGRAM, 0), 10);
	CHECK(bind(10, (void *)&ss, n) == 0);
	CHECK(getsockname(10, (void *)&me, &len) == 0);
	fdt_put(socket(AF_INET, SOCK_DGRAM, 0), 11);
	CHECK(connect(11, (void *)&me, len) == 0);
	fdt_set(11, SOL_SOCKET, SO_BROADCAST, 1);
	fdt_set(10, SOL_IP, IP_PKTINFO, 1);
	CHECK(says(11, "one") && says(11, "two"));
	n = fdt_address("::", &ss);
	fdt_put(socket(AF_INET6, SOCK_DGRAM, 0), 12);
	CHECK(bind(12, (void *)&ss, n) == 0);
	len = sizeof(me);
	CHECK(getsockname(12, (void *)&me, &len) == 0);
	((struct sockaddr_in6 *)&me)->sin6_addr = in6addr_loopback;
	fdt_put(socket(AF_INET6, SOCK_DGRAM, 0), 13);
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
	CHECK(fdt_get(11, SOL_SOCKET, SO_BROADCAST) == 1);
	CHECK(fdt_get(10, SOL_IP, IP_PKTINFO) == 1);
}

static void udp(void **state)
{
	both(udp_make, udp_verify);
}

/* ---- what has to wait ---- */

static void unaccepted_make(void)
{
	struct sockaddr_storage ss;
	socklen_t n = fdt_address("127.0.0.1", &ss);

	fdt_put(socket(AF_INET, SOCK_STREAM, 0), 7);
	CHECK(bind(7, (void *)&ss, n) == 0 && listen(7, 5) == 0);
	CHECK(getsockname(7, (void *)&ss, &n) == 0);
	fdt_put(socket(AF_INET, SOCK_STREAM, 0), 8);
	CHECK(connect(8, (void *)&ss, n) == 0);
}

static void nothing(void)
{
}

static void unaccepted(void **state)
{
	const struct fdt_case c = { unaccepted_make, nothing, .net = true };

	fdt_refused(&c, -EAGAIN, "waits to be accepted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(self),	      cmocka_unit_test(options),
		cmocka_unit_test(ends),	      cmocka_unit_test(udp),
		cmocka_unit_test(unaccepted),
	};

	return cmocka_run_group_tests_name("fdinet", tests, NULL, NULL);
}
