/*
 * test_reasons.c - all reasons of the program, and what can be wrong with a
 * reason
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "model/reason.h"
#include "policy/policies.h"

/* The section in which the linker collects what REASON() lists. */
extern const struct reason *const __start_stint_reasons[];
extern const struct reason *const __stop_stint_reasons[];

/*
 * Each sentence that is linked here (every policy's, and the plan's own) names
 * the numbers that its calls give, and no others.
 */
static void all_are_good(void **state)
{
	const struct reason *const *r = __start_stint_reasons;
	struct error err;
	size_t nr = 0;

	/* This call links the policies. */
	assert_non_null(policy_find("sed2", &err));
	for (; r < __stop_stint_reasons; r++, nr++)
		if (reason_check(*r, &err) < 0)
			fail_msg("%s", err.text);
	assert_true(nr > 50);
}

static void refused(const char *text, const char *names, const char *why)
{
	const struct reason r = { .text = text, .names = names };
	struct error err;

	assert_int_equal(reason_check(&r, &err), -EINVAL);
	assert_non_null(strstr(err.text, why));
}

static void bad_ones_are_refused(void **state)
{
	refused("needs {sizes}", "size", "not given 'sizes'");
	refused("needs {siz}", "size", "not given 'siz'");
	refused("needs {size}", "size, free", "does not name 'free'");
	refused("needs {size} and {free}", "size", "not given 'free'");
	refused("at {at:tim}", "at", "unknown kind of number 'tim'");
	refused("needs {size", "size", "a brace without its other");
	refused("needs {si{ze}", "size", "a brace without its other");
	refused("needs size}", "size", "a brace without its other");
	refused("needs {size} }", "size", "a brace without its other");
	refused("needs {}", "", "not given ''");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_good),
		cmocka_unit_test(bad_ones_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
