/*
 * test_calm.c - who lands is not ahead of others for longer than the freeze,
 * whether its threads get to run or not
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

/* As for a freeze, but the engine, which is this test. */
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

/* It does not run: it has been told that it may, and stands. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_released_it_is_put_back),
		cmocka_unit_test(test_its_own_priority_is_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
