/* world.c - for tests, see world.h */
#include "cluster/conn/world.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "core/scratch.h"
#include "core/xalloc.h"

int world_lookup(void *ctx, const char *identity,
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
	if (n == 5 && !memcmp(p, "later", 5))
		conn_set_priority(c, 5);
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

const struct conn_ops world_served = {
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

const struct conn_ops world_client = {
	.ready = client_ready,
	.message = client_message,
	.closed = client_closed,
};

static int setup_at(void **state, bool elsewhere)
{
	struct world *w = xcalloc(1, sizeof(*w));
	struct conn_server_conf conf = { .ops = &world_served,
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
int world_setup(void **state)
{
	return setup_at(state, false);
}

int world_setup_tls(void **state)
{
	return setup_at(state, true);
}

int world_teardown(void **state)
{
	struct world *w = *state;

	conn_destroy(w->client);
	conn_server_destroy(w->server);
	sd_event_unref(w->event);
	free(w);
	return 0;
}

void connect_as(struct world *w, const struct tls_key *key)
{
	w->client = conn_connect(w->event, &w->address, key, 5 * USEC_PER_SEC,
				 &world_client, w);
}

void turn(struct world *w)
{
	assert_true(sd_event_run(w->event, 5 * USEC_PER_SEC) > 0);
}
