/*
 * test_strangers.c - peers that have not proved who they are yet: too many of
 * them, no descriptor left for one, or none that can be watched
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/conn/world.h"

/* Peers that never say anything neither keep others out nor stay for ever. */
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
	/* The first stranger had to go when one more came. */
	assert_int_equal(recv(fd[0], &c, 1, MSG_DONTWAIT), 0);
	while (recv(fd[7], &c, 1, MSG_DONTWAIT) < 0)
		turn(w);
	for (size_t i = 0; i < 8; i++)
		close(fd[i]);
}

/*
 * A server as in world_setup(), but at a port, and without a time limit for
 * strangers.
 */
static struct conn_server *serve_port(struct world *w, struct sockaddr_in *ret)
{
	struct conn_server_conf conf = { .ops = &world_served,
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

/* Many strangers from one place push out each other, not one from elsewhere. */
static void crowds(void **state)
{
	struct world *w = *state;
	struct sockaddr_in to;
	struct conn_server *s = serve_port(w, &to);
	int slow = connect_from(&to, INADDR_LOOPBACK), fd[8];
	char c;

	for (size_t i = 0; i < 8; i++)
		fd[i] = connect_from(&to, INADDR_LOOPBACK + 1);
	/* Of the eight, the six oldest are disconnected. */
	while (recv(fd[5], &c, 1, MSG_DONTWAIT) < 0)
		turn(w);
	assert_int_equal(recv(slow, &c, 1, MSG_DONTWAIT), -1);
	assert_int_equal(recv(fd[6], &c, 1, MSG_DONTWAIT), -1);
	for (size_t i = 0; i < 8; i++)
		close(fd[i]);
	close(slow);
	conn_server_destroy(s);
}

/*
 * When no descriptor is left for a new connection, strangers are disconnected,
 * and the loop does not spin.
 */
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

/* Which call that asks to watch a descriptor fails; 0: none. */
static unsigned unwatched;

/* This function stands in front of libsystemd's. */
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

/* Likewise: which call that changes the events waited for fails. */
static unsigned unarmed;

int sd_event_source_set_io_events(sd_event_source *s, uint32_t events)
{
	int (*real)(sd_event_source *, uint32_t) = (__typeof__(real))dlsym(
		RTLD_NEXT, "sd_event_source_set_io_events");

	return unarmed && !--unarmed ? -ENOSPC : real(s, events);
}

/* A connection that cannot wait for its next event ends at once. */
static void who_cannot_wait(void **state)
{
	struct world *w = *state;

	unarmed = 1; /* the client's call, while it connects */
	connect_as(w, &w->key);
	while (!w->client_closed)
		turn(w);
	assert_int_equal(w->code, -ENOSPC);
	assert_int_equal(w->client_ready, 0);
	connect_as(w, &w->key);
	while (!w->client_ready || !w->served)
		turn(w);
}

/*
 * A connection that cannot be watched is told so, or closed; no other one is
 * harmed.
 */
static void who_cannot_be_watched(void **state)
{
	const struct conn_server_conf conf = { .ops = &world_served };
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
	assert_non_null(strstr(err.text, "fs.epoll.max_user_watches"));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		HERE(silent_strangers),
		HERE(crowds),
		HERE(no_descriptors),
		HERE(who_cannot_be_watched),
		ELSEWHERE(who_cannot_be_watched),
		HERE(who_cannot_wait),
	};
	return cmocka_run_group_tests_name("strangers", tests, NULL, NULL);
}
