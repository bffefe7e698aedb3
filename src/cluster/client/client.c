/* client.c - a command's conversation with the controller, see client.h */
#include "cluster/client/client.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/conn/known.h"
#include "cluster/conn/loop.h"
#include "cluster/testbed/testbed.h"
#include "core/clock.h"
#include "core/conf.h"
#include "core/xalloc.h"

#define OPEN_TIMEOUT   (10 * USEC_PER_SEC)
#define ANSWER_TIMEOUT (20 * USEC_PER_SEC) /* where none comes in pieces */
#define COMING_TIMEOUT (10 * USEC_PER_SEC) /* for hosts, after a restart */
#define INSIST_TIMEOUT (120 * USEC_PER_SEC)
#define COMING_AGAIN   (200 * USEC_PER_MSEC)

struct client {
	sd_event *event;
	char *where;
	struct address address;
	struct tls_key key;
	usec_t insist; /* how long; 0: a question is asked once */
	struct conn *conn;
	bool ready;
	Control__Message *hello; /* its answer */
	uint64_t last_id;
	Control__Message *answer; /* to last_id */
	Control__Message__BodyCase want;
	void (*other)(void *ctx, const Control__Message *m);
	void *ctx;
	int code; /* why it ended */
	struct error why;
};

void client_conf_clear(struct client_conf *conf)
{
	free(conf->controller);
	free(conf->key);
}

/* ---- where the controller is ---- */

static void set_default(char **to, const char *text)
{
	if (!*to && text && *text)
		*to = xstrdup(text);
}

static int on_setting(void *ctx, const char *section, const char *name,
		      const char *value, struct error *err)
{
	struct client_conf *conf = ctx;

	if (!*section)
		return error_set(err, -EINVAL,
				 "'%s' stands before the first section: write "
				 "[client] above it",
				 name);
	if (strcmp(section, "client"))
		return error_set(err, -EINVAL,
				 "unknown section [%s]; there is [client]",
				 section);
	if (strcmp(name, "controller") && strcmp(name, "key"))
		return error_set(err, -EINVAL,
				 "unknown setting '%s'; there are controller "
				 "and key",
				 name);
	if (!*value)
		return error_set(err, -EINVAL, "%s: nothing is there", name);
	if (*name == 'k')
		set_default(&conf->key, value);
	else if (address_check(value, err) < 0)
		return -EINVAL;
	else
		set_default(&conf->controller, value);
	return 0;
}

/* A missing file is an error only if it was asked for. */
static int try_file(struct client_conf *conf, char *path, bool needed,
		    struct error *err)
{
	int r = 0;

	if (needed || access(path, F_OK) == 0)
		r = conf_read(path, on_setting, conf, err);
	free(path);
	return r;
}

static int settle_testbed(struct client_conf *conf, const char *name,
			  struct error *err)
{
	char *dir = strchr(name, '/') ? xstrdup(name) : testbed_dir(name);
	int r = try_file(conf, xasprintf("%s/client.conf", dir), true, err);

	free(dir);
	return r < 0 ? error_prefix(err, r, "STINT_TESTBED=%s", name) : 0;
}

/* Without any other setting, use the default testbed. */
static int try_default_testbed(struct client_conf *conf, struct error *err)
{
	char *dir = testbed_dir("default");
	int r = try_file(conf, xasprintf("%s/client.conf", dir), false, err);

	free(dir);
	return r;
}

/* Whoever installed a client.conf for all has one key in it: the reader's own is meant. */
static int read_key(const char *path, struct tls_key *key, struct error *err)
{
	struct error why;
	int r = tls_key_read(path, key, &why);

	if (r >= 0)
		return r;
	if (access(path, R_OK) == 0) {
		*err = why;
		return r;
	}
	return error_set(
		err, r,
		"%s: each user needs a key; an administrator makes it "
		"with `stint controller --enrol=user/NAME`, and --key, "
		"STINT_KEY or ~/.config/stint/client.conf names its "
		"file, which is yours alone (mode 600)",
		why.text);
}

int client_settle(struct client_conf *conf, struct address *address,
		  struct tls_key *key, struct error *err)
{
	const char *testbed = getenv("STINT_TESTBED"), *home = getenv("HOME");
	int r = 0;

	set_default(&conf->controller, getenv("STINT_CONTROLLER"));
	set_default(&conf->key, getenv("STINT_KEY"));
	if ((!conf->controller || !conf->key) && testbed && *testbed)
		r = settle_testbed(conf, testbed, err);
	if (!r && (!conf->controller || !conf->key) && home)
		r = try_file(conf,
			     xasprintf("%s/.config/stint/client.conf", home),
			     false, err);
	if (!r && (!conf->controller || !conf->key))
		r = try_file(conf, xstrdup("/etc/stint/client.conf"), false,
			     err);
	if (!r && !conf->controller && !conf->key)
		r = try_default_testbed(conf, err);
	if (r < 0)
		return r;
	if (!conf->controller)
		return error_set(err, -ENOENT,
				 "where is the controller? Give --controller, "
				 "set STINT_CONTROLLER, or write "
				 "/etc/stint/client.conf; to try things out, "
				 "`stint testbed up 3`");
	r = address_parse(conf->controller, address, err);
	if (r < 0)
		return r;
	if (!conf->key)
		return error_set(err, -ENOENT,
				 "no key: give --key=FILE or set STINT_KEY; "
				 "`stint controller --enrol=user/NAME` makes "
				 "one");
	return read_key(conf->key, key, err);
}

/* ---- questions and answers ---- */

static void on_ready(struct conn *c, void *ctx)
{
	((struct client *)ctx)->ready = true;
}

static int on_message(struct conn *conn, const uint8_t *p, size_t n, void *ctx,
		      struct error *err)
{
	Control__Message *m = message_parse(p, n, err);
	struct client *c = ctx;

	if (!m)
		return -EPROTO;
	if (m->re == c->last_id && !c->answer &&
	    (m->body_case == c->want || m->body_case == MESSAGE_BODY(FAILED))) {
		c->answer = m;
		return 0;
	}
	if (m->re == c->last_id && c->other)
		c->other(c->ctx, m);
	message_free(m);
	return 0;
}

static void on_closed(struct conn *conn, int code, const struct error *why,
		      void *ctx)
{
	struct client *c = ctx;

	c->code = code ? code : -EPIPE;
	if (code)
		c->why = *why;
	else
		error_set(&c->why, -EPIPE, "the controller is shutting down");
	conn_destroy(conn);
	c->conn = NULL;
}

static const struct conn_ops client_ops = {
	.ready = on_ready,
	.message = on_message,
	.closed = on_closed,
};

static int client_failed(struct client *c, struct error *err)
{
	*err = c->why;
	return error_prefix(err, c->code, "controller at %s", c->where);
}

static int on_silence(sd_event_source *src, uint64_t usec, void *arg)
{
	struct client *c = arg;

	if (c->conn)
		conn_fail(c->conn, -ETIMEDOUT, "it does not answer");
	return 0;
}

/* Long requests report progress, which other() gets. */
static int await_answer(struct client *c)
{
	sd_event_source *silence = NULL;
	int r = 0;

	if (!c->other)
		loop_after(c->event, &silence, ANSWER_TIMEOUT, on_silence, c);
	while (c->conn && !c->answer && r >= 0)
		r = sd_event_run(c->event, UINT64_MAX);
	sd_event_source_disable_unref(silence);
	return r;
}

static int ask_once(struct client *c, Control__Message__BodyCase what,
		    void *body, Control__Message **ret, struct error *err)
{
	Control__Message *m;
	int r;

	if (!c->conn)
		return client_failed(c, err);
	/* Without an answer to HELLO it is not older: the connection will end. */
	r = c->hello ? known_check(c->where, c->hello->hello->controller, what,
				   body, err)
		     : 0;
	if (r < 0)
		return r;
	r = message_send(c->conn, ++c->last_id, 0, what, body);
	if (r < 0)
		return error_sys(err, r, "asking the controller");
	if (await_answer(c) < 0)
		return error_set(err, -EIO, "event loop");
	m = c->answer;
	c->answer = NULL;
	if (!m)
		return client_failed(c, err);
	if (m->body_case == c->want) {
		if (ret)
			*ret = m;
		else
			message_free(m);
		return 0;
	}
	r = known_refused(c->where, what, m->failed, err);
	message_free(m);
	return r;
}

static int client_connect(struct client *c, struct error *err);

/* Is the question to be asked again, and can it be? */
static bool again(struct client *c, int r, usec_t begun)
{
	usec_t passed = clock_usec(CLOCK_MONOTONIC) - begun;
	struct error why;

	if (c->conn)
		return r == -EAGAIN && passed < COMING_TIMEOUT;
	if (passed > c->insist || r == -EACCES || r == -EPERM)
		return false;
	(void)!client_connect(c, &why); /* told when asked */
	return true;
}

int client_ask(struct client *c, Control__Message__BodyCase what, void *body,
	       Control__Message__BodyCase want,
	       void (*other)(void *ctx, const Control__Message *m), void *ctx,
	       Control__Message **ret, struct error *err)
{
	usec_t begun = clock_usec(CLOCK_MONOTONIC);
	struct timespec pause = { .tv_nsec = COMING_AGAIN * 1000 };
	int r;

	for (;;) {
		c->want = want;
		c->other = other;
		c->ctx = ctx;
		r = ask_once(c, what, body, ret, err);
		if (!r || !again(c, r, begun))
			return r;
		nanosleep(&pause, NULL);
	}
}

void client_insist(struct client *c)
{
	c->insist = INSIST_TIMEOUT;
}

bool client_is_restart(int code)
{
	return !code || code == -ECONNREFUSED || code == -ECONNRESET ||
	       code == -EPIPE || code == -ENOENT || code == -ETIMEDOUT ||
	       code == -EUSERS;
}

bool client_lost(const struct client *c)
{
	return !c->conn;
}

static int greet(struct client *c, struct error *err)
{
	Control__Hello hello = CONTROL__HELLO__INIT;

	while (c->conn && !c->ready)
		if (sd_event_run(c->event, UINT64_MAX) < 0)
			return error_set(err, -EIO, "event loop");
	hello.version = CONTROL__VERSION__MAJOR;
	hello.software = (char *)"stint " STINT_VERSION;
	c->want = MESSAGE_BODY(HELLO);
	c->other = NULL;
	message_free(c->hello);
	c->hello = NULL;
	return ask_once(c, MESSAGE_BODY(HELLO), &hello, &c->hello, err);
}

static int client_connect(struct client *c, struct error *err)
{
	c->ready = false;
	c->conn = conn_connect(c->event, &c->address, &c->key, OPEN_TIMEOUT,
			       &client_ops, c);
	return greet(c, err);
}

int client_open(struct client_conf *conf, struct client **ret,
		struct error *err)
{
	struct client *c = xcalloc(1, sizeof(*c));
	int r = client_settle(conf, &c->address, &c->key, err);

	signal(SIGPIPE, SIG_IGN);
	if (!r)
		r = loop_create(&c->event, err);
	if (r < 0) {
		free(c);
		return r;
	}
	c->where = xstrdup(conf->controller);
	r = client_connect(c, err);
	if (r < 0) {
		client_close(c);
		return r;
	}
	*ret = c;
	return 0;
}

void client_close(struct client *c)
{
	if (!c)
		return;
	conn_finish(c->conn);
	message_free(c->answer);
	message_free(c->hello);
	sd_event_unref(c->event);
	free(c->where);
	explicit_bzero(&c->key, sizeof(c->key));
	free(c);
}
