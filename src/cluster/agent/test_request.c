/*
 * test_request.c - an agent answers over the connection it was asked over, or
 * tells it otherwise
 *
 * A controller that is played by hand, and this program as the nursery that the
 * agent starts, and as its keeper: that ends before it is ready, when the
 * controller says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/agent/agent.h"
#include "cluster/conn/loop.h"
#include "cluster/conn/message.h"
#include "cluster/keeper/nursery.h"
#include "core/io.h"
#include "core/scratch.h"
#include "core/test_fork.h"
#include "core/xalloc.h"

#define PATIENCE (60 * USEC_PER_SEC) /* of a test, on a busy machine */

enum { START_ID = 7 };

struct play {
	char dir[SCRATCH_MAX];
	char *key_path, *gate; /* a FIFO: keepers wait for its other end */
	int gate_fd;
	struct tls_key key;
	char *address;
	sd_event *event;
	struct conn_server *server;
	struct conn *agent;
	pid_t pid;
	bool breaks;	       /* the connection, once a keeper is asked for */
	unsigned connections;  /* connections that the agent made */
	unsigned failed, gone; /* it said so */
};

/* ---- the keeper */

/* Forked as the agent ordered; argv[3] is --run-dir=DIR. */
static int be_keeper(int argc, char **argv)
{
	char *gate = xasprintf("%s/gate", strchr(argv[3], '=') + 1);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return open(gate, O_RDONLY) < 0 ? 2 : 1;
}

/* A keeper that has not started yet is let go as well. */
static void let_keeper_end(struct play *w)
{
	w->gate_fd = open(w->gate, O_RDWR | O_CLOEXEC);
	assert_true(w->gate_fd >= 0);
}

/* ---- the controller */

static int find_key(void *ctx, const char *identity,
		    uint8_t secret[TLS_SECRET_SIZE])
{
	const struct play *w = ctx;

	if (strcmp(identity, w->key.identity))
		return -ENOENT;
	memcpy(secret, w->key.secret, TLS_SECRET_SIZE);
	return 0;
}

static void on_ready(struct conn *c, void *ctx)
{
	struct play *w = ctx;

	w->agent = c;
	w->connections++;
}

static void ask_for_keeper(struct play *w)
{
	Control__KeeperName name = CONTROL__KEEPER_NAME__INIT;
	Control__KeeperStart start = CONTROL__KEEPER_START__INIT;

	name.job = (char *)"1";
	start.name = &name;
	assert_int_equal(message_send(w->agent, START_ID, 0,
				      MESSAGE_BODY(KEEPER_START), &start),
			 0);
}

/* A keeper that exists must be named in HELLO, since its end is told later. */
static void greet_agent(struct play *w, const Control__Message *m)
{
	Control__ControllerInfo info = CONTROL__CONTROLLER_INFO__INIT;
	size_t there = m->hello->agent->n_keepers;

	info.pool = (char *)"10.99.0.0/16";
	assert_int_equal(message_send_hello(w->agent, 0, m->id, NULL, &info),
			 0);
	assert_int_equal(there, w->connections > 1);
	if (w->connections == 1)
		ask_for_keeper(w);
	if (w->connections == 1 && w->breaks)
		conn_finish(w->agent);
	else
		let_keeper_end(w);
}

static int on_message(struct conn *c, const uint8_t *p, size_t n, void *ctx,
		      struct error *err)
{
	struct play *w = ctx;
	Control__Message *m = message_parse(p, n, err);

	assert_non_null(m);
	switch (m->body_case) {
	case MESSAGE_BODY(HELLO):
		greet_agent(w, m);
		break;
	case MESSAGE_BODY(FAILED):
		assert_int_equal(m->re, START_ID);
		w->failed++;
		break;
	case MESSAGE_BODY(KEEPER_GONE):
		assert_string_equal(m->keeper_gone->name->job, "1");
		w->gone++;
		break;
	default:
		break; /* a report */
	}
	message_free(m);
	return 0;
}

static void on_closed(struct conn *c, int code, const struct error *why,
		      void *ctx)
{
	conn_destroy(c);
}

static const struct conn_ops agent_ops = {
	.ready = on_ready,
	.message = on_message,
	.closed = on_closed,
};

static void serve_agent(struct play *w)
{
	const struct conn_server_conf conf = {
		.ops = &agent_ops,
		.ctx = w,
		.lookup = find_key,
		.max_strangers = 4,
		.max_conns = 4,
		.handshake_timeout = PATIENCE,
	};
	struct address address;
	struct error err;
	int fd;

	assert_int_equal(address_parse(w->address, &address, &err), 0);
	fd = address_listen(&address, &err);
	assert_true(fd >= 0);
	assert_int_equal(loop_create(&w->event, &err), 0);
	assert_int_equal(
		conn_server_create(w->event, fd, &conf, &w->server, &err), 0);
}

/* ---- the agent */

static void write_key(const struct play *w)
{
	char line[TLS_KEY_LINE];
	int fd = open(w->key_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	tls_key_format(&w->key, line, sizeof(line));
	assert_true(fd >= 0);
	assert_int_equal(io_write_full(fd, line, strlen(line)), 0);
	close(fd);
}

static _Noreturn void be_agent(const struct play *w)
{
	struct agent_conf conf;
	struct error err = ERROR_INIT;

	agent_conf_init(&conf);
	conf.controller = w->address;
	conf.key = w->key_path;
	conf.run_dir = (char *)w->dir;
	conf.address = (char *)"127.0.0.1";
	conf.net = (char *)"none";
	conf.keeper = "/proc/self/exe";
	conf.cores = 1;
	conf.score = 1;
	conf.owner_terms.quiet = 0;
	conf.owner_terms.load = LOAD_ANY;
	conf.owner_terms.memory = 0;
	/*
	 * A report over a connection that has just ended would end that one
	 * first.
	 */
	conf.report_every = 3600 * USEC_PER_SEC;
	if (agent_run(&conf, -1, &err) < 0)
		fprintf(stderr, "# agent: %s\n", err.text);
	_exit(0);
}

static void play_begin(struct play *w)
{
	scratch_dir(w->dir, "/tmp");
	w->key_path = xasprintf("%s/key", w->dir);
	w->gate = xasprintf("%s/gate", w->dir);
	w->address = xasprintf("unix:%s/socket", w->dir);
	assert_int_equal(mkfifo(w->gate, 0600), 0);
	assert_int_equal(tls_key_generate(&w->key, "host/h1", NULL), 0);
	write_key(w);
	serve_agent(w);
	w->pid = fork_to_end_with();
	assert_true(w->pid >= 0);
	if (!w->pid)
		be_agent(w);
}

static void play_end(struct play *w)
{
	kill(w->pid, SIGTERM);
	assert_int_equal(waitpid(w->pid, NULL, 0), w->pid);
	conn_server_destroy(w->server);
	sd_event_unref(w->event);
	free(w->key_path);
	close(w->gate_fd);
	free(w->gate);
	free(w->address);
}

static void play_until_told(struct play *w)
{
	while (!w->failed && !w->gone)
		assert_true(sd_event_run(w->event, PATIENCE) > 0);
}

/* ---- tests */

static void a_start_that_fails_is_answered(void **state)
{
	struct play w = { .breaks = false };

	play_begin(&w);
	play_until_told(&w);
	assert_int_equal(w.failed, 1);
	assert_int_equal(w.connections, 1);
	play_end(&w);
}

/*
 * The new connection may be to another controller, for which the id of the
 * request means something else.
 */
static void no_answer_goes_to_another_connection(void **state)
{
	struct play w = { .breaks = true };

	play_begin(&w);
	play_until_told(&w);
	assert_int_equal(w.failed, 0);
	assert_int_equal(w.gone, 1);
	assert_int_equal(w.connections, 2);
	play_end(&w);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_that_fails_is_answered),
		cmocka_unit_test(no_answer_goes_to_another_connection),
	};

	if (argc > 1 && !strcmp(argv[1], "keeper")) { /* --nursery=3 */
		nursery_serve(3, be_keeper);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
