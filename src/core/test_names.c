/* test_names.c - names keep their numbers */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/names.h"

static void numbers_are_as_added(void **state)
{
	struct names names = { 0 };
	char name[] = "b";

	(void)state;
	assert_int_equal(names_count(&names), 0);
	assert_int_equal(names_find(&names, "b"), UINT32_MAX);
	assert_int_equal(names_add(&names, name), 0);
	name[0] = 'a'; /* it was copied */
	assert_int_equal(names_find(&names, "a"), UINT32_MAX);
	assert_int_equal(names_add(&names, name), 1);
	assert_int_equal(names_add(&names, "b"), 0);
	assert_int_equal(names_add(&names, ""), 2);
	assert_int_equal(names_find(&names, "bb"), UINT32_MAX);
	assert_int_equal(names_find(&names, "a"), 1);
	assert_int_equal(names_count(&names), 3);
	names_clear(&names);
	assert_int_equal(names_count(&names), 0);
	assert_int_equal(names_add(&names, "a"), 0);
	names_clear(&names);
}

static void many(void **state)
{
	struct names names = { 0 };
	char name[16];

	(void)state;
	for (int twice = 0; twice < 2; twice++)
		for (uint32_t i = 0; i < 20000; i++) {
			snprintf(name, sizeof(name), "h%u", i);
			assert_int_equal(names_add(&names, name), i);
		}
	assert_int_equal(names_find(&names, "h19999"), 19999);
	assert_int_equal(names_count(&names), 20000);
	names_clear(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_as_added),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
