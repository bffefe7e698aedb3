/* test_run_dir.c - one agent a run directory, and who is just ending */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/agent/priv.h"
#include "core/scratch.h"

static char dir[SCRATCH_MAX];

static void is_for_one(void **state)
{
	struct error err;
	int first = agent_take_run_dir(dir, &err);

	assert_true(first >= 0);
	assert_int_equal(agent_take_run_dir(dir, &err), -EBUSY);
	assert_non_null(strstr(err.text, "another agent works in"));
	close(first);
	first = agent_take_run_dir(dir, &err);
	assert_true(first >= 0);
	close(first);
}

/* As a thread of a killed agent keeps its descriptors open for a while. */
static void is_waited_for(void **state)
{
	struct error err;
	int fd = agent_take_run_dir(dir, &err);
	pid_t ending = fork();

	assert_true(fd >= 0);
	if (!ending) {
		poll(NULL, 0, 300);
		_exit(0);
	}
	close(fd);
	fd = agent_take_run_dir(dir, &err);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(waitpid(ending, NULL, 0), ending);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_for_one),
		cmocka_unit_test(is_waited_for),
	};

	scratch_dir(dir, "/tmp");
	return cmocka_run_group_tests_name("run_dir", tests, NULL, NULL);
}
