/*
 * test_wire.c - three processes exchange blobs over servers that are saved and
 * made anew all the time, as in moves
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmi/gather.h"
#include "pmi/preload/wire.h"

enum { RANKS = 3, ROUNDS = 4 };

static struct {
	struct pmi_gather *gather;
	struct rank {
		struct pmi_server *server;
		int fd;
		pid_t pid;
		int aborted;
	} rank[RANKS];
} t;

/* ---- a rank ---- */

/*
 * Sizes in pieces of 500 bytes: none, one, exactly two, three; then fewer than
 * before.
 */
static size_t blob_size(uint32_t rank, int round)
{
	static const size_t sizes[RANKS][ROUNDS] = { { 0, 48, 1000, 1200 },
						     { 1499, 500, 0, 1 },
						     { 48, 48, 501, 0 } };

	return sizes[rank][round];
}

static size_t make_blob(uint32_t rank, int round, uint8_t *p)
{
	size_t n = blob_size(rank, round);

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7 + rank * 31 + (size_t)round);
	return n;
}

static int exchange_round(uint32_t rank, int round)
{
	uint8_t mine[2000], want[RANKS * 2000];
	size_t n = make_blob(rank, round, mine), nr_want = 0, nr_all;
	void *all = NULL;

	for (uint32_t i = 0; i < RANKS; i++)
		nr_want += make_blob(i, round, want + nr_want);
	if (pmi_wire_fence(mine, n, &all, &nr_all))
		return 10;
	if (nr_all != nr_want || (nr_want && memcmp(all, want, nr_want)))
		return 11;
	free(all);
	return 0;
}

static int be_rank(uint32_t number)
{
	char name[PMI_KVSNAME_MAX];
	uint32_t rank, size;
	int r = 0;

	if (pmi_wire_open(&rank, &size) || rank != number || size != RANKS)
		return 1;
	if (pmi_wire_begin(name) || strcmp(name, "kvs_7"))
		return 2;
	for (int round = 0; !r && round < ROUNDS; round++)
		r = exchange_round(rank, round);
	if (!r && pmi_wire_finalize())
		r = 3;
	if (!r)
		pmi_wire_abort(5 + (int)rank);
	return r;
}

static void start_rank(uint32_t number)
{
	char text[16];
	int sv[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	t.rank[number].fd = sv[0];
	t.rank[number].pid = fork();
	if (t.rank[number].pid) {
		close(sv[1]);
		return;
	}
	snprintf(text, sizeof(text), "%d", sv[1]);
	setenv("PMI_FD", text, 1);
	snprintf(text, sizeof(text), "%u", number);
	setenv("PMI_RANK", text, 1);
	setenv("PMI_SIZE", "3", 1);
	_exit(be_rank(number));
}

/* ---- the keepers and the controller ---- */

static void on_fence(void *ctx, uint64_t generation, const struct pmi_put *puts,
		     size_t n)
{
	struct rank *rank = ctx;
	int r = pmi_gather_add(t.gather, (uint32_t)(rank - t.rank), generation,
			       puts, n, false, NULL);

	assert_true(r >= 0);
	if (r != PMI_GATHER_ALL)
		return;
	puts = pmi_gather_union(t.gather, &n);
	for (int i = 0; i < RANKS; i++)
		assert_int_equal(pmi_server_release(t.rank[i].server,
						    generation, puts, n, false,
						    NULL),
				 0);
}

static void on_abort(void *ctx, int code, const char *text)
{
	struct rank *rank = ctx;

	rank->aborted = code;
}

static const struct pmi_exchange exchange = { on_fence, on_abort };

/* As the keeper does to which the rank has moved. */
static void move(struct rank *rank)
{
	void *bytes;
	size_t n;

	pmi_server_save(rank->server, &bytes, &n);
	pmi_server_destroy(rank->server);
	assert_int_equal(
		pmi_server_load(bytes, n, &exchange, rank, &rank->server, NULL),
		0);
	free(bytes);
	pmi_server_refence(rank->server);
}

static void answer(struct rank *rank)
{
	size_t n;
	const void *p = pmi_server_output(rank->server, &n);

	if (!n)
		return;
	assert_int_equal(send(rank->fd, p, n, MSG_NOSIGNAL), n);
	pmi_server_sent(rank->server, n);
}

/* One byte at a time, so that a move happens at every place in a line. */
static bool serve(struct rank *rank)
{
	char c;

	if (recv(rank->fd, &c, 1, 0) <= 0)
		return false;
	assert_int_equal(pmi_server_feed(rank->server, &c, 1, NULL), 0);
	move(rank);
	for (int i = 0; i < RANKS; i++)
		answer(&t.rank[i]);
	return true;
}

static void serve_all(void)
{
	struct pollfd fds[RANKS];
	int left = RANKS;

	for (int i = 0; i < RANKS; i++)
		fds[i] = (struct pollfd){ t.rank[i].fd, POLLIN, 0 };
	while (left) {
		assert_true(poll(fds, RANKS, -1) > 0);
		for (int i = 0; i < RANKS; i++)
			if (fds[i].fd >= 0 && fds[i].revents &&
			    !serve(&t.rank[i])) {
				fds[i].fd = -1;
				left--;
			}
	}
}

static void blobs_of_all_come_to_all(void **state)
{
	int status;

	t.gather = pmi_gather_create(RANKS);
	for (uint32_t i = 0; i < RANKS; i++) {
		assert_int_equal(pmi_server_create(i, RANKS, "kvs_7", &exchange,
						   &t.rank[i],
						   &t.rank[i].server, NULL),
				 0);
		start_rank(i);
	}
	serve_all();
	for (int i = 0; i < RANKS; i++) {
		assert_int_equal(waitpid(t.rank[i].pid, &status, 0),
				 t.rank[i].pid);
		assert_int_equal(status, 0);
		assert_int_equal(pmi_server_phase(t.rank[i].server), PMI_OVER);
		assert_int_equal(t.rank[i].aborted, 5 + i);
		pmi_server_destroy(t.rank[i].server);
		close(t.rank[i].fd);
	}
	pmi_gather_destroy(t.gather);
}

/* ---- a keeper that says something else ---- */

static int fence_with(const char *said)
{
	char in[200];
	int sv[2], status;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	pid = fork();
	if (!pid) {
		uint32_t rank, size;
		void *all;
		size_t n;

		snprintf(in, sizeof(in), "%d", sv[1]);
		close(sv[0]);
		setenv("PMI_FD", in, 1);
		setenv("PMI_RANK", "0", 1);
		setenv("PMI_SIZE", "2", 1);
		if (pmi_wire_open(&rank, &size))
			_exit(1);
		_exit(-pmi_wire_fence("x", 1, &all, &n));
	}
	close(sv[1]);
	assert_true(recv(sv[0], in, sizeof(in), 0) > 0);
	assert_int_equal(send(sv[0], said, strlen(said), MSG_NOSIGNAL),
			 strlen(said));
	shutdown(sv[0], SHUT_WR);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	close(sv[0]);
	return -WEXITSTATUS(status);
}

static void what_is_no_answer_is_told(void **state)
{
	assert_int_equal(fence_with(""), -ECONNRESET);
	assert_int_equal(fence_with("cmd=put_result rc=-1\n"), -EPROTO);
	assert_int_equal(fence_with("cmd=put_result rc=0 msg=success\n"),
			 -ECONNRESET);
	assert_int_equal(fence_with("cmd=put_result rc=0\n"
				    "cmd=blob value=0\ncmd=fence_out rc=0\n"),
			 -EPROTO);
	assert_int_equal(fence_with("cmd=put_result rc=0\n"
				    "cmd=blob value=zz\ncmd=fence_out rc=0\n"),
			 -EPROTO);
	assert_int_equal(fence_with("cmd=put_result rc=0\n"
				    "cmd=barrier_out rc=0\n"),
			 -EPROTO);
	assert_int_equal(fence_with("cmd=put_result rc=0\n"
				    "cmd=blob value=00\ncmd=fence_out rc=0\n"),
			 0);
}

static void numbers_of_ranks_are_below_their_count(void **state)
{
	uint32_t rank = 7, size = 7;

	(void)state;
	setenv("PMI_FD", "0", 1);
	setenv("PMI_SIZE", "2", 1);
	setenv("PMI_RANK", "2", 1);
	assert_int_equal(pmi_wire_open(&rank, &size), -ENOENT);
	setenv("PMI_RANK", "1", 1);
	assert_int_equal(pmi_wire_open(&rank, &size), 0);
	assert_true(rank == 1 && size == 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blobs_of_all_come_to_all),
		cmocka_unit_test(what_is_no_answer_is_told),
		cmocka_unit_test(numbers_of_ranks_are_below_their_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
