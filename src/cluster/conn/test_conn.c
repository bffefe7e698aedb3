/*
 * test_conn.c - connections of peers that have proved who they are, or cannot
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/conn/frames.h"
#include "cluster/conn/world.h"
#include "core/xalloc.h"

/*
 * Whatever else it has sent at once: a connection that failed is not served any
 * more.
 */
static void failed_is_not_served(void **state)
{
	struct world *w = *state;

	w->fails = true;
	for (w->fail_at = 0; w->fail_at < 3; w->fail_at++) {
		w->heard = w->client_ready = w->client_closed = 0;
		connect_as(w, &w->key);
		while (!w->client_ready)
			turn(w);
		for (int i = 0; i < 5; i++)
			assert_int_equal(conn_send(w->client, "x", 1), 0);
		while (!w->client_closed)
			turn(w);
		assert_int_equal(w->heard, w->fail_at);
	}
}

static void echo_one(struct world *w)
{
	unsigned had = w->echoed;

	assert_int_equal(conn_send(w->client, "x", 1), 0);
	while (w->echoed == had)
		turn(w);
}

/*
 * before_send() is called before each message that tells of state, and before
 * no other.
 */
static void commits_come_first(void **state)
{
	struct world *w = *state;

	connect_as(w, &w->key);
	while (!w->client_ready)
		turn(w);
	w->plain = true;
	echo_one(w);
	assert_int_equal(w->commits, 0);
	w->plain = false;
	echo_one(w);
	assert_int_equal(w->commits, 1);
	w->plain = true;
	echo_one(w);
	assert_int_equal(w->commits, 1);
}

static void messages_echo(void **state)
{
	struct world *w = *state;
	char *big = xcalloc(1, FRAMES_MAX);

	connect_as(w, &w->key);
	assert_int_equal(conn_send(w->client, "x", 1), -ENOTCONN);
	while (!w->client_ready)
		turn(w);
	assert_int_equal(conn_send(w->client, "x", 1), 0);
	assert_int_equal(conn_send(w->client, big, FRAMES_MAX), 0);
	assert_int_equal(conn_send(w->client, big, FRAMES_MAX + 1), -EMSGSIZE);
	assert_int_equal(conn_send(w->client, "y", 1), 0);
	while (w->echoed < 3)
		turn(w);
	assert_int_equal(w->bytes, FRAMES_MAX + 2);
	assert_int_equal(conn_queued(w->client), 0);
	/* If the server cannot take a message, only this connection ends. */
	assert_int_equal(conn_send(w->client, "bad", 3), 0);
	while (!w->client_closed)
		turn(w);
	free(big);
}

/*
 * However much work the messages of one peer are, others are served in between.
 */
static void turns_end(void **state)
{
	enum { MESSAGES = 100 };
	struct world *w = *state;
	struct conn *busy;

	connect_as(w, &w->key);
	busy = w->client;
	connect_as(w, &w->key);
	while (w->client_ready < 2)
		turn(w);
	for (int i = 0; i < MESSAGES; i++)
		assert_int_equal(conn_send(busy, "work", 4), 0);
	while (!w->heard)
		turn(w);
	assert_int_equal(conn_send(w->client, "other", 5), 0);
	while (w->echoed <= MESSAGES)
		turn(w);
	assert_in_range(w->other, 0, MESSAGES / 2);
	conn_destroy(busy);
}

/*
 * However many connections of a later place there are, they wait only for each
 * other.
 */
static void who_comes_later_waits(void **state)
{
	enum { BUSY = 3, MESSAGES = 20 };
	struct world *w = *state;
	struct conn *busy[BUSY];
	unsigned before;

	for (unsigned i = 0; i <= BUSY; i++) {
		connect_as(w, &w->key);
		while (w->client_ready <= i)
			turn(w);
		if (i < BUSY)
			busy[i] = w->client;
	}
	for (int i = 0; i < BUSY; i++) {
		assert_int_equal(conn_send(busy[i], "later", 5), 0);
		for (int n = 0; n < MESSAGES; n++)
			assert_int_equal(conn_send(busy[i], "work", 4), 0);
	}
	while (w->heard < 3 * BUSY)
		turn(w);
	before = w->heard;
	assert_int_equal(conn_send(w->client, "other", 5), 0);
	while (!w->other)
		turn(w);
	assert_in_range(w->other, before, before + 1);
	for (int i = 0; i < BUSY; i++)
		conn_destroy(busy[i]);
}

static void queue_has_an_end(void **state)
{
	struct world *w = *state;
	char *big = xcalloc(1, FRAMES_MAX);
	unsigned sent = 0;

	connect_as(w, &w->key);
	while (!w->client_ready)
		turn(w);
	while (!conn_send(w->client, big, FRAMES_MAX))
		sent++;
	assert_int_equal(conn_send(w->client, big, FRAMES_MAX), -ENOBUFS);
	while (w->echoed < sent)
		turn(w);
	free(big);
}

/* The client has an event loop of its own, which is not run. */
static void who_does_not_read_is_not_heard(void **state)
{
	enum { QUESTIONS = 400 }; /* of answers for more than a queue */
	struct world *w = *state;
	sd_event *own;

	w->holds = true;
	assert_int_equal(sd_event_new(&own), 0);
	w->client = conn_connect(own, &w->address, &w->key, 5 * USEC_PER_SEC,
				 &world_client, w);
	while (!w->client_ready || !w->served) {
		assert_true(sd_event_run(own, 0) >= 0);
		assert_true(sd_event_run(w->event, 0) >= 0);
	}
	for (int i = 0; i < QUESTIONS; i++)
		assert_int_equal(conn_send(w->client, "much", 4), 0);
	while (conn_queued(w->client))
		assert_true(sd_event_run(own, 0) >= 0);
	for (int idle = 0; idle < 100;) /* as far as it goes */
		idle = sd_event_run(w->event, 1000) > 0 ? 0 : idle + 1;
	/*
	 * Answers for what the socket takes, for CONN_QUEUE_LOW, and one more.
	 */
	assert_in_range(w->heard, 1, QUESTIONS / 8);
	assert_int_equal(w->client_closed, 0);
	while (w->echoed < QUESTIONS) {
		assert_true(sd_event_run(own, 0) >= 0);
		assert_true(sd_event_run(w->event, 0) >= 0);
	}
	assert_int_equal(w->bytes, QUESTIONS * sizeof(w->much));
	conn_destroy(w->client);
	w->client = NULL;
	sd_event_unref(own);
}

/* A socket that listens at a path, and whose queue is full. */
static int fill_queue(struct address *ret, int fds[8])
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), n = 0;

	ret->sa.ss_family = AF_UNIX;
	ret->len = sizeof(sa_family_t); /* the kernel chooses a name */
	assert_int_equal(bind(fd, (struct sockaddr *)&ret->sa, ret->len), 0);
	assert_int_equal(listen(fd, 1), 0);
	ret->len = sizeof(ret->sa);
	assert_int_equal(
		getsockname(fd, (struct sockaddr *)&ret->sa, &ret->len), 0);
	do {
		fds[n] = socket(AF_UNIX,
				SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		assert_in_range(n, 0, 7);
	} while (!connect(fds[n++], (struct sockaddr *)&ret->sa, ret->len));
	assert_int_equal(errno, EAGAIN);
	while (n < 8)
		fds[n++] = -1;
	return fd;
}

static void empty_queue(int fd, const int fds[8])
{
	for (int i = 0; i < 8; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	close(fd);
}

/* A client that does not get in is told so, and does not wait for ever. */
static void full_queue_is_told(void **state)
{
	struct world *w = *state;
	int fds[8], fd = fill_queue(&w->address, fds);

	connect_as(w, &w->key);
	while (!w->client_closed)
		turn(w);
	assert_int_equal(w->code, -EAGAIN);
	empty_queue(fd, fds);
}

static bool sleeps(pid_t pid)
{
	char path[64], line[512], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f) && strrchr(line, ')'))
		state = strrchr(line, ')')[2];
	if (f)
		fclose(f);
	return state == 'S';
}

/* Clients that wait for a place in the queue get in one after the other. */
static void full_queue_is_waited_for(void **state)
{
	struct world *w = *state;
	int fds[8], fd = fill_queue(&w->address, fds), got = -EAGAIN;
	pid_t parent = getpid(), child = fork();

	assert_true(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!sleeps(parent))
			poll(NULL, 0, 1);
		while (accept(fd, NULL, NULL) >= 0)
			;
		_exit(1);
	}
	/* On a busy machine the child may take longer than one wait. */
	for (int i = 0; i < 100 && got == -EAGAIN; i++)
		got = address_connect(&w->address, NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(got >= 0);
	assert_true(fcntl(got, F_GETFL) & O_NONBLOCK);
	close(got);
	empty_queue(fd, fds);
}

static void wrong_key(void **state)
{
	struct world *w = *state;
	struct tls_key key = w->key;

	key.secret[0] ^= 1;
	connect_as(w, &key);
	while (!w->client_closed)
		turn(w);
	assert_int_equal(w->code, -EACCES);
	assert_int_equal(w->served, 0);
	assert_int_equal(w->client_ready, 0);
}

static void nobody_there(void **state)
{
	struct world *w = *state;

	conn_server_destroy(w->server);
	w->server = NULL;
	connect_as(w, &w->key);
	while (!w->client_closed)
		turn(w);
	assert_int_equal(w->code, -ECONNREFUSED);
}

static void addresses(void **state)
{
	static const char *const bad[] = { "",	     "host",	 ":1",
					   "host:",  "h:1x",	 "unix:",
					   "[::1]1", "1.2.3.4:x" };
	struct address a;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(address_parse(bad[i], &a, &err), -EINVAL);
	assert_int_equal(address_parse("127.0.0.1:7077", &a, &err), 0);
	assert_int_equal(a.sa.ss_family, AF_INET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		HERE(failed_is_not_served),
		ELSEWHERE(failed_is_not_served),
		HERE(commits_come_first),
		HERE(messages_echo),
		ELSEWHERE(messages_echo),
		HERE(turns_end),
		ELSEWHERE(turns_end),
		HERE(who_comes_later_waits),
		HERE(queue_has_an_end),
		ELSEWHERE(queue_has_an_end),
		HERE(who_does_not_read_is_not_heard),
		ELSEWHERE(who_does_not_read_is_not_heard),
		HERE(wrong_key),
		ELSEWHERE(wrong_key),
		HERE(nobody_there),
		HERE(full_queue_is_told),
		HERE(full_queue_is_waited_for),
	};
	return cmocka_run_group_tests_name("conn", tests, NULL, NULL);
}
