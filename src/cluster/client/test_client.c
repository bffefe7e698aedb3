/*
 * test_client.c - requests to a controller that answers no HELLO well
 *
 * Connections are played here, in front of the library's own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/client/client.h"
#include "cluster/conn/keys.h"
#include "core/scratch.h"
#include "core/xalloc.h"

/* ---- connections to a controller that is played */

struct conn {
	const struct conn_ops *ops;
	void *ctx;
};

static sd_event *loop;
static unsigned connected;

static void later(sd_event_handler_t handler, void *arg)
{
	assert_true(sd_event_add_defer(loop, NULL, handler, arg) >= 0);
}

static int on_ready(sd_event_source *src, void *arg)
{
	struct conn *c = arg;

	c->ops->ready(c, c->ctx);
	return 0;
}

struct conn *conn_connect(sd_event *event, const struct address *address,
			  const struct tls_key *key, usec_t timeout,
			  const struct conn_ops *ops, void *ctx)
{
	struct conn *c = xcalloc(1, sizeof(*c));

	c->ops = ops;
	c->ctx = ctx;
	loop = event;
	connected++;
	later(on_ready, c);
	return c;
}

struct say {
	struct conn *to;
	uint64_t re;
	Control__Message__BodyCase what;
};

static void say(const struct say *say)
{
	Control__Message m = CONTROL__MESSAGE__INIT;
	Control__Failed full = message_failed(-EUSERS, "too many connections");
	Control__Hello hello = CONTROL__HELLO__INIT;
	Control__ControllerInfo info = CONTROL__CONTROLLER_INFO__INIT;
	Control__Submitted taken = CONTROL__SUBMITTED__INIT;
	uint8_t buf[200];

	info.refuses_unknown = true;
	hello.controller = &info;
	taken.job = 7;
	m.re = say->re;
	m.body_case = say->what;
	if (say->what == MESSAGE_BODY(FAILED))
		m.failed = &full;
	else if (say->what == MESSAGE_BODY(HELLO))
		m.hello = &hello;
	else
		m.submitted = &taken;
	assert_in_range(control__message__get_packed_size(&m), 1, sizeof(buf));
	assert_int_equal(say->to->ops->message(say->to, buf,
					       control__message__pack(&m, buf),
					       say->to->ctx, NULL),
			 0);
}

static int on_say(sd_event_source *src, void *arg)
{
	say(arg);
	free(arg);
	return 0;
}

static int on_closed(sd_event_source *src, void *arg)
{
	struct conn *c = arg;

	c->ops->closed(c, 0, NULL, c->ctx);
	return 0;
}

/*
 * The first connection ends at the request, the second one's HELLO is refused, and it
 * ends a bit later; the third one is served.
 */
int conn_send(struct conn *c, const void *p, size_t n)
{
	Control__Message *m = message_parse(p, n, NULL);
	bool greets = m->body_case == MESSAGE_BODY(HELLO);
	struct say *one;

	if (greets || connected == 3) {
		one = xmalloc(sizeof(*one));
		*one = (struct say){
			.to = c,
			.re = m->id,
			.what = connected == 2 ? MESSAGE_BODY(FAILED)
				: greets       ? MESSAGE_BODY(HELLO)
					       : MESSAGE_BODY(SUBMITTED)
		};
		later(on_say, one);
	} else {
		later(on_closed, c);
	}
	message_free(m);
	return 0;
}

void conn_destroy(struct conn *c)
{
	free(c);
}

void conn_finish(struct conn *c)
{
	free(c);
}

void conn_fail(struct conn *c, int code, const char *why)
{
	fail_msg("%s", why);
}

/* ---- who asks it */

static struct client *open_client(void)
{
	static char dir[SCRATCH_MAX], path[SCRATCH_MAX + 10];
	struct client_conf conf = { .controller = (char *)"unix:/none" };
	struct tls_key key;
	struct client *c = NULL;
	struct error err;

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/key", dir);
	assert_int_equal(keys_enrol(path, "admin/root", &key, NULL), 0);
	conf.key = path;
	if (client_open(&conf, &c, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

/* It has too many clients for a moment, which does not make it an older one. */
static void one_that_is_full_is_asked_again(void **state)
{
	struct client *c = open_client();
	Control__Submit s = CONTROL__SUBMIT__INIT;
	Control__Message *m;
	struct error err;

	s.held = true; /* which an older one would drop */
	client_insist(c);
	if (client_ask(c, MESSAGE_BODY(SUBMIT), &s, MESSAGE_BODY(SUBMITTED),
		       NULL, NULL, &m, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(m->submitted->job, 7);
	assert_int_equal(connected, 3);
	message_free(m);
	client_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_is_full_is_asked_again),
	};

	return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
