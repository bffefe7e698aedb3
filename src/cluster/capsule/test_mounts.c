/* test_mounts.c - where control groups are mounted, and when that is asked */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/capsule/cgroup.h"
#include "core/test_fork.h"

static bool has_group(void)
{
	char *v1 = cgroup_own("memory"), *v2 = cgroup_own("");
	bool has = v1 || v2;

	free(v1);
	free(v2);
	return has;
}

static int unmounted(void)
{
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return 77;
	cgroup_know_mounts();
	if (!has_group())
		return 77;
	if (umount2("/sys/fs/cgroup", MNT_DETACH) < 0)
		return 77;
	/*
	 * Mounts are looked up only once somebody has said that they may have
	 * changed.
	 */
	if (!has_group())
		return 1;
	cgroup_know_mounts();
	return has_group() ? 2 : 0;
}

static void mounts_known_until_they_change(void **state)
{
	pid_t pid = fork_to_end_with();
	int status;

	if (!pid)
		_exit(unmounted());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return; /* not root, or no groups: cannot be tested */
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mounts_known_until_they_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
