/*
 * test_states.c - each state of a TCP connection with a peer elsewhere, moved
 *
 * Packets are dropped in the first host where a state would not last.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/test_fork.h"
#include "move/fd/fds.h"
#include "move/fd/test_states.h"
#include "move/fdkit/source.h"

/* ---- running one ---- */

static void filter(const char *rules)
{
	char *argv[] = { (char *)"nft", (char *)"", NULL };
	char text[256];
	pid_t pid = fork_to_end_with();
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
	pid_t pid = fork_to_end_with();

	if (pid)
		return pid;
	load_net_enter(net);
	close_range(0, ~0u, 0);
	if (net == LOAD_PEER)
		states_listen();
	make();
	if (net == LOAD_PEER)
		states_wait(&shared->moved);
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
	pid = fork_to_end_with();
	*control = s[0];
	if (pid) {
		close(s[1]);
		return pid;
	}
	load_net_enter(LOAD_B);
	dup2(s[1], CONTROL);
	if (fds_unpack(shared->blob, shared->blob_n, &r, &err) < 0 ||
	    fds_restore(r, NULL, NULL, &reserved, 1, &err) < 0 ||
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
	s->later_least = SIZE_MAX; /* test_move.c tests late queues */
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

	memset(shared, 0, offsetof(struct states_shared, blob));
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
	for (size_t i = 0; states_cases[i].name; i++) {
		run(&states_cases[i], i % 2, false);
		if (!states_cases[i].slow)
			run(&states_cases[i], !(i % 2), false);
	}
}

static void given_up(void **state)
{
	for (size_t i = 0; states_cases[i].name; i++) {
		if (!states_cases[i].slow)
			run(&states_cases[i], i % 2, true);
	}
}

/* ---- a connection to the rank that is being made ---- */

#define NO_LAST_ACK                                     \
	"chain i { type filter hook input priority 0; " \
	"tcp flags & (syn | ack) == ack drop\n}"

static void listens_rank(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(LOAD_PORT) };

	states_place(socket(AF_INET, SOCK_STREAM, 0), LISTEN);
	CHECK(bind(LISTEN, (void *)&in, sizeof(in)) == 0);
	CHECK(listen(LISTEN, 5) == 0);
}

static void calls_peer(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(LOAD_PORT) };

	CHECK(inet_pton(AF_INET, "10.77.0.2", &in.sin_addr) == 1);
	states_place(socket(AF_INET, SOCK_STREAM, 0), CONN);
	CHECK(connect(CONN, (void *)&in, sizeof(in)) == 0);
	shared->shut = true;
}

static void says_hello(void)
{
	CHECK(states_say("hello") && states_read("ok"));
}

/*
 * The peer takes itself for connected, but the destination would not know of
 * it.
 */
static void half_made(void **state)
{
	struct error err = ERROR_INIT;
	struct fds_source *s;
	uint8_t *blob;
	pid_t rank, peer;
	int pidfd, status;
	size_t n;

	memset(shared, 0, offsetof(struct states_shared, blob));
	filter(NO_LAST_ACK);
	load_net_plug(LOAD_A, true);
	rank = start(LOAD_A, listens_rank, states_accept_late);
	assert_int_equal(waitpid(rank, &status, WUNTRACED), rank);
	assert_true(WIFSTOPPED(status));
	peer = start(LOAD_PEER, calls_peer, says_hello);
	states_wait(&shared->shut);
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
