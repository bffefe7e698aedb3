/* test_hurry.c - tests of hurry.h */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>

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

/* Who has chosen to be behind others, or how late its timers may be. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_others_are_left_alone),
		cmocka_unit_test(test_who_has_chosen_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
