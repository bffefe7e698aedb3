/* test_bisect.c - every place in rows of every length */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/bisect.h"

/* In the row 2, 4, 6 ... of n items, how many are below key? */
static size_t place(size_t n, size_t key)
{
	size_t at = SIZE_MAX;

	bisect(at, n, 2 * (at + 1) < key);
	return at;
}

static void every_place_is_found(void **state)
{
	for (size_t n = 0; n < 40; n++)
		for (size_t key = 0; key <= 2 * n + 2; key++) {
			size_t want = key ? (key - 1) / 2 : 0;

			assert_int_equal(place(n, key), want < n ? want : n);
		}
}

/* Few items are looked at, and none outside of the row. */
static void few_are_asked(void **state)
{
	size_t at, asked = 0;

	bisect(at, 1 << 20, (asked++, at < 777777));
	assert_int_equal(at, 777777);
	assert_in_range(asked, 20, 21);
	asked = 0;
	bisect(at, 0, (asked++, true));
	assert_int_equal(at, 0);
	assert_int_equal(asked, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_place_is_found),
		cmocka_unit_test(few_are_asked),
	};

	return cmocka_run_group_tests_name("bisect", tests, NULL, NULL);
}
