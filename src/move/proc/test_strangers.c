/* test_strangers.c - how far processes of other users are looked into */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/test_fork.h"
#include "move/proc/fdinfo.h"

#define STRANGER 4321
#define MANY	 300

static int kept[2]; /* a pipe */

/* A process of that user with so many descriptors; the pipe is its last one. */
static pid_t holder(uid_t uid, int many)
{
	int said[2], ends[2];
	char c;
	pid_t pid;

	assert_int_equal(pipe(said), 0);
	assert_int_equal(pipe(ends), 0);
	pid = fork_to_end_with();
	if (!pid) {
		close(kept[0]);
		dup2(kept[1], 20 + many);
		close(kept[1]);
		for (int i = 0; i < many; i++)
			dup2(said[1], 20 + i);
		/* Another uid forgets that it is to end with us. */
		if (setresuid(uid, uid, uid) < 0 ||
		    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
			_exit(1);
		(void)!write(said[1], "s", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(said[0], &c, 1), 1);
	close(said[0]);
	close(said[1]);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Who else has the pipe, for a process of that user, with so many looks left? */
static pid_t who(uid_t uid, int64_t left)
{
	struct strangers s = strangers_to(getpid());
	struct stat st;

	assert_int_equal(s.uid, getuid());
	assert_int_equal(s.left, STRANGERS_MOST);
	s.uid = uid;
	s.left = left;
	assert_int_equal(fstat(kept[0], &st), 0);
	return fdinfo_other_holder(getpid(), &st, &s);
}

static void few_descriptors_are_all_looked_at(void **state)
{
	pid_t pid = holder(STRANGER, 2);

	assert_int_equal(who(STRANGER + 1, 0), pid);
	end(pid);
}

static void a_stranger_s_many_as_long_as_any_are_left(void **state)
{
	pid_t pid = holder(STRANGER, MANY);

	assert_int_equal(who(STRANGER + 1, STRANGERS_MOST), pid);
	assert_int_equal(who(STRANGER + 1, 10), 0);
	end(pid);
}

static void ones_own_and_root_s_are_looked_at_anyhow(void **state)
{
	pid_t pid = holder(STRANGER, MANY);

	assert_int_equal(who(STRANGER, 0), pid);
	end(pid);
	pid = holder(0, MANY);
	assert_int_equal(who(STRANGER, 0), pid);
	end(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_descriptors_are_all_looked_at),
		cmocka_unit_test(a_stranger_s_many_as_long_as_any_are_left),
		cmocka_unit_test(ones_own_and_root_s_are_looked_at_anyhow),
	};

	if (geteuid()) {
		print_message("# not tested: only root can be others\n");
		return 0;
	}
	assert_int_equal(pipe(kept), 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
