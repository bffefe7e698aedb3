/*
 * test_hurried.c - threads that are put ahead of others in a move, and put
 * back: by the engines themselves, by their watches (watch.c, land/watch.c),
 * and in a whole move
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/hurry.h"
#include "core/test_ahead.h"
#include "core/test_fork.h"
#include "move/land/land.h"
#include "move/send/ahead.h"
#include "move/wire/fault.h"
#include "move/wire/frame.h"

#define FOREVER 20000 /* ms */
#define LONG	(31 * USEC_PER_MSEC)

/* What the keepers would have been told, in whichever process. */
static struct heard {
	_Atomic unsigned on, off;
	_Atomic bool now, ahead; /* the last "on"; was the engine ahead then? */
} * heard;			 /* the source's, the destination's */

static void op_hurry(void *ctx, bool on)
{
	struct heard *h = ctx;

	if (on)
		h->ahead = is_ahead(0);
	h->now = on;
	h->on += on;
	h->off += !on;
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static pid_t sleeper(void)
{
	pid_t pid = fork_to_end_with();

	if (pid == 0) {
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* ---- the source ---- */

/*
 * The source's clock, which the linker puts in the place of send_now(); 0: the
 * true time.
 */
static usec_t source_now;

usec_t __real_send_now(void);
usec_t __wrap_send_now(void);

usec_t __wrap_send_now(void)
{
	return source_now ? source_now : __real_send_now();
}

static const struct move_source_ops source_ops = { .hurry = op_hurry };

static struct source {
	struct move_source src;
	struct move_report report;
	struct tracee tracee;
	struct sending s;
	struct channel *peer;
} source;

static void begin_source(void)
{
	int fd[2];

	memset(heard, 0, 2 * sizeof(*heard));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	source = (struct source){
		.src = { .pid = sleeper(), .ops = &source_ops, .ctx = heard },
		.peer = channel_from_fd(fd[1]),
	};
	source.s = (struct sending){ .src = &source.src,
				     .report = &source.report,
				     .process = { .pid = source.src.pid,
						  .tracee = &source.tracee },
				     .ahead = ahead_create(),
				     .ch = channel_from_fd(fd[0]) };
}

static void end_source(void)
{
	source_now = 0;
	ahead_destroy(source.s.ahead);
	channel_close(source.s.ch);
	channel_close(source.peer);
	end(source.src.pid);
}

static void expect_told(bool on)
{
	struct frame f = { 0 };
	struct error err = ERROR_INIT;

	if (frame_expect_u64(source.peer, &f, FRAME_HURRY, on, &err) < 0)
		fail_msg("%s", err.text);
	frame_clear(&f);
}

static void hurry_both(bool on)
{
	struct error err = ERROR_INIT;

	assert_int_equal(send_hurry_both(&source.s, on, &err), 0);
}

static void test_source_is_ahead_and_put_back(void **state)
{
	if (!may_hurry())
		return;
	begin_source();
	hurry_both(true);
	assert_true(is_ahead(0) && heard->now && heard->ahead);
	assert_true(source.tracee.hurry);
	expect_told(true);
	hurry_both(true);
	hurry_both(false);
	assert_false(is_ahead(0) || heard->now || source.tracee.hurry);
	expect_told(false); /* and the keeper was not told twice */
	assert_int_equal(heard->on, 1);
	assert_int_equal(heard->off, 1);
	end_source();
}

/* Without a keeper nobody outlives the engine who would put threads back. */
static void test_without_a_keeper_threads_are_not_ahead(void **state)
{
	if (!may_hurry())
		return;
	begin_source();
	source.src.ops = NULL;
	send_hurry(&source.s, true);
	assert_true(is_ahead(0));
	assert_false(source.tracee.hurry);
	send_hurry(&source.s, false);
	assert_false(is_ahead(0));
	end_source();
}

static void test_source_is_not_ahead_for_long(void **state)
{
	if (!may_hurry())
		return;
	begin_source();
	for (int turn = 0; turn < 2; turn++) {
		source_now = (1 + turn) * USEC_PER_SEC;
		hurry_both(true);
		expect_told(true);
		send_tick(&source.s);
		assert_true(is_ahead(0));
		source_now += LONG;
		send_tick(&source.s);
		assert_false(is_ahead(0) || heard->now);
		expect_told(false);
	}
	end_source();
}

/* The time counts from this turn on, not from the one before. */
static void test_source_counts_from_its_beginning(void **state)
{
	if (!may_hurry())
		return;
	begin_source();
	source_now = USEC_PER_SEC;
	send_hurry(&source.s, true);
	send_hurry(&source.s, false);
	source_now += LONG;
	send_hurry(&source.s, true);
	send_tick(&source.s);
	assert_true(is_ahead(0));
	send_hurry(&source.s, false);
	end_source();
}

/* Wait while the engine does nothing at all. */
static bool until_calm(const pid_t *who, size_t n, const struct heard *h)
{
	for (int i = 0; i < FOREVER; i++, nap()) {
		bool ahead = is_ahead(0) || h->now;

		for (size_t k = 0; k < n; k++)
			ahead |= is_ahead(who[k]);
		if (!ahead)
			return true;
	}
	return false;
}

static void test_source_that_does_not_look_is_put_back(void **state)
{
	struct error err = ERROR_INIT;

	if (!may_hurry())
		return;
	begin_source();
	assert_int_equal(send_watch(&source.s, &err), 0);
	send_hurry(&source.s, true);
	hurry_begin(source.src.pid); /* as its threads are when it is stopped */
	assert_true(until_calm(&source.src.pid, 1, heard));
	watch_stop(source.s.watch);
	end_source();
}

/* ---- the destination ---- */

static const struct move_dest_ops dest_ops = { .hurry = op_hurry };

static struct {
	struct move_dest dst;
	struct landing l;
	pid_t both[2];
} dest;

static void begin_dest(void)
{
	memset(heard, 0, 2 * sizeof(*heard));
	dest.dst = (struct move_dest){ .ops = &dest_ops, .ctx = heard };
	dest.both[0] = sleeper();
	dest.both[1] = sleeper();
	dest.l = (struct landing){ .dst = &dest.dst,
				   .pid = dest.both[0],
				   .helper.pid = dest.both[1] };
}

static void end_dest(void)
{
	end(dest.both[0]);
	end(dest.both[1]);
}

static unsigned number_ahead(void)
{
	return heard->now + is_ahead(0) + is_ahead(dest.both[0]) +
	       is_ahead(dest.both[1]);
}

static void test_landing_is_ahead_and_put_back(void **state)
{
	if (!may_hurry())
		return;
	begin_dest();
	landing_hurry(&dest.l, true);
	assert_int_equal(number_ahead(), 4);
	landing_hurry(&dest.l, true);
	landing_hurry(&dest.l, false);
	assert_int_equal(number_ahead(), 0);
	assert_int_equal(heard->on, 1);
	assert_int_equal(heard->off, 1);
	end_dest();
}

static void test_landing_is_not_ahead_for_long(void **state)
{
	usec_t before;

	if (!may_hurry())
		return;
	begin_dest();
	for (int turn = 0; turn < 2; turn++) {
		before = clock_usec(CLOCK_MONOTONIC);
		landing_hurry(&dest.l, true);
		assert_true(dest.l.ahead.since >= before);
		dest.l.ahead.since += USEC_PER_SEC * 1000;
		landing_hurry_bound(&dest.l);
		assert_int_equal(number_ahead(), 4);
		dest.l.ahead.since = clock_usec(CLOCK_MONOTONIC) - LONG;
		landing_hurry_bound(&dest.l);
		assert_int_equal(number_ahead(), 0);
	}
	end_dest();
}

static void test_landing_that_does_not_look_is_put_back(void **state)
{
	struct error err = ERROR_INIT;

	if (!may_hurry())
		return;
	begin_dest();
	assert_int_equal(landing_watch(&dest.l, &err), 0);
	landing_hurry(&dest.l, true);
	assert_true(until_calm(dest.both, 2, heard));
	watch_stop(dest.l.watch);
	end_dest();
}

/* ---- a whole move ---- */

static pid_t moved, init;

static int op_spawn(void *ctx, const void *arg, size_t n, const int *fds,
		    size_t nr_fds, struct error *err)
{
	int status;
	pid_t pid;

	init = fork();
	if (init != 0)
		return init > 0 ? 0 : error_set(err, -EAGAIN, "fork");
	/* Its parent is in another pid namespace: getppid() is 0. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fork() == 0)
		_exit(move_land(arg, n, fds, nr_fds));
	while ((pid = wait(&status)) > 0)
		if (pid == moved)
			_exit(WEXITSTATUS(status));
	_exit(1);
}

/* A program that is not ours, without any descriptor. */
static pid_t begin_sleep(void)
{
	char name[] = "sleep", time[] = "infinity";
	char *argv[] = { name, time, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	pid_t pid;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addclosefrom_np(&files, 0);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
	assert_int_equal(
		posix_spawnp(&pid, *argv, &files, &attr, argv, environ), 0);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return pid;
}

static int send_it(int fd)
{
	struct move_source src = {
		.pid = moved, .epoch = 1, .ops = &source_ops, .ctx = &heard[0]
	};
	struct move_report report;
	struct error err = ERROR_INIT;
	int r = move_send(&src, channel_from_fd(fd), &report, &err);

	if (r < 0)
		print_message("# source: %s\n", err.text);
	return (r < 0) | is_ahead(0) << 1;
}

static int receive_it(int fd)
{
	static const struct move_dest_ops ops = { .spawn = op_spawn,
						  .hurry = op_hurry };
	struct move_dest dst = { .ops = &ops, .ctx = &heard[1] };
	struct move_report report;
	struct error err = ERROR_INIT;
	int r;

	if (unshare(CLONE_NEWPID) < 0)
		return 77;
	r = move_receive(&dst, channel_from_fd(fd), &report, &err);
	if (r < 0)
		print_message("# destination: %s\n", err.text);
	r = (r < 0) | is_ahead(0) << 1 | (r == 0 && is_ahead(report.pid)) << 2;
	if (init > 0)
		kill(init, SIGKILL);
	return r;
}

static int code_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* What both ends return; with a fault at that point unless it is NULL. */
static void move(const char *fault, int ret[2])
{
	pid_t end_of[2];
	int fd[2];

	memset(heard, 0, 2 * sizeof(*heard));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd),
			 0);
	moved = begin_sleep();
	for (int i = 0; i < 2; i++) {
		end_of[i] = fork();
		if (end_of[i])
			continue;
		close(fd[!i]);
		if (fault)
			setenv("STINT_FAULT", fault, 1);
		_exit(i ? receive_it(fd[1]) : send_it(fd[0]));
	}
	close(fd[0]);
	close(fd[1]);
	ret[0] = code_of(end_of[0]);
	ret[1] = code_of(end_of[1]);
}

static void test_a_move_ends_with_nobody_ahead(void **state)
{
	int code[2];

	if (!may_hurry())
		return;
	move(NULL, code);
	if (code[1] != 77) {
		assert_int_equal(code[0], 0);
		assert_int_equal(code[1], 0);
		for (int i = 0; i < 2; i++) {
			assert_true(heard[i].on && heard[i].ahead);
			assert_false(heard[i].now);
		}
		/* It has been ended here, with its former priority. */
		assert_false(is_ahead(moved));
	}
	end(moved);
}

static void test_a_move_given_up_ends_with_nobody_ahead(void **state)
{
	static const char *const fault[] = { "source-frozen:error",
					     "dest-state:error",
					     "source-ready:error" };
	int code[2];

	if (!may_hurry())
		return;
	for (size_t k = 0; k < 3; k++) {
		move(fault[k], code);
		if (code[1] != 77) {
			assert_int_equal(code[0], 1);
			assert_int_equal(code[1], 1);
			assert_true(heard[0].on && heard[1].on);
			assert_false(heard[0].now || heard[1].now);
			assert_false(is_ahead(moved));
		}
		end(moved);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source_is_ahead_and_put_back),
		cmocka_unit_test(test_without_a_keeper_threads_are_not_ahead),
		cmocka_unit_test(test_source_is_not_ahead_for_long),
		cmocka_unit_test(test_source_counts_from_its_beginning),
		cmocka_unit_test(test_source_that_does_not_look_is_put_back),
		cmocka_unit_test(test_landing_is_ahead_and_put_back),
		cmocka_unit_test(test_landing_is_not_ahead_for_long),
		cmocka_unit_test(test_landing_that_does_not_look_is_put_back),
		cmocka_unit_test(test_a_move_ends_with_nobody_ahead),
		cmocka_unit_test(test_a_move_given_up_ends_with_nobody_ahead),
	};

	signal(SIGPIPE, SIG_IGN);
	heard = mmap(NULL, 2 * sizeof(*heard), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
