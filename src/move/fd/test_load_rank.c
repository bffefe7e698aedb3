/*
 * test_load_rank.c - both ends of the load
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "move/fd/test_load.h"

#define PATTERN 65521 /* prime */
#define CHUNK	32768
#define PING	64
#define TICK_US 2000

static uint8_t pattern[PATTERN + CHUNK];

uint64_t load_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void make_pattern(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(pattern); i++) {
		x = x * 1664525 + 1013904223;
		pattern[i] =
			i < PATTERN ? (uint8_t)(x >> 24) : pattern[i - PATTERN];
	}
}

/*
 * The bytes that connection conn carries from that offset on, in that
 * direction.
 */
static const uint8_t *expected(unsigned conn, bool from_rank, uint64_t offset)
{
	return &pattern[(offset + conn * 7919 + (from_rank ? 104729 : 0)) %
			PATTERN];
}

/* ---- one connection, from either end ---- */

static size_t may_send(const struct load *l, const struct load_flow *f,
		       unsigned conn, bool rank)
{
	if (l->finish)
		return 0;
	switch (load_kind(conn)) {
	case LOAD_STREAM:
		return f->owed < CHUNK ? f->owed : CHUNK;
	case LOAD_PING:
		/* The peer asks; the rank answers with what it has got. */
		if (rank)
			return f->got - f->sent;
		return f->got == f->sent	       ? PING
		       : PING - f->sent % PING == PING ? 0
						       : PING - f->sent % PING;
	default:
		return CHUNK;
	}
}

static void do_send(struct load *l, struct load_flow *f, int fd, unsigned conn,
		    bool rank)
{
	size_t n;
	ssize_t w;

	while ((n = may_send(l, f, conn, rank))) {
		w = send(fd, expected(conn, rank, f->sent), n,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (w < 0 && errno == EAGAIN)
			return;
		if (w < 0) {
			f->bad++;
			fprintf(stderr, "%s %u: send: %s\n",
				rank ? "rank" : "peer", conn, strerror(errno));
			exit(1);
		}
		f->sent += (uint64_t)w;
		f->owed -= load_kind(conn) == LOAD_STREAM ? (uint64_t)w : 0;
		if (load_kind(conn) == LOAD_LAZY)
			return;
	}
}

static void do_receive(struct load *l, struct load_flow *f, int fd,
		       unsigned conn, bool rank, size_t most)
{
	uint8_t buf[CHUNK];
	uint64_t now;
	ssize_t n;

	while (most) {
		n = recv(fd, buf, most < CHUNK ? most : CHUNK, MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			f->bad++;
			fprintf(stderr, "%s %u: recv: %s\n",
				rank ? "rank" : "peer", conn,
				n ? strerror(errno) : "end");
			exit(1);
		}
		if (memcmp(buf, expected(conn, !rank, f->got), (size_t)n))
			f->bad++;
		f->got += (uint64_t)n;
		most -= (size_t)n;
		now = load_now();
		if (f->last && now - f->last > f->worst)
			f->worst = now - f->last;
		f->last = now;
	}
}

static void tick(struct load *l, struct load_flow *flows, const int *fds,
		 bool rank, unsigned ticks)
{
	for (unsigned i = 0; i < l->nr_conns; i++) {
		struct load_flow *f = &flows[i];

		if (load_kind(i) == LOAD_STREAM && f->owed < l->rate / 100)
			f->owed += ticks * l->rate * TICK_US / 1000000;
		if (load_kind(i) == LOAD_LAZY)
			do_receive(l, f, fds[i], i, rank,
				   l->finish ? SIZE_MAX : 2000);
		do_send(l, f, fds[i], i, rank);
	}
}

static void serve(struct load *l, struct load_flow *flows, const int *fds,
		  int efd, int timer, bool rank)
{
	struct epoll_event ev[LOAD_CONNS_MAX + 1];
	uint64_t ticks;
	int n = epoll_wait(efd, ev, LOAD_CONNS_MAX + 1, 100);

	for (int i = 0; i < n; i++) {
		unsigned conn = ev[i].data.u32;

		if (conn == LOAD_CONNS_MAX) {
			if (read(timer, &ticks, 8) == 8)
				tick(l, flows, fds, rank, (unsigned)ticks);
			continue;
		}
		if (load_kind(conn) == LOAD_LAZY)
			continue;
		do_receive(l, &flows[conn], fds[conn], conn, rank, SIZE_MAX);
		do_send(l, &flows[conn], fds[conn], conn, rank);
	}
}

static void watch(int efd, int fd, uint32_t data)
{
	/* Lazy connections are served by the clock alone. */
	bool lazy = data < LOAD_CONNS_MAX && load_kind(data) == LOAD_LAZY;
	struct epoll_event ev = { .events = lazy ? 0 : EPOLLIN,
				  .data.u32 = data };

	if (epoll_ctl(efd, EPOLL_CTL_ADD, fd, &ev) < 0)
		load_die("epoll_ctl");
}

static void start_timer(int fd)
{
	const struct itimerspec spec = { .it_value = { 0, TICK_US * 1000 },
					 .it_interval = { 0, TICK_US * 1000 } };

	if (timerfd_settime(fd, 0, &spec, NULL) < 0)
		load_die("timerfd");
}

static socklen_t address(bool six, int host, struct sockaddr_storage *ss)
{
	struct sockaddr_in *in = (void *)ss;
	struct sockaddr_in6 *in6 = (void *)ss;
	char text[32];

	memset(ss, 0, sizeof(*ss));
	ss->ss_family = six ? AF_INET6 : AF_INET;
	in->sin_port = htons(LOAD_PORT);
	snprintf(text, sizeof(text), six ? "fd77::%d" : "10.77.0.%d", host);
	inet_pton(ss->ss_family, text,
		  six ? (void *)&in6->sin6_addr : (void *)&in->sin_addr);
	return six ? sizeof(*in6) : sizeof(*in);
}

/* ---- the rank ---- */

static void place(int fd, int number)
{
	if (fd < 0 || dup2(fd, number) != number)
		load_die("descriptor");
	if (fd != number)
		close(fd);
}

static void listen_at(bool six, int number)
{
	struct sockaddr_storage ss;
	socklen_t len = address(six, 2, &ss);
	int one = 1;

	place(socket(ss.ss_family, SOCK_STREAM, 0), number);
	setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(number, (void *)&ss, len) < 0 || listen(number, 20) < 0)
		load_die("listen");
}

void load_rank_start(struct load *l)
{
	unsigned char which;
	int fd, one = 1;

	listen_at(false, LOAD_LISTEN4);
	listen_at(true, LOAD_LISTEN6);
	place(epoll_create1(0), LOAD_EPOLL);
	place(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), LOAD_TIMER);
	watch(LOAD_EPOLL, LOAD_TIMER, LOAD_CONNS_MAX);
	for (unsigned i = 0; i < l->nr_conns; i++) {
		/* Connections with odd numbers use IPv6. */
		fd = accept(i % 2 ? LOAD_LISTEN6 : LOAD_LISTEN4, NULL, NULL);
		if (fd < 0 || recv(fd, &which, 1, 0) != 1)
			load_die("accept");
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		place(fd, LOAD_CONN + (int)which);
		watch(LOAD_EPOLL, LOAD_CONN + (int)which, which);
	}
	start_timer(LOAD_TIMER);
	l->connected = true;
}

void load_rank_loop(struct load *l)
{
	int fds[LOAD_CONNS_MAX];

	make_pattern();
	for (int i = 0; i < LOAD_CONNS_MAX; i++)
		fds[i] = LOAD_CONN + i;
	for (;;) {
		if (atomic_exchange(&l->stop, false))
			raise(SIGSTOP);
		serve(l, l->rank, fds, LOAD_EPOLL, LOAD_TIMER, true);
	}
}

/* ---- the peer ---- */

static int connect_one(unsigned i)
{
	struct sockaddr_storage ss;
	socklen_t len = address(i % 2, 2, &ss);
	unsigned char which = (unsigned char)i;
	int fd, one = 1;

	for (int tries = 0; tries < 100; tries++) {
		fd = socket(ss.ss_family, SOCK_STREAM, 0);
		if (connect(fd, (void *)&ss, len) == 0) {
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one,
				   sizeof(one));
			if (send(fd, &which, 1, 0) == 1)
				return fd;
		}
		close(fd);
		poll(NULL, 0, 20);
	}
	load_die("connect");
}

void load_peer(struct load *l)
{
	int fds[LOAD_CONNS_MAX], efd = epoll_create1(0);
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	unsigned reset = 0;

	make_pattern();
	for (unsigned i = 0; i < l->nr_conns; i++) {
		fds[i] = connect_one(i);
		watch(efd, fds[i], i);
	}
	watch(efd, timer, LOAD_CONNS_MAX);
	start_timer(timer);
	for (;;) {
		serve(l, l->peer, fds, efd, timer, false);
		if (l->reset == reset)
			continue;
		reset = l->reset;
		for (unsigned i = 0; i < l->nr_conns; i++)
			l->peer[i].worst = 0;
	}
}
