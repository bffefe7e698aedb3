/* test_keeper.c - events kept until acked; commit records; saved state */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/keeper/priv.h"
#include "core/clock.h"
#include "core/scratch.h"
#include "core/xalloc.h"

/* ---- the queue */

static void add(struct keeper_queue *q, const char *text, bool keep)
{
	Keeper__Event ev = KEEPER__EVENT__INIT;
	Keeper__Output out = KEEPER__OUTPUT__INIT;

	out.data.data = (uint8_t *)text;
	out.data.len = strlen(text);
	ev.body_case = KEEPER__EVENT__BODY_OUTPUT;
	ev.output = &out;
	keeper_queue_add(q, &ev, keep);
}

static void expect(int fd, uint64_t seq, const char *text)
{
	uint8_t buf[4096];
	ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
	Keeper__Event *ev;

	if (!text) {
		assert_int_equal(n, -1);
		return;
	}
	assert_true(n > 0);
	ev = keeper__event__unpack(NULL, (size_t)n, buf);
	assert_non_null(ev);
	assert_int_equal(ev->seq, seq);
	assert_int_equal(ev->output->data.len, strlen(text));
	assert_memory_equal(ev->output->data.data, text, strlen(text));
	keeper__event__free_unpacked(ev, NULL);
}

static void queue_resends(void **state)
{
	struct keeper_queue *q = keeper_queue_create();
	int sv[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv), 0);
	add(q, "a", true);
	add(q, "nobody hears", false);
	assert_int_equal(keeper_queue_kept(q), 1);
	keeper_queue_restart(q, 0);
	add(q, "b", true);
	add(q, "answer", false);
	add(q, "c", true);
	assert_int_equal(keeper_queue_send(q, sv[0]), 0);
	expect(sv[1], 1, "a");
	expect(sv[1], 2, "b");
	expect(sv[1], 0, "answer");
	expect(sv[1], 3, "c");
	assert_int_equal(keeper_queue_send(q, sv[0]), 0);
	expect(sv[1], 0, NULL);
	keeper_queue_ack(q, 1);
	/*
	 * The agent dies after it has handled 2 events, without acknowledging
	 * them.
	 */
	keeper_queue_detach(q);
	add(q, "d", true);
	keeper_queue_restart(q, 2);
	assert_int_equal(keeper_queue_send(q, sv[0]), 0);
	expect(sv[1], 3, "c");
	expect(sv[1], 4, "d");
	expect(sv[1], 0, NULL);
	keeper_queue_ack(q, 4);
	assert_int_equal(keeper_queue_kept(q), 0);
	assert_int_equal(keeper_queue_bytes(q), 0);
	keeper_queue_destroy(q);
	close(sv[0]);
	close(sv[1]);
}

static void queue_full(void **state)
{
	struct keeper_queue *q = keeper_queue_create();
	char *big = xcalloc(1, 1001), text[2048];
	unsigned sent = 0;
	int sv[2], r;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv), 0);
	memset(big, 'x', 1000);
	keeper_queue_restart(q, 0);
	for (unsigned i = 0; i < 2000; i++)
		add(q, big, true);
	assert_int_equal(keeper_queue_send(q, sv[0]), 1);
	do {
		while (recv(sv[1], text, sizeof(text), MSG_DONTWAIT) > 0)
			sent++;
		r = keeper_queue_send(q, sv[0]);
	} while (r == 1);
	while (recv(sv[1], text, sizeof(text), MSG_DONTWAIT) > 0)
		sent++;
	assert_int_equal(r, 0);
	assert_int_equal(sent, 2000);
	close(sv[1]);
	add(q, "x", false);
	assert_int_equal(keeper_queue_send(q, sv[0]), -EPIPE);
	keeper_queue_destroy(q);
	close(sv[0]);
	free(big);
}

/* ---- records */

static void records(void **state)
{
	char dir[SCRATCH_MAX], *keepers, *path;
	struct keeper_id id = { .run_dir = dir, .job = "j", .rank = 3 };
	struct error err;

	scratch_dir(dir, "/tmp");
	keepers = xasprintf("%s/keepers", dir);
	assert_true(keeper_record_write(&id, 7, "h:1", &err) < 0);
	assert_int_equal(mkdir(keepers, 0700), 0);
	assert_int_equal(keeper_record_read(&id, 7, &err), 0);
	assert_int_equal(keeper_record_write(&id, 7, "h:1", &err), 0);
	assert_int_equal(keeper_record_read(&id, 7, &err), 1);
	assert_int_equal(keeper_record_read(&id, 8, &err), 0);
	keeper_record_remove(&id, 7);
	keeper_record_remove(&id, 7);
	assert_int_equal(keeper_record_read(&id, 7, &err), 0);
	/*
	 * A record that exists and cannot be read proves nothing, neither way.
	 */
	path = xasprintf("%s/j.3.9.record", keepers);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(keeper_record_read(&id, 9, &err) < 0);
	assert_int_equal(rmdir(path), 0);
	free(path);
	assert_int_equal(rmdir(keepers), 0);
	free(keepers);
}

/*
 * What a process finds out about an epoch: 1 if the rank was given away, 0 if
 * not.
 */
static int find_out(const struct keeper_id *id, uint64_t epoch, bool engine)
{
	struct error err;
	int r = engine ? keeper_record_write(id, epoch, "h:1", &err)
		       : keeper_record_settle(id, epoch, &err);

	if (!engine)
		return r;
	return r == 0 ? 1 : r == -ECANCELED ? 0 : r;
}

/* An engine gives the rank away while its host answers that it did not. */
static void records_race(void **state)
{
	enum { ROUNDS = 200 };
	char dir[SCRATCH_MAX], *keepers;
	struct keeper_id id = { .run_dir = dir, .job = "j", .rank = 3 };
	struct error err;
	unsigned given = 0;

	scratch_dir(dir, "/tmp");
	keepers = xasprintf("%s/keepers", dir);
	assert_int_equal(mkdir(keepers, 0700), 0);
	for (uint64_t epoch = 1; epoch <= ROUNDS; epoch++) {
		bool engine_first = epoch & 1;
		int status, mine;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			_exit(find_out(&id, epoch, engine_first));
		mine = find_out(&id, epoch, !engine_first);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_in_range(mine, 0, 1);
		assert_int_equal(WEXITSTATUS(status), mine);
		/*
		 * What was answered first stays so, whoever asks or tries
		 * later.
		 */
		assert_int_equal(keeper_record_settle(&id, epoch, &err), mine);
		assert_int_equal(keeper_record_read(&id, epoch, &err), mine);
		assert_int_equal(keeper_record_write(&id, epoch, "h:2", &err),
				 -ECANCELED);
		given += mine;
		keeper_record_remove(&id, epoch);
	}
	print_message("# given away in %u of %u\n", given, ROUNDS);
	assert_int_equal(rmdir(keepers), 0);
	free(keepers);
}

/* ---- what travels */

static struct keeper *bare(unsigned rank)
{
	struct keeper *k = xcalloc(1, sizeof(*k));

	k->rank.k = k;
	k->rank.id = (struct keeper_id){ "/nowhere", "job", rank };
	k->agent.fd = -1;
	k->agent.queue = keeper_queue_create();
	for (int i = 0; i < EXT_MAX; i++)
		k->rank.end[i].far = k->rank.end[i].near = -1;
	return k;
}

static void bare_free(struct keeper *k)
{
	for (int i = 0; i < EXT_MAX; i++) {
		keeper_end_close(&k->rank.end[i]);
		close(k->rank.end[i].near);
	}
	keeper_queue_destroy(k->agent.queue);
	pmi_server_destroy(k->rank.pmi);
	free(k);
}

/*
 * The offsets in saved state count the bytes that lie unread in the pipe as
 * still to be handed out.
 */
static void travels(void **state)
{
	struct keeper *a = bare(2), *b = bare(2), *other = bare(3);
	struct error err = ERROR_INIT;
	uint8_t *p;
	size_t n;

	assert_int_equal(
		keeper_make_ends(&a->rank, true, (bool[2]){ false }, &err), 0);
	assert_int_equal(write(a->rank.end[EXT_STDOUT].near, "unread", 6), 6);
	a->rank.io.out_offset[0] = 100;
	a->rank.io.in_offset = 50;
	a->rank.io.nr_in = 3;
	memcpy(a->rank.io.in, "xyz", 3);
	a->rank.io.in_eof = true;
	assert_int_equal(pmi_server_create(2, 4, "kvs", &keeper_pmi_exchange,
					   &a->rank, &a->rank.pmi, &err),
			 0);
	assert_int_equal(
		pmi_server_feed(a->rank.pmi, "cmd=barrier_in\n", 15, &err), 0);
	keeper_save(&a->rank, &p, &n);
	assert_int_equal(keeper_load(&other->rank, p, n, &err), -EPROTO);
	assert_null(other->rank.pmi);
	assert_int_equal(keeper_load(&b->rank, p, n / 2, &err), -EPROTO);
	assert_int_equal(keeper_load(&b->rank, p, n, &err), 0);
	assert_int_equal(b->rank.io.out_offset[0], 106);
	assert_int_equal(b->rank.io.in_offset, 50);
	assert_int_equal(b->rank.io.nr_in, 3);
	assert_memory_equal(b->rank.io.in, "xyz", 3);
	assert_true(b->rank.io.in_eof);
	{
		bool waits;

		assert_int_equal(pmi_server_generation(b->rank.pmi, &waits), 0);
		assert_true(waits);
	}
	free(p);
	bare_free(a);
	bare_free(b);
	bare_free(other);
}

static uint64_t now_usec(void)
{
	return (uint64_t)clock_usec(CLOCK_MONOTONIC);
}

/* A rank that may end soon does not wait for its fast path. */
static void young(void **state)
{
	struct keeper *k = bare(0);
	uint64_t before, due;

	k->rank.fast.wanted = true;
	assert_true(sd_event_new(&k->event) >= 0);
	before = now_usec();
	keeper_fast_path_begin(&k->rank, true);
	assert_true(sd_event_source_get_time(k->rank.fast.timer, &due) >= 0);
	assert_true(due >= before + 200 * USEC_PER_MSEC);
	keeper_fast_path_end(&k->rank);
	keeper_fast_path_begin(&k->rank, false);
	assert_true(sd_event_source_get_time(k->rank.fast.timer, &due) >= 0);
	assert_true(due <= now_usec());
	keeper_fast_path_end(&k->rank);
	sd_event_unref(k->event);
	bare_free(k);
}

/* A keeper whose agent was killed while starting it does not stay for ever. */
static void forgotten(void **state)
{
	char dir[] = "/tmp/stint-test-keeper-XXXXXX", path[64];
	struct keeper_config conf = {
		.run_dir = dir,
		.job = "forgotten",
		.ready_fd = -1,
		.lonely = 1000,
	};
	struct error err;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(keeper_run(&conf, &err), 0);
	snprintf(path, sizeof(path), "%s/keepers", dir);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

static pid_t fork_keeper(const struct keeper_config *conf, int other)
{
	struct error err;
	pid_t pid = fork();

	if (pid)
		return pid;
	close(other);
	_exit(keeper_run(conf, &err) != 0);
}

/* A socket by which it is to say that it is ready is its first agent. */
static void says_hello_at_once(void **state)
{
	char dir[] = "/tmp/stint-test-keeper-XXXXXX", path[64];
	struct keeper_config conf = {
		.run_dir = dir,
		.job = "greets",
		.lonely = 1000,
	};
	Keeper__Event *ev;
	uint8_t buf[4096];
	int pair[2], status;
	ssize_t n;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	conf.ready_fd = pair[1];
	pid = fork_keeper(&conf, pair[0]);
	close(pair[1]);
	n = recv(pair[0], buf, sizeof(buf), 0);
	assert_true(n > 0);
	ev = keeper__event__unpack(NULL, (size_t)n, buf);
	assert_non_null(ev);
	assert_int_equal(ev->body_case, KEEPER__EVENT__BODY_HELLO);
	assert_string_equal(ev->hello->job, "greets");
	keeper__event__free_unpacked(ev, NULL);
	/* It hears that the agent has gone. */
	close(pair[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	snprintf(path, sizeof(path), "%s/keepers", dir);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* ---- START in pieces */

static void say_start(struct keeper *k, char *text, bool more)
{
	Keeper__Request req = KEEPER__REQUEST__INIT;
	Keeper__Start start = KEEPER__START__INIT;
	char *argv[] = { text };

	start.argv = argv;
	start.n_argv = 1;
	start.more = more;
	req.start = &start;
	keeper_on_start(k, &req);
}

/*
 * A controller could fill the keeper's memory with pieces; the text behind the
 * last one is no program.
 */
static void pieces_of_a_start_are_bounded(void **state)
{
	static char text[100000];
	struct keeper k = { .agent = { .fd = -1 } };
	unsigned n = 0;

	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < EXT_MAX; i++)
		k.rank.end[i] = (struct keeper_end){ .far = -1, .near = -1 };
	k.rank.k = &k;
	k.agent.queue = keeper_queue_create();
	do
		say_start(&k, text, true);
	while (k.rank.nr_argv && ++n < 1000);
	assert_int_equal(n, ARGUMENTS_MAX / (sizeof(text) + sizeof(char *)));
	say_start(&k, text, true);
	assert_int_equal(k.rank.nr_argv, 0);
	say_start(&k, text, false);
	assert_int_equal(k.rank.nr_argv, 0);
	say_start(&k, text, true); /* another one */
	assert_int_equal(k.rank.nr_argv, 1);
	keeper_clear_rank(&k.rank);
	keeper_queue_destroy(k.agent.queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_of_a_start_are_bounded),
		cmocka_unit_test(queue_resends),
		cmocka_unit_test(queue_full),
		cmocka_unit_test(records),
		cmocka_unit_test(records_race),
		cmocka_unit_test(travels),
		cmocka_unit_test(forgotten),
		cmocka_unit_test(says_hello_at_once),
		cmocka_unit_test(young),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
