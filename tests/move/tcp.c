/*
 * tcp.c - TCP within one process over its own loopback, in every state
 *
 * Connections at rest in ESTABLISHED, CLOSE_WAIT and FIN_WAIT2 with data in
 * both queues, one with all its buffers full; a listener; a socket not
 * connected yet; options; and threads that talk and stream all the time.
 *
 *	tcp ipv6	the same over ::1
 *	tcp closing	FIN_WAIT1 and LAST_ACK besides: a FIN waits behind data
 *	tcp connecting	SYN_SENT besides: the listener's backlog is full
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "check.h"

struct pair {
	int a, b; /* a connected, b accepted */
};

static struct {
	int family, listener, bound;
	struct sockaddr_storage addr;
	socklen_t len;
	struct pair rest, half, full, talk, stream;
	struct pair fin1, last; /* of "closing" */
	bool closing, connecting;
	int busy, syn[3]; /* "connecting": a full listener, its clients */
} t;

static void make_listener(void)
{
	struct sockaddr_in *v4 = (void *)&t.addr;
	struct sockaddr_in6 *v6 = (void *)&t.addr;

	t.addr.ss_family = (sa_family_t)t.family;
	if (t.family == AF_INET)
		v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		v6->sin6_addr = in6addr_loopback;
	t.len = t.family == AF_INET ? sizeof(*v4) : sizeof(*v6);
	t.listener = socket(t.family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (t.listener < 0 || bind(t.listener, (void *)&t.addr, t.len) < 0)
		check_skip("no such loopback");
	CHECK(listen(t.listener, 16) == 0);
	CHECK(getsockname(t.listener, (void *)&t.addr, &t.len) == 0);
}

static struct pair make_pair(void)
{
	struct pair p = { .a = socket(t.family, SOCK_STREAM, 0) };

	CHECK(connect(p.a, (void *)&t.addr, t.len) == 0);
	p.b = accept4(t.listener, NULL, NULL, SOCK_CLOEXEC);
	CHECK(p.b >= 0);
	return p;
}

static void send_bytes(int fd, size_t n, uint64_t seed)
{
	static unsigned char buf[1 << 20];

	check_fill(buf, n, seed);
	check_write(fd, buf, n);
}

static void recv_bytes(int fd, size_t n, uint64_t seed)
{
	static unsigned char buf[1 << 20];

	CHECK(check_read(fd, buf, n));
	CHECK(check_same(buf, n, seed));
}

static int state_of(int fd)
{
	struct tcp_info ti;
	socklen_t n = sizeof(ti);

	CHECK(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &ti, &n) == 0);
	return ti.tcpi_state;
}

static void set(int fd, int level, int opt, int v)
{
	CHECK(setsockopt(fd, level, opt, &v, sizeof(v)) == 0);
}

static int get(int fd, int level, int opt)
{
	socklen_t n = sizeof(int);
	int v = 0;

	CHECK(getsockopt(fd, level, opt, &v, &n) == 0);
	return v;
}

#define PIECE 1000

/*
 * Fill both queues, so that there is unsent data at the sender as well. When
 * memory is short a send may take only a part.
 */
static size_t fill(int fd, uint64_t seed)
{
	unsigned char buf[PIECE];
	size_t sum = 0;
	int idle = 0;

	while (idle < 3 && sum < 900 * PIECE) {
		size_t at = sum % PIECE;
		ssize_t n;

		check_fill(buf, sizeof(buf), seed + sum - at);
		n = send(fd, buf + at, sizeof(buf) - at, MSG_DONTWAIT);
		if (n > 0) {
			sum += (size_t)n;
			idle = 0;
			continue;
		}
		CHECK(errno == EAGAIN);
		idle++;
		check_nap();
	}
	return sum;
}

static void drain(int fd, size_t sum, uint64_t seed)
{
	for (size_t at = 0; at < sum; at += PIECE)
		recv_bytes(fd, sum - at < PIECE ? sum - at : PIECE, seed + at);
}

static size_t full_bytes;

static void make_connections(void)
{
	t.rest = make_pair();
	send_bytes(t.rest.a, 20000, 1);
	send_bytes(t.rest.b, 30000, 2);
	set(t.rest.a, IPPROTO_TCP, TCP_NODELAY, 1);
	set(t.rest.a, SOL_SOCKET, SO_KEEPALIVE, 1);
	set(t.rest.a, IPPROTO_TCP, TCP_KEEPIDLE, 5432);
	set(t.rest.b, IPPROTO_TCP, TCP_USER_TIMEOUT, 765432);
	set(t.rest.b, IPPROTO_TCP, TCP_CORK, 0);
	t.half = make_pair();
	send_bytes(t.half.a, 4000, 3);
	CHECK(shutdown(t.half.a, SHUT_WR) == 0); /* FIN_WAIT2, CLOSE_WAIT */
	t.full = make_pair();
	set(t.full.a, SOL_SOCKET, SO_SNDBUF, 50000);
	set(t.full.b, SOL_SOCKET, SO_RCVBUF, 20000);
	full_bytes = fill(t.full.a, 100);
	t.talk = make_pair();
	t.stream = make_pair();
	t.bound = socket(t.family, SOCK_STREAM, 0);
	set(t.bound, SOL_SOCKET, SO_REUSEADDR, 1);
	CHECK_WAIT(state_of(t.half.a) == TCP_FIN_WAIT2);
}

static size_t fin1_bytes, last_bytes;

static void make_closing(void)
{
	t.fin1 = make_pair();
	fin1_bytes = fill(t.fin1.a, 200);
	CHECK(shutdown(t.fin1.a, SHUT_WR) == 0);
	t.last = make_pair();
	CHECK(shutdown(t.last.a, SHUT_WR) == 0);
	CHECK_WAIT(state_of(t.last.b) == TCP_CLOSE_WAIT);
	last_bytes = fill(t.last.b, 300);
	CHECK(shutdown(t.last.b, SHUT_WR) == 0);
}

static void check_closing(void)
{
	CHECK(state_of(t.fin1.a) == TCP_FIN_WAIT1, "%d", state_of(t.fin1.a));
	CHECK(state_of(t.fin1.b) == TCP_ESTABLISHED);
	CHECK(state_of(t.last.a) == TCP_FIN_WAIT2);
	CHECK(state_of(t.last.b) == TCP_LAST_ACK, "%d", state_of(t.last.b));
}

static void finish_closing(void)
{
	char c;

	drain(t.fin1.b, fin1_bytes, 200);
	CHECK(recv(t.fin1.b, &c, 1, 0) == 0, "FIN behind data is lost");
	drain(t.last.a, last_bytes, 300);
	CHECK(recv(t.last.a, &c, 1, 0) == 0, "FIN behind data is lost");
}

/*
 * The first one or two connections fill the backlog; the SYN of the last one is
 * not answered.
 */
static void make_connecting(void)
{
	struct sockaddr_storage a = t.addr;
	socklen_t n = t.len;

	((struct sockaddr_in *)&a)->sin_port = 0;
	t.busy = socket(t.family, SOCK_STREAM, 0);
	CHECK(bind(t.busy, (void *)&a, n) == 0 && listen(t.busy, 0) == 0);
	CHECK(getsockname(t.busy, (void *)&a, &n) == 0);
	for (int i = 0; i < 3; i++) {
		t.syn[i] = socket(t.family, SOCK_STREAM | SOCK_NONBLOCK, 0);
		CHECK(connect(t.syn[i], (void *)&a, n) < 0 || i < 2);
		check_nap();
	}
	CHECK(state_of(t.syn[2]) == TCP_SYN_SENT);
}

/* Once there is room, the SYN is sent again and answered. */
static void finish_connecting(void)
{
	CHECK(fcntl(t.busy, F_SETFL, O_NONBLOCK) == 0);
	CHECK_WAIT(accept(t.busy, NULL, NULL) < -1 ||
		   state_of(t.syn[2]) == TCP_ESTABLISHED);
}

static void check_states(void)
{
	int waiting = 0;

	CHECK(state_of(t.listener) == TCP_LISTEN);
	CHECK(state_of(t.rest.a) == TCP_ESTABLISHED);
	CHECK(state_of(t.half.a) == TCP_FIN_WAIT2, "%d", state_of(t.half.a));
	CHECK(state_of(t.half.b) == TCP_CLOSE_WAIT);
	CHECK(state_of(t.bound) == TCP_CLOSE);
	CHECK(!ioctl(t.rest.b, FIONREAD, &waiting) && waiting == 20000);
	CHECK(!ioctl(t.rest.a, FIONREAD, &waiting) && waiting == 30000);
	CHECK(get(t.rest.a, IPPROTO_TCP, TCP_NODELAY) == 1);
	CHECK(get(t.rest.a, SOL_SOCKET, SO_KEEPALIVE) == 1);
	CHECK(get(t.rest.a, IPPROTO_TCP, TCP_KEEPIDLE) == 5432);
	CHECK(get(t.rest.b, IPPROTO_TCP, TCP_USER_TIMEOUT) == 765432);
	CHECK(get(t.bound, SOL_SOCKET, SO_REUSEADDR) == 1);
	CHECK(get(t.full.a, SOL_SOCKET, SO_SNDBUF) == 100000);
	CHECK(get(t.full.b, SOL_SOCKET, SO_RCVBUF) == 40000);
	CHECK(fcntl(t.rest.b, F_GETFD) == FD_CLOEXEC);
	if (t.closing)
		check_closing();
	if (t.connecting)
		CHECK(state_of(t.syn[2]) == TCP_SYN_SENT);
}

/* The listener still accepts connections, also from its own port. */
static void check_listener(void)
{
	struct sockaddr_storage peer, self;
	socklen_t n = sizeof(peer), m = sizeof(self);
	struct pair p = make_pair();
	struct linger now = { 1, 0 };

	CHECK(!getpeername(p.b, (void *)&peer, &n) &&
	      !getsockname(p.a, (void *)&self, &m));
	CHECK(n == m && !memcmp(&peer, &self, n));
	send_bytes(p.a, 10, 9);
	recv_bytes(p.b, 10, 9);
	/* RST instead of leaving a TIME_WAIT behind in every round. */
	setsockopt(p.a, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(p.a);
	close(p.b);
}

static void finish(void)
{
	char c;

	recv_bytes(t.rest.b, 20000, 1);
	recv_bytes(t.rest.a, 30000, 2);
	recv_bytes(t.half.b, 4000, 3);
	CHECK(recv(t.half.b, &c, 1, 0) == 0, "end of stream is lost");
	send_bytes(t.half.b, 5000, 4);
	recv_bytes(t.half.a, 5000, 4);
	close(t.half.b);
	CHECK(recv(t.half.a, &c, 1, 0) == 0);
	drain(t.full.b, full_bytes, 100);
	send_bytes(t.full.b, 10, 5);
	recv_bytes(t.full.a, 10, 5);
	close(t.rest.a);
	CHECK(recv(t.rest.b, &c, 1, 0) == 0);
	if (t.closing)
		finish_closing();
	if (t.connecting)
		finish_connecting();
}

/* Requests of varying size and their answers, one thread at each end. */
static void *answer(void *arg)
{
	uint64_t n;

	while (check_read(t.talk.b, &n, sizeof(n))) {
		n = ~n;
		check_write(t.talk.b, &n, sizeof(n));
	}
	return NULL;
}

static void talk(uint64_t n)
{
	uint64_t back;

	check_write(t.talk.a, &n, sizeof(n));
	CHECK(check_read(t.talk.a, &back, sizeof(back)));
	CHECK(back == ~n);
}

static void *stream_out(void *arg)
{
	static unsigned char buf[50000];
	uint64_t seed = 0;

	while (check_running()) {
		size_t n = ++seed * 7919 % sizeof(buf) + 1;

		check_fill(buf, n, seed);
		check_write(t.stream.b, buf, n);
		check_nap();
	}
	shutdown(t.stream.b, SHUT_WR);
	return NULL;
}

static void *stream_in(void *arg)
{
	static unsigned char buf[50000];

	for (uint64_t seed = 1;; seed++) {
		size_t n = seed * 7919 % sizeof(buf) + 1;

		if (!check_read(t.stream.a, buf, n))
			return NULL;
		CHECK(check_same(buf, n, seed), "stream is wrong at %llu",
		      (unsigned long long)seed);
	}
}

int main(int argc, char **argv)
{
	pthread_t th[3];
	const char *how = argc > 1 ? argv[1] : "";

	t.family = strcmp(how, "ipv6") ? AF_INET : AF_INET6;
	t.closing = !strcmp(how, "closing");
	t.connecting = !strcmp(how, "connecting");
	make_listener();
	make_connections();
	if (t.closing)
		make_closing();
	if (t.connecting)
		make_connecting();
	th[0] = check_thread(answer, NULL);
	th[1] = check_thread(stream_out, NULL);
	th[2] = check_thread(stream_in, NULL);
	check_ready();
	if (check_sabotaged())
		recv_bytes(t.full.b, 1000, 100);
	for (uint64_t round = 0; check_running(); round++) {
		check_states();
		check_listener();
		talk(round * 999);
		check_nap();
	}
	shutdown(t.talk.a, SHUT_WR);
	for (int i = 0; i < 3; i++)
		check_join(th[i]);
	finish();
	return check_pass();
}
