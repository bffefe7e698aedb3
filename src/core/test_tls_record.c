/* test_tls_record.c - records of ours to GnuTLS and back, and forged ones */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/tls_priv.h"

static const struct tls_key key = { .identity = "move/1.0",
				    .secret = { 1, 2, 3 } };

/* Two sessions over a pair of sockets; [1] is the server. */
struct pair {
	int fd[2];
	struct tls *tls[2];
};

static int lookup(void *ctx, const char *identity,
		  uint8_t secret[TLS_SECRET_SIZE])
{
	memcpy(secret, key.secret, TLS_SECRET_SIZE);
	return 0;
}

static void *serve(void *tls)
{
	return tls_handshake(tls, 5 * USEC_PER_SEC, NULL) < 0 ? tls : NULL;
}

static void pair_init(struct pair *p)
{
	pthread_t thread;
	void *failed;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p->fd), 0);
	assert_int_equal(tls_create_client(p->fd[0], &key, &p->tls[0], NULL),
			 0);
	assert_int_equal(
		tls_create_server(p->fd[1], lookup, NULL, &p->tls[1], NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, p->tls[1]), 0);
	assert_int_equal(tls_handshake(p->tls[0], 5 * USEC_PER_SEC, NULL), 0);
	pthread_join(thread, &failed);
	assert_null(failed);
}

static void pair_clear(struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		tls_destroy(p->tls[i]);
		close(p->fd[i]);
	}
}

static void say(struct tls *tls, const char *text)
{
	assert_int_equal(tls_write(tls, text, strlen(text)), strlen(text));
	assert_int_equal(tls_flush(tls), 0);
}

static void hear(struct tls *tls, const char *text)
{
	char got[64];

	assert_int_equal(tls_read(tls, got, sizeof(got)), strlen(text));
	assert_memory_equal(got, text, strlen(text));
}

/* What GnuTLS would have sent and understood in our place. */
static void as_gnutls_does(void **state)
{
	char got[64] = "";
	struct pair p;

	for (int i = 0; i < 2; i++) {
		pair_init(&p);
		say(p.tls[i], "sealed here");
		assert_int_equal(
			gnutls_record_recv(p.tls[!i]->session, got, 63), 11);
		assert_string_equal(got, "sealed here");
		assert_int_equal(
			gnutls_record_send(p.tls[!i]->session, "there", 5), 5);
		assert_int_equal(tls_flush(p.tls[!i]), 0);
		hear(p.tls[i], "there");
		pair_clear(&p);
	}
}

/* The sizes at which a record ends, whatever is asked for at a time. */
static void any_size(void **state)
{
	static const size_t sizes[] = { 1, 16383, 16384, 16385, 40000 };
	static char data[40000], got[40000];
	struct pair p;

	pair_init(&p);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 31 + i / 255);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (size_t step = 1; step < 60000; step = step * 7 + 2) {
			size_t at = 0, n = sizes[i];

			while (at < n)
				at += (size_t)tls_write(p.tls[0], data + at,
							n - at);
			assert_int_equal(tls_flush(p.tls[0]), 0);
			memset(got, 0, sizeof(got));
			for (at = 0; at < n;) {
				size_t left = n - at < step ? n - at : step;
				ssize_t r = tls_read(p.tls[1], got + at, left);

				assert_true(r > 0 && (size_t)r <= left);
				at += (size_t)r;
			}
			assert_memory_equal(got, data, n);
			assert_false(tls_pending(p.tls[1]));
		}
	pair_clear(&p);
}

/* Both ways, with data behind the new keys in one buffer, and a goodbye. */
static void new_keys(void **state)
{
	uint8_t old[12];
	struct pair p;
	char c;

	pair_init(&p);
	for (int i = 0; i < 6; i++) {
		struct tls *from = p.tls[i % 2], *to = p.tls[!(i % 2)];

		say(from, "before");
		memcpy(old, from->writing.iv, sizeof(old));
		assert_int_equal(tls_rekey(from), 0);
		assert_memory_not_equal(old, from->writing.iv, sizeof(old));
		assert_int_equal(from->writing.seq, 0);
		say(from, "after");
		hear(to, "before");
		assert_true(tls_pending(to));
		hear(to, "after");
		say(from, "later");
		hear(to, "later");
	}
	tls_bye(p.tls[0]);
	assert_int_equal(tls_read(p.tls[1], &c, 1), 0);
	pair_clear(&p);
}

/* As often as the cipher demands. */
static void new_keys_in_time(void **state)
{
	struct pair p;

	pair_init(&p);
	p.tls[0]->writing.seq = p.tls[1]->reading.seq = (1 << 24) - 1;
	say(p.tls[0], "old");
	say(p.tls[0], "new");
	assert_int_equal(p.tls[0]->writing.seq, 1);
	hear(p.tls[1], "old");
	hear(p.tls[1], "new");
	pair_clear(&p);
}

/* What is on the wire goes on its way changed; -errno of who reads that. */
static ssize_t forged(void (*change)(uint8_t *p, size_t n))
{
	uint8_t wire[4096];
	struct pair p;
	ssize_t n, r;
	int sv[2];
	char c[64];

	pair_init(&p);
	say(p.tls[0], "first ");
	say(p.tls[0], "second");
	n = recv(p.fd[1], wire, sizeof(wire), 0);
	assert_int_equal(n, 2 * (5 + 6 + 1 + 16));
	change(wire, (size_t)n);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	assert_int_equal(dup2(sv[1], p.fd[1]), p.fd[1]);
	close(sv[1]);
	assert_int_equal(send(sv[0], wire, (size_t)n, 0), n);
	close(sv[0]);
	do
		r = tls_read(p.tls[1], c, sizeof(c));
	while (r > 0);
	pair_clear(&p);
	return r;
}

static void unchanged(uint8_t *p, size_t n)
{
}

static void a_bit(uint8_t *p, size_t n)
{
	p[7] ^= 1;
}

static void a_bit_of_the_tag(uint8_t *p, size_t n)
{
	p[n - 1] ^= 0x80;
}

static void another_version(uint8_t *p, size_t n)
{
	p[2] = 4;
}

static void other_order(uint8_t *p, size_t n)
{
	uint8_t half[64];

	memcpy(half, p, n / 2);
	memcpy(p, p + n / 2, n / 2);
	memcpy(p + n / 2, half, n / 2);
}

static void twice(uint8_t *p, size_t n)
{
	memcpy(p + n / 2, p, n / 2);
}

static void too_long(uint8_t *p, size_t n)
{
	p[3] = p[4] = 0xff;
}

static void too_short(uint8_t *p, size_t n)
{
	p[3] = 0;
	p[4] = 16;
}

static void empty(uint8_t *p, size_t n)
{
	p[3] = p[4] = 0;
}

/* Not even a goodbye is believed that is not sealed. */
static void a_goodbye(uint8_t *p, size_t n)
{
	static const uint8_t alert[] = { 21, 3, 3, 0, 2, 1, 0 };

	memcpy(p, alert, sizeof(alert));
}

static void forgeries(void **state)
{
	assert_int_equal(forged(unchanged), -EPIPE);
	assert_int_equal(forged(a_bit), -EPROTO);
	assert_int_equal(forged(a_bit_of_the_tag), -EPROTO);
	assert_int_equal(forged(another_version), -EPROTO);
	assert_int_equal(forged(other_order), -EPROTO);
	assert_int_equal(forged(twice), -EPROTO);
	assert_int_equal(forged(too_long), -EPROTO);
	assert_int_equal(forged(too_short), -EPROTO);
	assert_int_equal(forged(empty), -EPROTO);
	assert_int_equal(forged(a_goodbye), -EPROTO);
}

static void before_the_handshake(void **state)
{
	struct tls *tls;
	char c = 0;

	assert_int_equal(tls_create_client(0, &key, &tls, NULL), 0);
	assert_int_equal(tls_write(tls, &c, 1), -ENOTCONN);
	assert_int_equal(tls_read(tls, &c, 1), -ENOTCONN);
	tls_destroy(tls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_gnutls_does),
		cmocka_unit_test(any_size),
		cmocka_unit_test(new_keys),
		cmocka_unit_test(new_keys_in_time),
		cmocka_unit_test(forgeries),
		cmocka_unit_test(before_the_handshake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
