/* test_tls.c - key files, and handshakes that succeed or fail */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/channel.h"
#include "core/io.h"
#include "core/scratch.h"

static void key_lines(void **state)
{
	struct tls_key key, again;
	struct error err;
	char line[TLS_KEY_LINE];

	(void)state;
	assert_int_equal(tls_key_generate(&key, "host/h1", &err), 0);
	tls_key_format(&key, line, sizeof(line));
	assert_int_equal(tls_key_parse(line, &again, &err), 0);
	assert_string_equal(again.identity, "host/h1");
	assert_memory_equal(again.secret, key.secret, sizeof(key.secret));
	assert_int_equal(tls_key_generate(&key, "a b", &err), -EINVAL);
	assert_int_equal(tls_key_generate(&key, "", &err), -EINVAL);
}

static void bad_key_lines(void **state)
{
	static const char *const bad[] = {
		"",
		"host/h1",
		"host/h1 12",
		" 0000000000000000000000000000000000000000000000000000000000000000",
		"h  000000000000000000000000000000000000000000000000000000000000000",
		"h 000000000000000000000000000000000000000000000000000000000000000g",
		"h 00000000000000000000000000000000000000000000000000000000000000000",
	};
	struct tls_key key = { .identity = "kept" };
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(tls_key_parse(bad[i], &key, &err), -EINVAL);
		assert_string_equal(key.identity, "kept");
	}
}

/*
 * The error is one line with what to do about it. Access by a group is the
 * owner's business.
 */
static void key_files(void **state)
{
	char dir[SCRATCH_MAX], path[SCRATCH_MAX + 8], line[TLS_KEY_LINE];
	struct tls_key key, got = { .identity = "kept" };
	struct error err;

	(void)state;
	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/key", dir);
	assert_int_equal(tls_key_read(path, &got, &err), -ENOENT);
	assert_int_equal(tls_key_generate(&key, "host/h1", &err), 0);
	tls_key_format(&key, line, sizeof(line));
	assert_int_equal(io_replace_file(path, line, &err), 0);
	for (mode_t bit = 1; bit < 0100; bit <<= 1) {
		assert_int_equal(chmod(path, 0600 | bit), 0);
		assert_int_equal(tls_key_read(path, &got, &err), -EACCES);
		assert_non_null(strstr(err.text, "chmod 600 "));
		assert_string_equal(got.identity, "kept");
	}
	if (!geteuid()) {
		assert_int_equal(chmod(path, 0640), 0);
		assert_int_equal(chown(path, 1, 0), 0);
		assert_int_equal(tls_key_read(path, &got, &err), 0);
		assert_int_equal(chmod(path, 0644), 0);
		assert_int_equal(tls_key_read(path, &got, &err), -EACCES);
	}
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(tls_key_read(path, &got, &err), 0);
	assert_memory_equal(got.secret, key.secret, sizeof(key.secret));
}

struct side {
	int fd;
	struct tls_key key;
	struct channel *ch;
	struct error err;
	int r;
};

static void *serve(void *arg)
{
	struct side *s = arg;

	s->r = channel_tls_server(s->fd, &s->key, 5 * USEC_PER_SEC, &s->ch,
				  &s->err);
	if (s->r < 0)
		close(s->fd);
	return NULL;
}

static void shake(struct side *client, struct side *server)
{
	pthread_t thread;
	int sv[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	client->fd = sv[0];
	server->fd = sv[1];
	assert_int_equal(pthread_create(&thread, NULL, serve, server), 0);
	client->r = channel_tls_client(sv[0], &client->key, 5 * USEC_PER_SEC,
				       &client->ch, &client->err);
	if (client->r < 0)
		shutdown(sv[0], SHUT_RDWR);
	pthread_join(thread, NULL);
	if (client->r < 0)
		close(sv[0]);
}

struct burst {
	struct channel *ch;
	char *data;
	size_t n;
};

static void *send_burst(void *arg)
{
	struct burst *b = arg;
	struct iovec iov[4] = { { b->data, 7 },
				{ b->data + 7, 100000 },
				{ NULL, 0 },
				{ b->data + 100007, b->n - 100007 } };

	return channel_writev(b->ch, iov, 4) < 0 ? b : NULL;
}

static void bytes_arrive(void **state)
{
	struct side client = { .r = 0 }, server = { .r = 0 };
	struct burst b = { .n = 3 << 20 };
	char *got = malloc(b.n);
	pthread_t thread;
	void *failed;

	(void)state;
	assert_int_equal(tls_key_generate(&client.key, "move/1.0", NULL), 0);
	server.key = client.key;
	shake(&client, &server);
	assert_int_equal(client.r, 0);
	assert_int_equal(server.r, 0);
	b.data = malloc(b.n);
	for (size_t i = 0; i < b.n; i++)
		b.data[i] = i * 31 + i / 255;
	b.ch = client.ch;
	assert_int_equal(pthread_create(&thread, NULL, send_burst, &b), 0);
	assert_int_equal(channel_read(server.ch, got, b.n - 1), 0);
	assert_int_equal(channel_read(server.ch, got + b.n - 1, 1), 0);
	pthread_join(thread, &failed);
	assert_null(failed);
	assert_memory_equal(got, b.data, b.n);
	channel_close(client.ch);
	assert_int_equal(channel_read(server.ch, got, 1), -EPIPE);
	channel_close(server.ch);
	free(got);
	free(b.data);
}

/* More pieces than one system call takes. */
static void pieces_arrive(void **state)
{
	enum { PIECES = 3000 };
	static struct iovec iov[PIECES];
	char data[2 * PIECES], got[sizeof(data)];
	struct channel *from, *to;
	size_t n = 0;
	int sv[2];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7 + i / 256);
	for (size_t i = 0; i < PIECES; i++) {
		iov[i] = (struct iovec){ data + n, 1 + i % 2 };
		n += iov[i].iov_len;
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	from = channel_from_fd(sv[0]);
	to = channel_from_fd(sv[1]);
	assert_int_equal(channel_writev(from, iov, PIECES), 0);
	assert_int_equal(channel_read(to, got, n), 0);
	assert_memory_equal(got, data, n);
	channel_close(from);
	assert_int_equal(channel_read(to, got, 1), -EPIPE);
	channel_close(to);
}

static void strangers(void **state)
{
	struct side client = { .r = 0 }, server = { .r = 0 };

	(void)state;
	assert_int_equal(tls_key_generate(&client.key, "move/1.0", NULL), 0);
	assert_int_equal(tls_key_generate(&server.key, "move/1.0", NULL), 0);
	shake(&client, &server);
	assert_int_equal(client.r, -EACCES);
	assert_int_equal(server.r, -EACCES);

	server.key = client.key;
	assert_int_equal(tls_key_generate(&server.key, "other", NULL), 0);
	shake(&client, &server);
	assert_int_equal(client.r, -EACCES);
	assert_int_equal(server.r, -EACCES);
}

/* A peer that does not speak TLS at all, and one that says nothing. */
static void not_tls(void **state)
{
	struct side server = { .r = 0 };
	struct channel *ch;
	pthread_t thread;
	int sv[2];

	(void)state;
	assert_int_equal(tls_key_generate(&server.key, "k", NULL), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	server.fd = sv[1];
	assert_int_equal(pthread_create(&thread, NULL, serve, &server), 0);
	assert_int_equal(write(sv[0], "GET / HTTP/1.0\r\n\r\n", 18), 18);
	pthread_join(thread, NULL);
	assert_int_equal(server.r, -EPROTO);
	close(sv[0]);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	assert_int_equal(
		channel_tls_client(sv[0], &server.key, 1000, &ch, &server.err),
		-ETIMEDOUT);
	close(sv[0]);
	close(sv[1]);
}

/* Over a non-blocking pair that nobody reads, writing ends with -EAGAIN. */
static void full_without_reader(void **state)
{
	static char block[64 << 10];
	struct tls *tls[2];
	struct tls_key key;
	int sv[2], r = 0, k = -EAGAIN, tries = 0;

	(void)state;
	assert_int_equal(tls_key_generate(&key, "k", NULL), 0);
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv), 0);
	assert_int_equal(tls_create_client(sv[0], &key, &tls[0], NULL), 0);
	assert_int_equal(tls_create_client(sv[1], &key, &tls[1], NULL), 0);
	/* Two clients never agree, and say so without waiting. */
	while ((r == 0 || r == -EAGAIN) && tries++ < 10) {
		r = tls_handshake(tls[0], 0, NULL);
		k = tls_handshake(tls[1], 0, NULL);
	}
	assert_true(r < 0 && r != -EAGAIN);
	assert_true(k < 0);
	assert_true(tls_write(tls[0], block, sizeof(block)) < 0);
	tls_destroy(tls[0]);
	tls_destroy(tls[1]);
	close(sv[0]);
	close(sv[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(key_lines),
		cmocka_unit_test(bad_key_lines),
		cmocka_unit_test(key_files),
		cmocka_unit_test(bytes_arrive),
		cmocka_unit_test(pieces_arrive),
		cmocka_unit_test(strangers),
		cmocka_unit_test(not_tls),
		cmocka_unit_test(full_without_reader),
	};
	return cmocka_run_group_tests_name("tls", tests, NULL, NULL);
}
