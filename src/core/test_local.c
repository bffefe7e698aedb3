/*
 * test_local.c - local handshakes that succeed or fail, and the records after
 * them
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/local.h"
#include "core/secured.h"
#include "core/xalloc.h"

/* A client and a server over a pair of sockets. */
struct pair {
	int fd[2];
	struct tls_key mine, theirs; /* the client's; what the server knows */
	struct secured *client, *server;
};

static int lookup(void *ctx, const char *identity,
		  uint8_t secret[TLS_SECRET_SIZE])
{
	struct pair *p = ctx;

	if (strcmp(identity, p->theirs.identity))
		return -ENOENT;
	memcpy(secret, p->theirs.secret, TLS_SECRET_SIZE);
	return 0;
}

static int setup(void **state)
{
	struct pair *p = xcalloc(1, sizeof(*p));

	assert_int_equal(tls_key_generate(&p->mine, "user/a", NULL), 0);
	p->theirs = p->mine;
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p->fd), 0);
	p->server = secured_server(p->fd[1], lookup, p);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct pair *p = *state;

	secured_destroy(p->client);
	secured_destroy(p->server);
	for (int i = 0; i < 2; i++)
		if (p->fd[i] >= 0)
			close(p->fd[i]);
	free(p);
	return 0;
}

static void begin(struct pair *p)
{
	assert_int_equal(secured_client(p->fd[0], &p->mine, &p->client, NULL),
			 0);
}

/* Both sides act in turn until neither waits; returns their results. */
static void shake(struct pair *p, int r[2], struct error err[2])
{
	r[0] = r[1] = -EAGAIN;
	for (int i = 0; i < 20; i++) {
		if (r[0] == -EAGAIN)
			r[0] = secured_handshake(p->client, &err[0]);
		if (r[1] == -EAGAIN)
			r[1] = secured_handshake(p->server, &err[1]);
	}
}

static void connected(struct pair *p)
{
	struct error err[2];
	int r[2];

	begin(p);
	shake(p, r, err);
	assert_int_equal(r[0], 0);
	assert_int_equal(r[1], 0);
}

static void the_key_is_known(void **state)
{
	struct pair *p = *state;
	struct tls_key other;

	assert_string_equal(secured_peer(p->server), "");
	assert_false(secured_proved(p->server, p->mine.secret));
	connected(p);
	assert_null(secured_take_tls(p->client));
	p->client = NULL;
	assert_string_equal(secured_peer(p->server), "user/a");
	assert_true(secured_proved(p->server, p->mine.secret));
	assert_int_equal(tls_key_generate(&other, "user/a", NULL), 0);
	assert_false(secured_proved(p->server, other.secret));
}

static void refused(struct pair *p)
{
	struct error err[2];
	int r[2];

	begin(p);
	shake(p, r, err);
	assert_int_equal(r[0], -EACCES);
	assert_non_null(strstr(err[0].text, "the peer does not know our key"));
	assert_int_equal(r[1], -EACCES);
	assert_non_null(strstr(err[1].text, "is not known here"));
	assert_string_equal(secured_peer(p->server), "");
	assert_false(secured_proved(p->server, p->theirs.secret));
}

static void another_secret(void **state)
{
	struct pair *p = *state;

	p->theirs.secret[31] ^= 1;
	refused(p);
}

static void another_name(void **state)
{
	struct pair *p = *state;

	p->theirs.identity[5] = 'b';
	refused(p);
}

/* Read what a client says of itself, the whole or a part. */
static size_t listen_in(struct pair *p, char *word, size_t n)
{
	struct error err;

	begin(p);
	assert_int_equal(secured_handshake(p->client, &err), -EAGAIN);
	n = (size_t)recv(p->fd[1], word, n, 0);
	assert_in_range(n, 40, 4096);
	return n;
}

/*
 * Both ends see different user ids, as across a user namespace or through a
 * process in between.
 */
static void by_another_id_it_is_tls(void **state)
{
	struct pair *p = *state;
	char word[4096];
	size_t n = listen_in(p, word, sizeof(word));
	struct error err[2];
	uint32_t uid;
	int r[2];

	memcpy(&uid, word + 8, sizeof(uid));
	assert_int_equal(ntohl(uid), geteuid());
	uid ^= htonl(1);
	memcpy(word + 8, &uid, sizeof(uid));
	assert_int_equal(send(p->fd[0], word, n, 0), n);
	shake(p, r, err);
	assert_int_equal(r[0], 0);
	assert_int_equal(r[1], 0);
	assert_string_equal(secured_peer(p->server), "user/a");
	secured_destroy(p->server);
	p->server = NULL;
	assert_non_null(secured_take_tls(p->client));
	p->client = NULL;
}

/* A hello that somebody has changed does not fit the proof. */
static void a_changed_hello_is_refused(void **state)
{
	struct pair *p = *state;
	char word[4096];
	size_t n = listen_in(p, word, sizeof(word));
	struct error err[2];
	int r[2];

	word[n - 1] ^= 1;
	assert_int_equal(send(p->fd[0], word, n, 0), n);
	shake(p, r, err);
	assert_int_equal(r[0], -EACCES);
	assert_int_equal(r[1], -EACCES);
}

static void in_pieces_of_one_byte(void **state)
{
	struct pair *p = *state;
	char word[4096];
	size_t n = listen_in(p, word, sizeof(word));
	struct error err[2];
	int r[2];

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(secured_handshake(p->server, err), -EAGAIN);
		assert_int_equal(send(p->fd[0], word + i, 1, 0), 1);
	}
	shake(p, r, err);
	assert_int_equal(r[0], 0);
	assert_int_equal(r[1], 0);
}

static void nonsense_is_refused(void **state)
{
	struct pair *p = *state;
	char word[4096];
	size_t n = listen_in(p, word, sizeof(word));
	struct error err;

	word[7] = '2'; /* the version after ours */
	assert_int_equal(send(p->fd[0], word, n, 0), n);
	assert_int_equal(secured_handshake(p->server, &err), -EPROTO);
	assert_non_null(strstr(err.text, "another version"));
}

/* A client refuses a server of another version as well. */
static void a_strange_server_is_refused(void **state)
{
	struct pair *p = *state;
	char word[4096] = "proof-2";
	struct error err;

	(void)listen_in(p, word + 72, sizeof(word) - 72);
	assert_int_equal(send(p->fd[1], word, 72, 0), 72);
	assert_int_equal(secured_handshake(p->client, &err), -EPROTO);
	assert_non_null(strstr(err.text, "another version"));
}

/* To a namespace all users without an entry in its map look alike. */
static int meet_as_nobody(void)
{
	int fd[2], r;
	struct tls_key key = { .identity = "user/a" };
	struct pair p = { .theirs = key };
	struct local *client, *server;

	if (geteuid() ? unshare(CLONE_NEWUSER) : seteuid(65534))
		return 2; /* not allowed on this machine */
	if (geteuid() != 65534 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd))
		return 3;
	client = local_client(fd[0], &key);
	server = local_server(fd[1], lookup, &p);
	if (local_handshake(client, NULL) != -EAGAIN)
		return 4;
	r = local_handshake(server, NULL);
	return r == -EOPNOTSUPP && local_handshake(client, NULL) == r ? 0 : 1;
}

static void nobody_speaks_tls(void **state)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(meet_as_nobody());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 2)
		print_message("# not tested: no user namespace\n");
	else
		assert_int_equal(WEXITSTATUS(status), 0);
}

static void gone_before_it(void **state)
{
	struct pair *p = *state;
	struct error err;

	assert_int_equal(secured_handshake(p->server, &err), -EAGAIN);
	shutdown(p->fd[0], SHUT_WR);
	assert_int_equal(secured_handshake(p->server, &err), -EPIPE);
	assert_non_null(strstr(err.text, "before the handshake"));
}

static void gone_in_between(void **state)
{
	struct pair *p = *state;
	char word[4096];
	size_t n = listen_in(p, word, sizeof(word));
	struct error err;

	assert_int_equal(send(p->fd[0], word, n - 1, 0), n - 1);
	shutdown(p->fd[0], SHUT_WR);
	assert_int_equal(secured_handshake(p->server, &err), -EPIPE);
}

static ssize_t fill(struct secured *s, const uint8_t *p, size_t n)
{
	size_t at = 0;

	while (at < n) {
		ssize_t r = secured_write(s, p + at, n - at);

		if (r == -EAGAIN)
			break;
		assert_true(r > 0);
		at += (size_t)r;
	}
	return (ssize_t)at;
}

static size_t drain(struct secured *s, uint8_t *to, size_t n)
{
	size_t at = 0;

	for (;;) {
		ssize_t r =
			secured_read(s, to + at, n - at < 777 ? n - at : 777);

		if (r == -EAGAIN)
			return at;
		assert_true(r > 0);
		at += (size_t)r;
	}
}

/* More than the socket takes at once: the rest is kept, in order. */
static void much_in_order(void **state)
{
	enum { N = 3 << 20 };
	struct pair *p = *state;
	uint8_t *from = xcalloc(1, N), *to = xcalloc(1, N + 1000);
	size_t sent = 0, got = 0;
	bool kept = false;

	connected(p);
	for (size_t i = 0; i < N; i++)
		from[i] = (uint8_t)(i * 7 + i / 251);
	while (got < N) {
		sent += (size_t)fill(p->client, from + sent, N - sent);
		kept |= secured_unsent(p->client);
		got += drain(p->server, to + got, N + 1000 - got);
		(void)!secured_flush(p->client);
	}
	assert_true(kept);
	assert_false(secured_unsent(p->client));
	assert_int_equal(got, N);
	assert_memory_equal(from, to, N);
	free(from);
	free(to);
}

/* A peer that ends the session is told from one that was killed. */
static void goodbye(void **state)
{
	struct pair *p = *state;
	char c;

	connected(p);
	assert_int_equal(secured_write(p->server, "x", 1), 1);
	secured_bye(p->server);
	assert_int_equal(secured_read(p->client, &c, 1), 1);
	assert_int_equal(secured_read(p->client, &c, 1), 0);
}

/* What has come is read at once, whatever records it came in. */
static void records_together(void **state)
{
	struct pair *p = *state;
	char text[32];

	connected(p);
	assert_int_equal(secured_write(p->server, "ab", 2), 2);
	assert_int_equal(secured_write(p->server, "cde", 3), 3);
	assert_int_equal(send(p->fd[1], "\0\0\0", 3, 0), 3);
	assert_int_equal(secured_read(p->client, text, sizeof(text)), 5);
	assert_memory_equal(text, "abcde", 5);
	assert_true(secured_drained(p->client));
	assert_int_equal(secured_read(p->client, text, 1), -EAGAIN);
	/* Of a length that comes in two pieces. */
	assert_int_equal(send(p->fd[1], "\2fg", 3, 0), 3);
	assert_int_equal(secured_read(p->client, text, 1), 1);
	assert_false(secured_drained(p->client));
	secured_bye(p->server);
	assert_int_equal(secured_read(p->client, text + 1, 31), 1);
	assert_memory_equal(text, "fg", 2);
	assert_int_equal(secured_read(p->client, text, 1), 0);
	assert_int_equal(secured_read(p->client, text, 1), 0);
}

static void killed(void **state)
{
	struct pair *p = *state;
	char c;

	connected(p);
	close(p->fd[1]);
	p->fd[1] = -1;
	assert_int_equal(secured_read(p->client, &c, 1), -EPIPE);
	assert_int_equal(secured_write(p->client, "x", 1), -EPIPE);
}

static void too_long_a_record(void **state)
{
	struct pair *p = *state;
	char c;

	connected(p);
	assert_int_equal(send(p->fd[0], "\0\1\0\1x", 5, 0), 5);
	assert_int_equal(secured_read(p->server, &c, 1), -EPROTO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_key_is_known),
		TEST(another_secret),
		TEST(another_name),
		TEST(by_another_id_it_is_tls),
		TEST(a_changed_hello_is_refused),
		TEST(in_pieces_of_one_byte),
		TEST(nonsense_is_refused),
		TEST(a_strange_server_is_refused),
		TEST(nobody_speaks_tls),
		TEST(gone_before_it),
		TEST(gone_in_between),
		TEST(much_in_order),
		TEST(goodbye),
		TEST(records_together),
		TEST(killed),
		TEST(too_long_a_record),
	};
	return cmocka_run_group_tests_name("local", tests, NULL, NULL);
}
