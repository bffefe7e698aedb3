/* test_hurry.c - tests of hurry.h */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/hurry.h"
#include "core/test_ahead.h"

static void test_there_and_back(void **state)
{
	if (!may_hurry())
		return;
	assert_true(hurry_begin(0));
	if (sched_getscheduler(0) != SCHED_FIFO)
		assert_int_equal(getpriority(PRIO_PROCESS, 0), -20);
	assert_false(hurry_begin(0));
	hurry_end(0);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), 0);
}

static void test_others_are_left_alone(void **state)
{
	struct sched_param param = { .sched_priority = 5 }, none = { 0 };

	assert_int_equal(sched_setscheduler(0, SCHED_BATCH, &none), 0);
	assert_false(hurry_begin(0));
	hurry_end(0);
	assert_int_equal(sched_getscheduler(0), SCHED_BATCH);
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &none), 0);
	if (sched_setscheduler(0, SCHED_FIFO, &param) < 0) {
		print_message("# not tested: no share of real-time here\n");
		return;
	}
	assert_false(hurry_begin(0));
	hurry_end(0);
	assert_int_equal(sched_getscheduler(0), SCHED_FIFO);
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &none), 0);
}

/* Threads that have chosen a low priority, or how late their timers may be. */
static void test_who_has_chosen_is_left_alone(void **state)
{
	int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);

	if (!may_hurry())
		return;
	assert_int_equal(setpriority(PRIO_PROCESS, 0, 5), 0);
	assert_false(hurry_begin(0));
	hurry_end(0);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), 5);
	assert_int_equal(setpriority(PRIO_PROCESS, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_TIMERSLACK, 12345, 0, 0, 0), 0);
	assert_false(hurry_begin(0));
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	assert_int_equal(prctl(PR_SET_TIMERSLACK, slack, 0, 0, 0), 0);
}

/* Run it in a child, whose exit status says whether all of it held. */
static void in_child(bool (*all_is_so)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(!all_is_so());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static pid_t sleeper(int slack)
{
	int ready[2];
	char c;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		prctl(PR_SET_TIMERSLACK, slack, 0, 0, 0);
		if (write(ready[1], "x", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void test_others_can_be_raised(void **state)
{
	pid_t usual, other;

	if (!may_hurry())
		return;
	usual = sleeper(HURRY_SLACK);
	other = sleeper(HURRY_SLACK + 1);
	assert_true(hurry_begin(usual));
	assert_true(is_ahead(usual));
	assert_false(is_ahead(0));
	hurry_end(usual);
	assert_false(is_ahead(usual));
	/* its own timer slack shows that, not ours */
	assert_false(hurry_begin(other));
	assert_false(is_ahead(other));
	kill(usual, SIGKILL);
	kill(other, SIGKILL);
	assert_int_equal(waitpid(usual, NULL, 0), usual);
	assert_int_equal(waitpid(other, NULL, 0), other);
}

static void test_what_looks_like_it(void **state)
{
	assert_true(hurry_is_like(SCHED_FIFO, 3, 0));
	assert_false(hurry_is_like(SCHED_FIFO, 4, 0));
	assert_false(hurry_is_like(SCHED_RR, 3, 0));
	assert_true(hurry_is_like(SCHED_OTHER, 0, -20));
	assert_false(hurry_is_like(SCHED_OTHER, 0, -19));
}

/*
 * SCHED_FIFO with another priority, or another nice value, was set by somebody
 * else.
 */
static void test_only_its_own_is_taken_back(void **state)
{
	struct sched_param other = { .sched_priority = 2 }, none = { 0 };

	if (!may_hurry())
		return;
	assert_int_equal(setpriority(PRIO_PROCESS, 0, -19), 0);
	hurry_end(0);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), -19);
	assert_int_equal(setpriority(PRIO_PROCESS, 0, 0), 0);
	if (sched_setscheduler(0, SCHED_FIFO, &other) < 0)
		return;
	hurry_end(0);
	assert_int_equal(sched_getscheduler(0), SCHED_FIFO);
	other.sched_priority = 3;
	assert_int_equal(sched_setscheduler(0, SCHED_RR, &other), 0);
	hurry_end(0);
	assert_int_equal(sched_getscheduler(0), SCHED_RR);
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &none), 0);
}

static bool is_guarded(void)
{
	struct rlimit limit;

	hurry_guard();
	return getrlimit(RLIMIT_RTTIME, &limit) == 0 &&
	       limit.rlim_cur == 1000000 && limit.rlim_max == 2000000;
}

static void test_guard_bounds_a_second(void **state)
{
	in_child(is_guarded);
}

static bool leaves_at_its_limit(void)
{
	struct rlimit none = { 0 };

	setrlimit(RLIMIT_CORE, &none);
	if (!hurry_begin(0) || !is_ahead(0))
		return false;
	hurry_guard();
	raise(SIGXCPU); /* as the kernel does at that limit */
	return sched_getscheduler(0) == SCHED_OTHER;
}

static void test_who_has_run_for_a_second_is_not_killed(void **state)
{
	if (may_hurry())
		in_child(leaves_at_its_limit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_others_are_left_alone),
		cmocka_unit_test(test_who_has_chosen_is_left_alone),
		cmocka_unit_test(test_others_can_be_raised),
		cmocka_unit_test(test_what_looks_like_it),
		cmocka_unit_test(test_only_its_own_is_taken_back),
		cmocka_unit_test(test_guard_bounds_a_second),
		cmocka_unit_test(test_who_has_run_for_a_second_is_not_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
