/*
 * test_small_loop.c - what clients and keepers expect of an event loop; built twice, with
 * sd-event and with small_loop.c in its place
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <systemd/sd-event.h>

#include "core/clock.h"

static char said[64]; /* a letter a call */
static sd_event_source *self;

static void say(char c)
{
	size_t n = strlen(said);

	assert_true(n + 1 < sizeof(said));
	said[n] = c;
}

static sd_event *fresh(void)
{
	sd_event *e;

	memset(said, 0, sizeof(said));
	assert_int_equal(sd_event_new(&e), 0);
	return e;
}

static int on_defer(sd_event_source *s, void *ctx)
{
	say(*(const char *)ctx);
	return 0;
}

static int on_io(sd_event_source *s, int fd, uint32_t revents, void *ctx)
{
	char c;

	say(*(const char *)ctx);
	if (revents & EPOLLIN)
		assert_int_equal(read(fd, &c, 1), 1);
	return 0;
}

static sd_event_source *watch(sd_event *e, int fd, uint32_t events,
			      const char *letter)
{
	sd_event_source *s = NULL;
	int r = sd_event_add_io(e, &s, fd, events, on_io, (void *)letter);

	assert_int_equal(r, 0);
	return s;
}

static int on_time(sd_event_source *s, uint64_t at, void *ctx)
{
	say(*(const char *)ctx);
	return 0;
}

/*
 * Sources that get ready one after the other are served in that order, one per
 * turn.
 */
static void oldest_first(void **state)
{
	sd_event_source *a = NULL, *b = NULL, *io = NULL;
	sd_event *e = fresh();
	int p[2];

	(void)state;
	assert_int_equal(pipe2(p, O_NONBLOCK), 0);
	io = watch(e, p[0], EPOLLIN, "i");
	assert_int_equal(sd_event_run(e, 0), 0);
	assert_int_equal(write(p[1], "xy", 2), 2);
	assert_int_equal(sd_event_add_defer(e, &a, on_defer, (void *)"a"), 0);
	assert_int_equal(sd_event_run(e, 0), 1);
	assert_int_equal(sd_event_add_defer(e, &b, on_defer, (void *)"b"), 0);
	while (sd_event_run(e, 0) > 0)
		;
	assert_int_equal(said[0], 'a');
	assert_int_equal(said[1], 'i');
	assert_int_equal(strlen(said), 4);
	sd_event_source_disable_unref(a);
	sd_event_source_disable_unref(b);
	sd_event_source_disable_unref(io);
	sd_event_unref(e);
	close(p[0]);
	close(p[1]);
}

static void once_each(void **state)
{
	sd_event_source *d = NULL, *t = NULL, *never = NULL;
	sd_event *e = fresh();
	uint64_t began;

	(void)state;
	assert_int_equal(sd_event_add_defer(e, &d, on_defer, (void *)"d"), 0);
	assert_int_equal(sd_event_add_time(e, &never, CLOCK_MONOTONIC,
					   UINT64_MAX, 1, on_time, (void *)"n"),
			 0);
	assert_int_equal(sd_event_run(e, UINT64_MAX), 1);
	assert_int_equal(sd_event_run(e, 1000), 0);
	began = (uint64_t)clock_usec(CLOCK_MONOTONIC);
	assert_int_equal(sd_event_add_time_relative(e, &t, CLOCK_MONOTONIC,
						    30000, 1, on_time,
						    (void *)"t"),
			 0);
	assert_int_equal(sd_event_run(e, UINT64_MAX), 1);
	assert_true((uint64_t)clock_usec(CLOCK_MONOTONIC) - began >= 30000);
	assert_int_equal(sd_event_run(e, 1000), 0);
	assert_string_equal(said, "dt");
	assert_int_equal(sd_event_source_set_enabled(d, SD_EVENT_ONESHOT), 0);
	assert_int_equal(sd_event_run(e, 0), 1);
	assert_string_equal(said, "dtd");
	sd_event_source_disable_unref(d);
	sd_event_source_disable_unref(t);
	sd_event_source_disable_unref(never);
	sd_event_unref(e);
}

/*
 * A source of low priority is served when nothing else is ready, even if it was
 * ready before.
 */
static void the_idle_come_last(void **state)
{
	sd_event_source *idle = NULL, *io = NULL, *d = NULL;
	sd_event *e = fresh();
	int p[2];

	(void)state;
	assert_int_equal(pipe2(p, O_NONBLOCK), 0);
	assert_int_equal(write(p[1], "xy", 2), 2);
	assert_int_equal(sd_event_add_defer(e, &idle, on_defer, (void *)"-"),
			 0);
	assert_int_equal(
		sd_event_source_set_priority(idle, SD_EVENT_PRIORITY_IDLE), 0);
	io = watch(e, p[0], EPOLLIN, "i");
	assert_int_equal(sd_event_run(e, 0), 1);
	assert_int_equal(sd_event_add_defer(e, &d, on_defer, (void *)"d"), 0);
	while (sd_event_run(e, 0) > 0)
		;
	assert_int_equal(strlen(said), 4);
	assert_int_equal(said[3], '-');
	sd_event_source_unref(idle);
	sd_event_source_unref(d);
	sd_event_source_unref(io);
	sd_event_unref(e);
	close(p[0]);
	close(p[1]);
}

static int on_again(sd_event_source *s, uint64_t at, void *ctx)
{
	say('t');
	assert_int_equal(sd_event_source_set_time_relative(s, 20000), 0);
	return sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

static void later_again(void **state)
{
	uint64_t began = (uint64_t)clock_usec(CLOCK_MONOTONIC);
	sd_event_source *t = NULL;
	sd_event *e = fresh();

	(void)state;
	assert_int_equal(sd_event_add_time_relative(e, &t, CLOCK_MONOTONIC, 0,
						    1, on_again, NULL),
			 0);
	while (strlen(said) < 3)
		assert_true(sd_event_run(e, UINT64_MAX) >= 0);
	assert_true((uint64_t)clock_usec(CLOCK_MONOTONIC) - began >= 40000);
	/* A timer that is put off is not ready at its former time. */
	assert_int_equal(sd_event_source_set_time_relative(t, 0), 0);
	assert_int_equal(sd_event_source_set_time_relative(t, 3600000000), 0);
	assert_int_equal(sd_event_run(e, 0), 0);
	assert_int_equal(strlen(said), 3);
	sd_event_source_unref(t);
	sd_event_unref(e);
}

static pid_t child;

/* The child can still be asked about, and its number is nobody else's yet. */
static int on_child(sd_event_source *s, const siginfo_t *si, void *ctx)
{
	assert_int_equal(si->si_pid, child);
	assert_int_equal(si->si_code, CLD_EXITED);
	assert_int_equal(si->si_status, 7);
	assert_int_equal(kill(child, 0), 0);
	say('c');
	self = sd_event_source_disable_unref(s);
	return 0;
}

static pid_t fork_until(int fd)
{
	pid_t pid = fork();
	char c;

	if (!pid)
		_exit(read(fd, &c, 1) == 1 ? 7 : 1);
	assert_true(pid > 0);
	return pid;
}

static void a_child_ends_once(void **state)
{
	sd_event *e = fresh();
	sigset_t set;
	int p[2], r;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	child = fork_until(p[0]);
	r = sd_event_add_child(e, &self, child, WEXITED, on_child, NULL);
	assert_true(r >= 0);
	assert_int_equal(sd_event_run(e, 0), 0);
	assert_int_equal(write(p[1], "x", 1), 1);
	while (!*said)
		assert_true(sd_event_run(e, UINT64_MAX) >= 0);
	assert_string_equal(said, "c");
	assert_int_equal(waitpid(child, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	sd_event_unref(e);
	close(p[0]);
	close(p[1]);
}

static void on_and_off(void **state)
{
	sd_event_source *io = NULL;
	sd_event *e = fresh();
	int p[2];

	(void)state;
	assert_int_equal(pipe2(p, O_NONBLOCK), 0);
	io = watch(e, p[1], EPOLLOUT, "o");
	assert_int_equal(sd_event_source_set_enabled(io, SD_EVENT_OFF), 0);
	assert_int_equal(sd_event_run(e, 0), 0);
	assert_int_equal(sd_event_source_set_enabled(io, SD_EVENT_ONESHOT), 0);
	assert_int_equal(sd_event_run(e, 0), 1);
	assert_int_equal(sd_event_run(e, 0), 0);
	assert_int_equal(sd_event_source_set_enabled(io, SD_EVENT_ON), 0);
	assert_int_equal(sd_event_run(e, 0), 1);
	assert_int_equal(sd_event_source_set_io_events(io, EPOLLIN), 0);
	assert_int_equal(sd_event_run(e, 0), 0);
	assert_int_equal(sd_event_source_set_io_events(io, EPOLLOUT), 0);
	assert_int_equal(sd_event_run(e, 0), 1);
	assert_string_equal(said, "ooo");
	sd_event_source_disable_unref(io);
	sd_event_unref(e);
	close(p[0]);
	close(p[1]);
}

/*
 * epoll refuses files that it cannot watch: the caller then reads them at once.
 */
static void regular_files(void **state)
{
	sd_event_source *io = NULL;
	sd_event *e = fresh();
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), r;

	(void)state;
	assert_true(fd >= 0);
	r = sd_event_add_io(e, &io, fd, EPOLLIN, on_io, NULL);
	assert_int_equal(r, -EPERM);
	assert_null(io);
	sd_event_unref(e);
	close(fd);
}

static int on_last(sd_event_source *s, void *ctx)
{
	sd_event *e = sd_event_source_get_event(s);

	say('l');
	self = sd_event_source_disable_unref(s);
	return sd_event_exit(e, 7);
}

/*
 * A source may be removed in its own handler, and the loop ends with its code.
 */
static void the_end(void **state)
{
	sd_event *e = fresh();

	(void)state;
	assert_int_equal(sd_event_add_defer(e, &self, on_last, NULL), 0);
	assert_int_equal(sd_event_loop(e), 7);
	assert_string_equal(said, "l");
	assert_null(self);
	sd_event_unref(e);
}

static int on_bad(sd_event_source *s, int fd, uint32_t revents, void *ctx)
{
	say('b');
	return -EIO;
}

static void who_fails_is_heard_no_more(void **state)
{
	sd_event_source *io = NULL;
	sd_event *e = fresh();
	int p[2], r;

	(void)state;
	assert_int_equal(pipe2(p, O_NONBLOCK), 0);
	r = sd_event_add_io(e, &io, p[1], EPOLLOUT, on_bad, NULL);
	assert_int_equal(r, 0);
	assert_int_equal(sd_event_run(e, 0), 1);
	assert_int_equal(sd_event_run(e, 0), 0);
	assert_string_equal(said, "b");
	sd_event_source_disable_unref(io);
	sd_event_unref(e);
	close(p[0]);
	close(p[1]);
}

static int on_signal(sd_event_source *s, const struct signalfd_siginfo *si,
		     void *ctx)
{
	assert_int_equal(si->ssi_signo, *(const int *)ctx);
	say('s');
	return 0;
}

/* The event loop owns these sources; they go with it. */
static void signals(void **state)
{
	static const int both[] = { SIGUSR1, SIGUSR2 };
	sd_event *e = fresh();
	sigset_t set;

	(void)state;
	sigemptyset(&set);
	for (int i = 0; i < 2; i++) {
		sigaddset(&set, both[i]);
		sigprocmask(SIG_BLOCK, &set, NULL);
		assert_int_equal(sd_event_add_signal(e, NULL, both[i],
						     on_signal,
						     (void *)&both[i]),
				 0);
		raise(both[i]);
	}
	while (sd_event_run(e, 0) > 0)
		;
	assert_string_equal(said, "ss");
	sd_event_unref(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oldest_first),
		cmocka_unit_test(once_each),
		cmocka_unit_test(the_idle_come_last),
		cmocka_unit_test(later_again),
		cmocka_unit_test(a_child_ends_once),
		cmocka_unit_test(on_and_off),
		cmocka_unit_test(regular_files),
		cmocka_unit_test(the_end),
		cmocka_unit_test(who_fails_is_heard_no_more),
		cmocka_unit_test(signals),
	};
	return cmocka_run_group_tests_name("small_loop", tests, NULL, NULL);
}
