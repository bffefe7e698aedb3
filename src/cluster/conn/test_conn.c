/* test_conn.c - connections of friends and strangers */
#include <dlfcn.h>
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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/conn/conn.h"
#include "cluster/conn/frames.h"
#include "core/scratch.h"
#include "core/xalloc.h"

/* A server that echoes, and what became of its and the client's side. */
struct world {
	sd_event *event;
	struct conn_server *server;
	struct tls_key key;
	struct address address;
	char path[96];
	struct conn *client;
	unsigned served, echoed, client_ready, client_closed;
	unsigned heard;	  /* messages at the server */
	unsigned fail_at; /* it has enough with this many; 0: at once */
	bool fails;
	unsigned other; /* heard before a message of another client */
	bool holds;	/* who does not read answers is heard no more */
	bool plain;	/* its answers tell of no state */
	unsigned commits;
	size_t bytes;
	int code;
	uint8_t much[100 << 10]; /* answered to "much" */
};

static int world_lookup(void *ctx, const char *identity,
			uint8_t secret[TLS_SECRET_SIZE])
{
	struct world *w = ctx;

	if (strcmp(identity, w->key.identity))
		return -ENOENT;
	memcpy(secret, w->key.secret, TLS_SECRET_SIZE);
	return 0;
}

static void served_ready(struct conn *c, void *ctx)
{
	struct world *w = ctx;

	assert_string_equal(conn_peer(c), w->key.identity);
	w->served++;
	if (w->holds)
		conn_hold_unread(c);
	if (w->fails && !w->fail_at)
		conn_fail(c, -EUSERS, "too many");
}

static int served_message(struct conn *c, const uint8_t *p, size_t n, void *ctx,
			  struct error *err)
{
	struct world *w = ctx;
	int r;

	if (n == 5 && !memcmp(p, "other", 5))
		w->other = w->heard;
	if (n == 4 && !memcmp(p, "work", 4))
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	w->heard++;
	if (w->fails && w->heard == w->fail_at)
		conn_fail(c, -EUSERS, "enough");
	if (n == 3 && !memcmp(p, "bad", 3))
		return error_set(err, -EPROTO, "bad");
	if (n == 4 && !memcmp(p, "much", 4))
		return conn_send(c, w->much, sizeof(w->much));
	r = conn_send(c, p, n);
	if (w->plain)
		conn_tells_nothing(c);
	return r;
}

static void commit(void *ctx)
{
	struct world *w = ctx;

	w->commits++;
}

static void served_closed(struct conn *c, int code, const struct error *why,
			  void *ctx)
{
	conn_destroy(c);
}

static const struct conn_ops served = {
	.ready = served_ready,
	.message = served_message,
	.closed = served_closed,
};

static void client_ready(struct conn *c, void *ctx)
{
	struct world *w = ctx;

	w->client_ready++;
}

static int client_message(struct conn *c, const uint8_t *p, size_t n, void *ctx,
			  struct error *err)
{
	struct world *w = ctx;

	w->echoed++;
	w->bytes += n;
	return 0;
}

static void client_closed(struct conn *c, int code, const struct error *why,
			  void *ctx)
{
	struct world *w = ctx;

	w->client_closed++;
	w->code = code;
	w->client = NULL;
	conn_destroy(c);
}

static const struct conn_ops client = {
	.ready = client_ready,
	.message = client_message,
	.closed = client_closed,
};

static int setup_at(void **state, bool elsewhere)
{
	struct world *w = xcalloc(1, sizeof(*w));
	struct conn_server_conf conf = { .ops = &served,
					 .ctx = w,
					 .lookup = world_lookup,
					 .before_send = commit,
					 .max_strangers = 3,
					 .max_conns = 5,
					 .handshake_timeout = USEC_PER_SEC };
	char dir[SCRATCH_MAX], text[128];
	int fd;

	assert_int_equal(sd_event_new(&w->event), 0);
	assert_int_equal(tls_key_generate(&w->key, "user/tester", NULL), 0);
	scratch_dir(dir, "/tmp");
	snprintf(w->path, sizeof(w->path), "%s/s", dir);
	snprintf(text, sizeof(text), "unix:%s", w->path);
	assert_int_equal(address_parse(elsewhere ? "127.0.0.1:0" : text,
				       &w->address, NULL),
			 0);
	fd = address_listen(&w->address, NULL);
	assert_true(fd >= 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&w->address.sa,
				     &w->address.len),
			 0);
	assert_int_equal(
		conn_server_create(w->event, fd, &conf, &w->server, NULL), 0);
	*state = w;
	return 0;
}

/* Without TLS, and with it. */
static int setup(void **state)
{
	return setup_at(state, false);
}

static int setup_tls(void **state)
{
	return setup_at(state, true);
}

static int teardown(void **state)
{
	struct world *w = *state;

	conn_destroy(w->client);
	conn_server_destroy(w->server);
	sd_event_unref(w->event);
	free(w);
	return 0;
}

static void connect_as(struct world *w, const struct tls_key *key)
{
	w->client = conn_connect(w->event, &w->address, key, 5 * USEC_PER_SEC,
				 &client, w);
}

static void turn(struct world *w)
{
	assert_true(sd_event_run(w->event, 5 * USEC_PER_SEC) > 0);
}

/* Whatever it has sent in one go: a connection that failed is not served on. */
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

/* Before each that tells of state, and before no other. */
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
	/* What the server cannot stand ends this connection alone. */
	assert_int_equal(conn_send(w->client, "bad", 3), 0);
	while (!w->client_closed)
		turn(w);
	free(big);
}

/* However much work somebody's messages are, others come between them. */
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

/* The client has a loop of its own, which stops. */
static void who_does_not_read_is_not_heard(void **state)
{
	enum { QUESTIONS = 400 }; /* of answers for more than a queue */
	struct world *w = *state;
	sd_event *own;

	w->holds = true;
	assert_int_equal(sd_event_new(&own), 0);
	w->client = conn_connect(own, &w->address, &w->key, 5 * USEC_PER_SEC,
				 &client, w);
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
	/* What the socket takes, and CONN_QUEUE_LOW, and one answer. */
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

/* Listens at a path, and its queue is full. */
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

/* Who does not come in hears of it, and does not wait for ever. */
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

/* Those who wait for a place get in, as each does who blocks. */
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

/* Those who never speak neither keep others out nor stay for ever. */
static void silent_strangers(void **state)
{
	struct world *w = *state;
	int fd[8];
	char c;

	for (size_t i = 0; i < 8; i++) {
		fd[i] = address_connect(&w->address, NULL);
		assert_true(fd[i] >= 0);
	}
	connect_as(w, &w->key);
	while (!w->client_ready || !w->served)
		turn(w);
	assert_int_equal(w->served, 1);
	/* The first had to go for a later one. */
	assert_int_equal(recv(fd[0], &c, 1, MSG_DONTWAIT), 0);
	while (recv(fd[7], &c, 1, MSG_DONTWAIT) < 0)
		turn(w);
	for (size_t i = 0; i < 8; i++)
		close(fd[i]);
}

/* A server as in setup(), but at a port, and nobody's time is ever up. */
static struct conn_server *serve_port(struct world *w, struct sockaddr_in *ret)
{
	struct conn_server_conf conf = { .ops = &served,
					 .ctx = w,
					 .lookup = world_lookup,
					 .max_strangers = 3,
					 .max_conns = 5,
					 .handshake_timeout =
						 1000 * USEC_PER_SEC };
	struct conn_server *s;
	socklen_t n = sizeof(*ret);
	int fd;

	assert_int_equal(address_parse("127.0.0.1:0", &w->address, NULL), 0);
	fd = address_listen(&w->address, NULL);
	assert_true(fd >= 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)ret, &n), 0);
	memcpy(&w->address.sa, ret, n);
	assert_int_equal(conn_server_create(w->event, fd, &conf, &s, NULL), 0);
	return s;
}

static int connect_from(const struct sockaddr_in *to, uint32_t from)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(from) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)to, sizeof(*to)),
			 0);
	return fd;
}

/* Who comes in crowds pushes out its own kind, not one from elsewhere. */
static void crowds(void **state)
{
	struct world *w = *state;
	struct sockaddr_in to;
	struct conn_server *s = serve_port(w, &to);
	int slow = connect_from(&to, INADDR_LOOPBACK), fd[8];
	char c;

	for (size_t i = 0; i < 8; i++)
		fd[i] = connect_from(&to, INADDR_LOOPBACK + 1);
	/* Of the eight, the six oldest go. */
	while (recv(fd[5], &c, 1, MSG_DONTWAIT) < 0)
		turn(w);
	assert_int_equal(recv(slow, &c, 1, MSG_DONTWAIT), -1);
	assert_int_equal(recv(fd[6], &c, 1, MSG_DONTWAIT), -1);
	for (size_t i = 0; i < 8; i++)
		close(fd[i]);
	close(slow);
	conn_server_destroy(s);
}

/* Without a descriptor for who comes, strangers go, and nobody spins. */
static void no_descriptors(void **state)
{
	struct world *w = *state;
	struct sockaddr_in to;
	struct conn_server *s = serve_port(w, &to);
	int silent = connect_from(&to, INADDR_LOOPBACK), fd[2];
	struct rlimit was, none;
	bool idle = false;
	char c;

	turn(w); /* it is accepted */
	for (size_t i = 0; i < 2; i++)
		fd[i] = connect_from(&to, INADDR_LOOPBACK);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = was;
	none.rlim_cur = dup(0);
	close(none.rlim_cur);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	while (recv(silent, &c, 1, MSG_DONTWAIT) < 0)
		turn(w);
	close(silent);
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (size_t i = 0; i < 100 && !idle; i++)
		idle = !sd_event_run(w->event, 0);
	assert_true(idle);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	connect_as(w, &w->key);
	while (!w->client_ready || !w->served)
		turn(w);
	for (size_t i = 0; i < 2; i++)
		close(fd[i]);
	conn_destroy(w->client);
	w->client = NULL;
	conn_server_destroy(s);
}

/* Of the calls that watch a descriptor, this one fails; 0: none. */
static unsigned unwatched;

/* Stands in front of libsystemd's. */
int sd_event_add_io(sd_event *e, sd_event_source **ret, int fd, uint32_t events,
		    sd_event_io_handler_t fn, void *data)
{
	int (*real)(sd_event *, sd_event_source **, int, uint32_t,
		    sd_event_io_handler_t, void *) =
		(__typeof__(real))dlsym(RTLD_NEXT, "sd_event_add_io");

	if (unwatched && !--unwatched)
		return -ENOSPC; /* fs.epoll.max_user_watches */
	return real(e, ret, fd, events, fn, data);
}

/* Whoever cannot be watched is told, or gone, and nobody else. */
static void who_cannot_be_watched(void **state)
{
	const struct conn_server_conf conf = { .ops = &served };
	struct conn_server *other = NULL;
	struct world *w = *state;
	struct error err;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	unwatched = 1;
	assert_int_equal(
		conn_server_create(w->event, pair[0], &conf, &other, &err),
		-ENOSPC);
	assert_null(other);
	assert_non_null(strstr(err.text, "cannot watch the listening socket"));
	for (unsigned which = 1; which <= 2; which++) {
		unwatched = which; /* the client, and whom it reaches */
		w->client_ready = w->client_closed = 0;
		connect_as(w, &w->key);
		while (!w->client_closed)
			turn(w);
		assert_int_equal(unwatched, 0);
		assert_int_equal(w->client_ready, 0);
		if (which == 1)
			assert_int_equal(w->code, -ENOSPC);
		while (sd_event_run(w->event, 0) > 0)
			; /* whom the first had reached is accepted, too */
	}
	connect_as(w, &w->key);
	while (!w->client_ready)
		turn(w);
	for (size_t i = 0; i < 2; i++)
		close(pair[i]);
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

#define HERE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define ELSEWHERE(name) \
	cmocka_unit_test_setup_teardown(name, setup_tls, teardown)

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
		HERE(queue_has_an_end),
		ELSEWHERE(queue_has_an_end),
		HERE(who_does_not_read_is_not_heard),
		ELSEWHERE(who_does_not_read_is_not_heard),
		HERE(wrong_key),
		ELSEWHERE(wrong_key),
		HERE(silent_strangers),
		HERE(crowds),
		HERE(no_descriptors),
		HERE(who_cannot_be_watched),
		ELSEWHERE(who_cannot_be_watched),
		HERE(nobody_there),
		HERE(full_queue_is_told),
		HERE(full_queue_is_waited_for),
	};
	return cmocka_run_group_tests_name("conn", tests, NULL, NULL);
}
