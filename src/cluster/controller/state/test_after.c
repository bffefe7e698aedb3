/* test_after.c - what a job is told of the end of what it follows */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cluster/controller/state/after.h"

static Control__Reason told(uint32_t whose)
{
	const struct ctl_end end = { .over = true,
				     .failed = true,
				     .exit = 1,
				     .reason = ENDED(RANK_LOST),
				     .uid = whose };
	Control__After a = CONTROL__AFTER__INIT;

	ctl_after_note(&a, &end, 1000);
	assert_true(a.over && a.failed);
	assert_int_equal(a.exit, 1);
	return a.reason;
}

/* Why it failed is its user's to know; if nobody knows that it ended, everybody's. */
static void why_is_its_users(void **state)
{
	assert_int_equal(told(1000), ENDED(RANK_LOST));
	assert_int_equal(told(1001), ENDED(EXIT_CODE));
	assert_int_equal(told(CTL_ANYBODY), ENDED(RANK_LOST));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(why_is_its_users),
	};

	return cmocka_run_group_tests_name("after", tests, NULL, NULL);
}
