/* test_crowd.c - the oldest member of the largest group goes */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/crowd.h"

static size_t oldest(const char *whose, size_t n)
{
	return crowd_oldest(whose, n, 1);
}

static void the_oldest_of_the_most(void **state)
{
	assert_int_equal(oldest("a", 1), 0);
	assert_int_equal(oldest("abb", 3), 1);
	assert_int_equal(oldest("abcbacb", 7), 1);
	assert_int_equal(oldest("accbbb", 6), 3);
}

static void the_older_of_equals(void **state)
{
	assert_int_equal(oldest("abc", 3), 0);
	assert_int_equal(oldest("cbbaa", 5), 1);
}

static void all_of_a_key_counts(void **state)
{
	const uint32_t whose[] = { 0x10001, 0x20001, 0x10002, 0x20001 };

	assert_int_equal(crowd_oldest(whose, 4, sizeof(*whose)), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_of_the_most),
		cmocka_unit_test(the_older_of_equals),
		cmocka_unit_test(all_of_a_key_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
