/*
 * test_cases.c - how connections come into each state, and what both ends see
 * then
 */
#include "move/fd/test_states.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "move/sock/tcp_compat.h"

struct states_shared *shared;

void states_check(bool cond, const char *text, const char *file, int line)
{
	if (cond)
		return;
	if (!shared->text[0])
		snprintf(shared->text, sizeof(shared->text),
			 "%s:%d: %s (errno %d)", file, line, text, errno);
	_exit(1);
}

void states_wait(_Atomic bool *flag)
{
	for (int i = 0; i < WAIT_MS && !*flag; i++)
		poll(NULL, 0, 1);
	CHECK(*flag);
}

static int state_of(int fd)
{
	struct tcp_info ti;
	socklen_t n = sizeof(ti);

	CHECK(getsockopt(fd, SOL_TCP, TCP_INFO, &ti, &n) == 0);
	return ti.tcpi_state;
}

static void wait_state(int state)
{
	for (int i = 0; i < WAIT_MS && state_of(CONN) != state; i++)
		poll(NULL, 0, 1);
	CHECK(state_of(CONN) == state);
}

bool states_say(const char *text)
{
	return send(CONN, text, strlen(text), MSG_NOSIGNAL) ==
	       (ssize_t)strlen(text);
}

bool states_read(const char *text)
{
	struct pollfd p = { .fd = CONN, .events = POLLIN };
	size_t n = strlen(text);
	char buf[256];

	return poll(&p, 1, WAIT_MS) == 1 &&
	       recv(CONN, buf, n ? n : 1, n ? MSG_WAITALL : 0) == (ssize_t)n &&
	       !memcmp(buf, text, n);
}

/* Send bytes that depend on their position, until no more are taken. */
static uint64_t fill(void)
{
	uint32_t words[256];
	uint64_t sent = 0;
	ssize_t n;

	for (;;) {
		for (uint32_t i = 0; i < 256; i++)
			words[i] = (uint32_t)(sent / 4) + i;
		n = send(CONN, words, sizeof(words), MSG_DONTWAIT);
		if (n < 0)
			return sent;
		sent += (uint64_t)n;
		/* Whole words alone keep these bytes simple. */
		CHECK(n % 4 == 0);
	}
}

static void drain(uint64_t n)
{
	uint32_t word;

	for (uint64_t at = 0; at < n; at += 4) {
		struct pollfd p = { .fd = CONN, .events = POLLIN };

		CHECK(poll(&p, 1, WAIT_MS) == 1);
		CHECK(recv(CONN, &word, 4, MSG_WAITALL) == 4);
		CHECK(word == (uint32_t)(at / 4));
	}
}

/* ---- setting up ---- */

static socklen_t peer_address(struct sockaddr_storage *ss)
{
	struct sockaddr_in *in = (void *)ss;
	struct sockaddr_in6 *in6 = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	in->sin_port = htons(LOAD_PORT);
	ss->ss_family = shared->six ? AF_INET6 : AF_INET;
	if (shared->six)
		inet_pton(AF_INET6, "fd77::1", &in6->sin6_addr);
	else
		inet_pton(AF_INET, "10.77.0.1", &in->sin_addr);
	return shared->six ? sizeof(*in6) : sizeof(*in);
}

void states_place(int fd, int number)
{
	CHECK(fd >= 0 && dup2(fd, number) == number);
	if (fd != number)
		close(fd);
}

static void small_buffers(int fd)
{
	int v = 40000;

	CHECK(!setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &v, sizeof(v)));
	CHECK(!setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &v, sizeof(v)));
}

void states_listen(void)
{
	struct sockaddr_storage ss;
	socklen_t n = peer_address(&ss);
	int one = 1;

	states_place(socket(ss.ss_family, SOCK_STREAM, 0), LISTEN);
	setsockopt(LISTEN, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	small_buffers(LISTEN);
	CHECK(bind(LISTEN, (void *)&ss, n) == 0 && listen(LISTEN, 5) == 0);
	shared->listening = true;
}

static void do_accept(void)
{
	states_place(accept(LISTEN, NULL, NULL), CONN);
}

static void do_connect(void)
{
	struct sockaddr_storage ss;
	socklen_t n = peer_address(&ss);

	states_wait(&shared->listening);
	states_place(socket(ss.ss_family, SOCK_STREAM, 0), CONN);
	small_buffers(CONN);
	CHECK(connect(CONN, (void *)&ss, n) == 0);
}

/* ---- the cases ---- */

static void fin_wait1_rank(void)
{
	do_connect();
	CHECK(states_say("tail") && shutdown(CONN, SHUT_WR) == 0);
	wait_state(TCP_FIN_WAIT1);
}

static void half_closed_peer(void)
{
	CHECK(states_read("tail") && states_read("") && states_say("ok"));
	close(CONN);
}

static void half_closed_rank(void)
{
	CHECK(states_read("ok") && states_read(""));
}

static void full_rank(void)
{
	do_connect();
	shared->rank_sent = fill();
	CHECK(shared->rank_sent > 40000);
	CHECK(shutdown(CONN, SHUT_WR) == 0);
	wait_state(TCP_FIN_WAIT1);
}

static void full_peer(void)
{
	drain(shared->rank_sent);
	CHECK(states_read("") && states_say("ok"));
	close(CONN);
}

static void shut_after_rank(void)
{
	do_accept();
	states_wait(&shared->shut);
	CHECK(shutdown(CONN, SHUT_WR) == 0);
}

static void closing_rank(void)
{
	do_connect();
	CHECK(states_say("tail") && shutdown(CONN, SHUT_WR) == 0);
	shared->shut = true;
	wait_state(TCP_CLOSING);
}

static void closing_full_rank(void)
{
	do_connect();
	shared->rank_sent = fill();
	CHECK(shutdown(CONN, SHUT_WR) == 0);
	shared->shut = true;
	wait_state(TCP_CLOSING);
}

static void reads_tail(void)
{
	CHECK(states_read("tail") && states_read(""));
}

static void reads_all(void)
{
	drain(shared->rank_sent);
	CHECK(states_read(""));
}

/* Ended in both directions, which the peer has acknowledged. */
static void ends_rank(void)
{
	CHECK(states_read(""));
	wait_state(TCP_CLOSE);
}

static void says_and_shuts(void)
{
	do_accept();
	CHECK(states_say("last") && shutdown(CONN, SHUT_WR) == 0);
}

static void last_ack_rank(void)
{
	do_connect();
	wait_state(TCP_CLOSE_WAIT);
	CHECK(states_say("tail") && shutdown(CONN, SHUT_WR) == 0);
	wait_state(TCP_LAST_ACK);
}

static void last_ack_verify(void)
{
	CHECK(states_read("last") && states_read(""));
	wait_state(TCP_CLOSE);
}

static void close_wait_rank(void)
{
	do_connect();
	wait_state(TCP_CLOSE_WAIT);
}

static void close_wait_verify(void)
{
	CHECK(states_read("last") && states_read("") && states_say("tail"));
	close(CONN);
}

/* Both queues of both ends are full. */
static void both_full_peer(void)
{
	do_accept();
	shared->peer_sent = fill();
}

static void both_full_rank(void)
{
	do_connect();
	shared->rank_sent = fill();
	poll(NULL, 0, 50);
}

static void both_full_rank_verify(void)
{
	drain(shared->peer_sent);
	CHECK(states_say("tail"));
	CHECK(states_read("ok"));
}

static void both_full_peer_verify(void)
{
	drain(shared->rank_sent);
	CHECK(states_read("tail") && states_say("ok"));
}

static void syn_sent_rank(void)
{
	struct sockaddr_storage ss;
	socklen_t n = peer_address(&ss);

	states_wait(&shared->listening);
	states_place(socket(ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0),
		     CONN);
	CHECK(connect(CONN, (void *)&ss, n) < 0 && errno == EINPROGRESS);
	poll(NULL, 0, 20);
	CHECK(state_of(CONN) == TCP_SYN_SENT);
}

static void syn_sent_verify(void)
{
	struct pollfd p = { .fd = CONN, .events = POLLOUT };
	socklen_t n = sizeof(int);
	int e;

	CHECK(poll(&p, 1, WAIT_MS) == 1);
	CHECK(getsockopt(CONN, SOL_SOCKET, SO_ERROR, &e, &n) == 0 && e == 0);
	CHECK(states_say("hello") && states_read("ok"));
}

void states_accept_late(void)
{
	do_accept();
	CHECK(states_read("hello") && states_say("ok"));
}

static void nothing(void)
{
}

#define NO_FIN                                           \
	"chain o { type filter hook output priority 0; " \
	"tcp flags & fin == fin drop\n}"
#define NO_SYN                                           \
	"chain o { type filter hook output priority 0; " \
	"tcp flags & syn == syn drop\n}"
#define NO_ACK                                          \
	"chain i { type filter hook input priority 0; " \
	"tcp flags & syn == syn drop\n}"

const struct states_case states_cases[] = {
	{ "FIN_WAIT1", NO_FIN, fin_wait1_rank, do_accept, half_closed_rank,
	  half_closed_peer },
	{ "FIN_WAIT1, unsent", NULL, full_rank, do_accept, half_closed_rank,
	  full_peer },
	{ "CLOSING", NO_FIN, closing_rank, shut_after_rank, ends_rank,
	  reads_tail },
	{ "CLOSING, unsent", NULL, closing_full_rank, shut_after_rank,
	  ends_rank, reads_all },
	{ "LAST_ACK", NO_FIN, last_ack_rank, says_and_shuts, last_ack_verify,
	  reads_tail },
	{ "CLOSE_WAIT", NULL, close_wait_rank, says_and_shuts,
	  close_wait_verify, reads_tail },
	{ "ESTABLISHED, full", NULL, both_full_rank, both_full_peer,
	  both_full_rank_verify, both_full_peer_verify },
	{ "SYN_SENT", NO_SYN, syn_sent_rank, nothing, syn_sent_verify,
	  states_accept_late, true },
	{ "SYN_SENT, SYN seen", NO_ACK, syn_sent_rank, nothing, syn_sent_verify,
	  states_accept_late, true },
	{ .name = NULL }
};
