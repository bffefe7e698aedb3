/*
 * test_calm.c - threads of a landing process are ahead of others no longer than
 * the freeze, whether they get to run or not; and progress is told to the
 * source
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/hurry.h"
#include "core/test_ahead.h"
#include "core/test_fork.h"
#include "core/xalloc.h"
#include "move/land/land.h"

struct calm {
	struct landing l;
	struct stub_box box;
	struct move_dest dst;
	struct move_dest_ops ops;
};

static pid_t waiting(void)
{
	pid_t pid = fork_to_end_with();

	if (pid == 0) {
		for (;;)
			pause();
	}
	return pid;
}

/* Begin as for a freeze, except for the engine, which is this test. */
static struct calm *begin(void)
{
	struct calm *c = xcalloc(1, sizeof(*c));

	c->dst.ops = &c->ops;
	c->l.dst = &c->dst;
	c->l.box = &c->box;
	c->l.pid = waiting();
	c->l.helper.pid = waiting();
	c->l.ahead.on = true;
	assert_true(hurry_begin(c->l.pid) && hurry_begin(c->l.helper.pid));
	return c;
}

static void end(struct calm *c)
{
	const pid_t pid[] = { c->l.pid, c->l.helper.pid };

	for (size_t i = 0; i < 2; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	free(c);
}

/* It has been told that it may run, but stands still. */
static void test_released_it_is_put_back(void **state)
{
	struct calm *c;

	if (!may_hurry())
		return;
	c = begin();
	landing_release(&c->l);
	assert_int_equal(c->box.released, 1);
	landing_hurry(&c->l, false);
	assert_false(is_ahead(c->l.pid));
	assert_false(is_ahead(c->l.helper.pid));
	end(c);
}

static void test_its_own_priority_is_its_own(void **state)
{
	struct calm *c;

	if (!may_hurry())
		return;
	c = begin();
	landing_own_ahead(&c->l);
	landing_calm(&c->l);
	assert_true(is_ahead(c->l.pid));
	assert_false(is_ahead(c->l.helper.pid));
	end(c);
}

/* Is a BEAT sent for that process when the last one was long ago? */
static bool beats_for(pid_t pid)
{
	struct landing l = { 0 };
	char got[64];
	bool any;
	int sv[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	l.ch = channel_from_fd(sv[0]);
	landing_beat(&l, pid); /* CPU time until now */
	(void)!recv(sv[1], got, sizeof(got), MSG_DONTWAIT);
	l.beat.at = 0;
	landing_beat(&l, pid);
	any = recv(sv[1], got, sizeof(got), MSG_DONTWAIT) > 0;
	landing_beat(&l, pid);
	assert_true(recv(sv[1], got, sizeof(got), MSG_DONTWAIT) < 0);
	channel_close(l.ch);
	close(sv[1]);
	return any;
}

static void test_who_gets_on_is_told_of(void **state)
{
	pid_t busy = fork_to_end_with();

	if (busy == 0)
		for (;;)
			;
	assert_true(beats_for(0));
	assert_true(beats_for(busy));
	kill(busy, SIGSTOP);
	assert_int_equal(waitpid(busy, NULL, WUNTRACED), busy);
	assert_false(beats_for(busy));
	kill(busy, SIGKILL);
	waitpid(busy, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_released_it_is_put_back),
		cmocka_unit_test(test_its_own_priority_is_its_own),
		cmocka_unit_test(test_who_gets_on_is_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
