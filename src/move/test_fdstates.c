/*
 * test_fdstates.c - each state of a TCP connection with a peer elsewhere, moved
 *
 * Packets are dropped in the first host where a state would not last.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "move/fds.h"
#include "move/tcpcompat.h"
#include "move/test_fdload.h"

#define CONN	10
#define LISTEN	11
#define CONTROL 900
#define WAIT_MS 10000

/* What the processes of one case share. */
static struct shared {
	bool six;
	_Atomic bool listening, shut, moved;
	uint64_t rank_sent, peer_sent;
	char text[256]; /* of the first failure */
	size_t blob_n;
	unsigned char blob[LOAD_BLOB_MAX];
} * shared;

#define CHECK(cond) check(cond, #cond, __LINE__)
static void check(bool cond, const char *text, int line)
{
	if (cond)
		return;
	if (!shared->text[0])
		snprintf(shared->text, sizeof(shared->text),
			 "line %d: %s (errno %d)", line, text, errno);
	_exit(1);
}

static void wait_for(_Atomic bool *flag)
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

static bool says(const char *text)
{
	return send(CONN, text, strlen(text), MSG_NOSIGNAL) ==
	       (ssize_t)strlen(text);
}

static bool reads(const char *text)
{
	struct pollfd p = { .fd = CONN, .events = POLLIN };
	size_t n = strlen(text);
	char buf[256];

	return poll(&p, 1, WAIT_MS) == 1 &&
	       recv(CONN, buf, n ? n : 1, n ? MSG_WAITALL : 0) == (ssize_t)n &&
	       !memcmp(buf, text, n);
}

/* Bytes that depend on their place, until no more are taken. */
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
		/* Only whole words keep the bytes simple. */
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

static void place(int fd, int number)
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

static void make_listener(void)
{
	struct sockaddr_storage ss;
	socklen_t n = peer_address(&ss);
	int one = 1;

	place(socket(ss.ss_family, SOCK_STREAM, 0), LISTEN);
	setsockopt(LISTEN, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	small_buffers(LISTEN);
	CHECK(bind(LISTEN, (void *)&ss, n) == 0 && listen(LISTEN, 5) == 0);
	shared->listening = true;
}

static void do_accept(void)
{
	place(accept(LISTEN, NULL, NULL), CONN);
}

static void do_connect(void)
{
	struct sockaddr_storage ss;
	socklen_t n = peer_address(&ss);

	wait_for(&shared->listening);
	place(socket(ss.ss_family, SOCK_STREAM, 0), CONN);
	small_buffers(CONN);
	CHECK(connect(CONN, (void *)&ss, n) == 0);
}

/* ---- the cases ---- */

static void fin_wait1_rank(void)
{
	do_connect();
	CHECK(says("tail") && shutdown(CONN, SHUT_WR) == 0);
	wait_state(TCP_FIN_WAIT1);
}

static void half_closed_peer(void)
{
	CHECK(reads("tail") && reads("") && says("ok"));
	close(CONN);
}

static void half_closed_rank(void)
{
	CHECK(reads("ok") && reads(""));
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
	CHECK(reads("") && says("ok"));
	close(CONN);
}

static void shut_after_rank(void)
{
	do_accept();
	wait_for(&shared->shut);
	CHECK(shutdown(CONN, SHUT_WR) == 0);
}

static void closing_rank(void)
{
	do_connect();
	CHECK(says("tail") && shutdown(CONN, SHUT_WR) == 0);
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
	CHECK(reads("tail") && reads(""));
}

static void reads_all(void)
{
	drain(shared->rank_sent);
	CHECK(reads(""));
}

/* Wholly closed, with the peer's acknowledgement. */
static void ends_rank(void)
{
	CHECK(reads(""));
	wait_state(TCP_CLOSE);
}

static void says_and_shuts(void)
{
	do_accept();
	CHECK(says("last") && shutdown(CONN, SHUT_WR) == 0);
}

static void last_ack_rank(void)
{
	do_connect();
	wait_state(TCP_CLOSE_WAIT);
	CHECK(says("tail") && shutdown(CONN, SHUT_WR) == 0);
	wait_state(TCP_LAST_ACK);
}

static void last_ack_verify(void)
{
	CHECK(reads("last") && reads(""));
	wait_state(TCP_CLOSE);
}

static void close_wait_rank(void)
{
	do_connect();
	wait_state(TCP_CLOSE_WAIT);
}

static void close_wait_verify(void)
{
	CHECK(reads("last") && reads("") && says("tail"));
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
	CHECK(says("tail"));
	CHECK(reads("ok"));
}

static void both_full_peer_verify(void)
{
	drain(shared->rank_sent);
	CHECK(reads("tail") && says("ok"));
}

static void syn_sent_rank(void)
{
	struct sockaddr_storage ss;
	socklen_t n = peer_address(&ss);

	wait_for(&shared->listening);
	place(socket(ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0), CONN);
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
	CHECK(says("hello") && reads("ok"));
}

static void accepts_late(void)
{
	do_accept();
	CHECK(reads("hello") && says("ok"));
}

static void nothing(void)
{
}

struct states_case {
	const char *name;
	const char *drop; /* nft rule of the first host, or NULL */
	void (*rank_make)(void);
	void (*peer_make)(void);
	void (*rank_verify)(void);
	void (*peer_verify)(void);
	bool slow; /* takes a second: one way only */
};

#define NO_FIN                                           \
	"chain o { type filter hook output priority 0; " \
	"tcp flags & fin == fin drop\n}"
#define NO_SYN                                           \
	"chain o { type filter hook output priority 0; " \
	"tcp flags & syn == syn drop\n}"
#define NO_ACK                                          \
	"chain i { type filter hook input priority 0; " \
	"tcp flags & syn == syn drop\n}"

static const struct states_case cases[] = {
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
	  accepts_late, true },
	{ "SYN_SENT, SYN seen", NO_ACK, syn_sent_rank, nothing, syn_sent_verify,
	  accepts_late, true },
};

/* ---- running one ---- */

static void filter(const char *rules)
{
	char *argv[] = { (char *)"nft", (char *)"", NULL };
	char text[256];
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		load_net_enter(LOAD_A);
		snprintf(text, sizeof(text),
			 "table inet fdstates\ndelete table inet fdstates\n"
			 "table inet fdstates {\n%s\n}\n",
			 rules ? rules : "");
		argv[1] = text;
		execvp("nft", argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static pid_t start(int net, void (*make)(void), void (*verify)(void))
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	load_net_enter(net);
	close_range(0, ~0u, 0);
	if (net == LOAD_PEER)
		make_listener();
	make();
	if (net == LOAD_PEER)
		wait_for(&shared->moved);
	else
		raise(SIGSTOP);
	verify();
	_exit(0);
}

static char hear(int fd)
{
	char c = 0;

	return read(fd, &c, 1) == 1 ? c : 0;
}

static pid_t land(const struct states_case *c, int *control)
{
	struct error err = ERROR_INIT;
	struct fds_restored *r;
	int s[2], reserved = CONTROL;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	pid = fork();
	*control = s[0];
	if (pid) {
		close(s[1]);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	load_net_enter(LOAD_B);
	dup2(s[1], CONTROL);
	if (fds_restore(shared->blob, shared->blob_n, NULL, NULL, &reserved, 1,
			&r, &err) < 0 ||
	    write(CONTROL, "r", 1) != 1 || hear(CONTROL) != 'p' ||
	    fds_activate(r, &err) < 0) {
		snprintf(shared->text, sizeof(shared->text), "landing: %.200s",
			 err.text);
		_exit(1);
	}
	c->rank_verify();
	_exit(0);
}

static void check_end(const char *name, const char *who, pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		fail_msg("%s%s, %s: %s", name, shared->six ? " (IPv6)" : "",
			 who, shared->text);
}

static struct fds_source *capture(pid_t rank, int pidfd)
{
	struct error err = ERROR_INIT;
	struct fds_source *s;
	uint8_t *blob;

	if (fds_prepare(rank, pidfd, NULL, 0, NULL, &s, &err) < 0 ||
	    fds_drain(s, 5000, &err) < 0)
		fail_msg("%s", err.text);
	load_net_plug(LOAD_A, false);
	if (fds_capture(s, &blob, &shared->blob_n, &err) < 0)
		fail_msg("%s", err.text);
	memcpy(shared->blob, blob, shared->blob_n);
	free(blob);
	return s;
}

static void run(const struct states_case *c, bool six, bool give_up)
{
	int pidfd, control = -1, status;
	struct fds_source *s;
	pid_t rank, peer;

	memset(shared, 0, offsetof(struct shared, blob));
	shared->six = six;
	if (c->drop)
		filter(c->drop);
	load_net_plug(LOAD_A, true);
	peer = start(LOAD_PEER, c->peer_make, c->peer_verify);
	rank = start(LOAD_A, c->rank_make, c->rank_verify);
	assert_int_equal(waitpid(rank, &status, WUNTRACED), rank);
	if (!WIFSTOPPED(status))
		fail_msg("%s: set-up: %s", c->name, shared->text);
	pidfd = (int)syscall(SYS_pidfd_open, rank, 0);
	s = capture(rank, pidfd);
	if (c->drop)
		filter(NULL);
	if (give_up) {
		fds_source_destroy(s);
		load_net_plug(LOAD_A, true);
		kill(rank, SIGCONT);
	} else {
		pid_t landing = land(c, &control);

		if (hear(control) != 'r')
			fail_msg("%s: %s", c->name, shared->text);
		assert_int_equal(fds_finish(s, NULL), 0);
		fds_source_destroy(s);
		kill(rank, SIGKILL);
		waitpid(rank, NULL, 0);
		load_net_plug(LOAD_B, true);
		assert_int_equal(write(control, "p", 1), 1);
		rank = landing;
	}
	shared->moved = true;
	check_end(c->name, "rank", rank);
	check_end(c->name, "peer", peer);
	load_net_plug(give_up ? LOAD_A : LOAD_B, false);
	close(pidfd);
	close(control);
}

static void moved(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		run(&cases[i], i % 2, false);
		if (!cases[i].slow)
			run(&cases[i], !(i % 2), false);
	}
}

static void given_up(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (!cases[i].slow)
			run(&cases[i], i % 2, true);
	}
}

/* ---- a connection that is just being made to the rank ---- */

#define NO_LAST_ACK                                     \
	"chain i { type filter hook input priority 0; " \
	"tcp flags & (syn | ack) == ack drop\n}"

static void listens_rank(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(LOAD_PORT) };

	place(socket(AF_INET, SOCK_STREAM, 0), LISTEN);
	CHECK(bind(LISTEN, (void *)&in, sizeof(in)) == 0);
	CHECK(listen(LISTEN, 5) == 0);
}

static void calls_peer(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(LOAD_PORT) };

	CHECK(inet_pton(AF_INET, "10.77.0.2", &in.sin_addr) == 1);
	place(socket(AF_INET, SOCK_STREAM, 0), CONN);
	CHECK(connect(CONN, (void *)&in, sizeof(in)) == 0);
	shared->shut = true;
}

static void says_hello(void)
{
	CHECK(says("hello") && reads("ok"));
}

/* The peer believes it is connected; nobody at the destination would know. */
static void half_made(void **state)
{
	struct error err = ERROR_INIT;
	struct fds_source *s;
	uint8_t *blob;
	pid_t rank, peer;
	int pidfd, status;
	size_t n;

	memset(shared, 0, offsetof(struct shared, blob));
	filter(NO_LAST_ACK);
	load_net_plug(LOAD_A, true);
	rank = start(LOAD_A, listens_rank, accepts_late);
	assert_int_equal(waitpid(rank, &status, WUNTRACED), rank);
	assert_true(WIFSTOPPED(status));
	peer = start(LOAD_PEER, calls_peer, says_hello);
	wait_for(&shared->shut);
	pidfd = (int)syscall(SYS_pidfd_open, rank, 0);
	assert_int_equal(fds_prepare(rank, pidfd, NULL, 0, NULL, &s, &err), 0);
	assert_int_equal(fds_drain(s, 5000, &err), -EAGAIN);
	load_net_plug(LOAD_A, false);
	assert_int_equal(fds_capture(s, &blob, &n, &err), -EAGAIN);
	assert_non_null(strstr(err.text, "1 connection waits to be accepted"));
	fds_source_destroy(s);
	filter(NULL);
	load_net_plug(LOAD_A, true);
	kill(rank, SIGCONT);
	shared->moved = true;
	check_end("half made", "rank", rank);
	check_end("half made", "peer", peer);
	load_net_plug(LOAD_A, false);
	close(pidfd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moved),
		cmocka_unit_test(given_up),
		cmocka_unit_test(half_made),
	};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	load_net_create(5000);
	return cmocka_run_group_tests_name("fdstates", tests, NULL, NULL);
}
