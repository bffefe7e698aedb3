/* test_digits.c - numbers and their digits, all lengths of them */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/digits.h"

/* Added to every power of ten, and to some numbers in between. */
static const int64_t deltas[] = { -1, 0, 1, 7, 4321, 90909 };

static void written_as_printf_does(void **state)
{
	char ours[32], theirs[32];

	(void)state;
	for (uint64_t power = 1; power <= UINT64_C(1000000000000000000);
	     power *= 10)
		for (size_t i = 0; i < sizeof(deltas) / sizeof(*deltas); i++) {
			uint64_t u = power + (uint64_t)deltas[i];

			*digits_put(ours, u) = '\0';
			snprintf(theirs, sizeof(theirs), "%" PRIu64, u);
			assert_string_equal(ours, theirs);
		}
	*digits_put(ours, UINT64_MAX) = '\0';
	assert_string_equal(ours, "18446744073709551615");
}

/* Every possible byte, at every place behind some digits. */
static void counted_up_to_what_is_none(void **state)
{
	char text[] = "90817263";

	(void)state;
	assert_int_equal(digits_count(digits_load(text)), 8);
	for (unsigned at = 0; at < 8; at++)
		for (int c = 0; c < 256; c++) {
			char good = text[at];
			unsigned n;

			text[at] = (char)c;
			n = digits_count(digits_load(text));
			text[at] = good;
			assert_int_equal(n, c >= '0' && c <= '9' ? 8 : at);
		}
}

static void read_as_written(void **state)
{
	(void)state;
	for (uint32_t u = 0; u < 100000000; u = u * 3 + 1) {
		char text[16];
		unsigned n = (unsigned)snprintf(text, sizeof(text),
						"%" PRIu32 "\xff-x:9z/", u) -
			     7;
		uint64_t chars = digits_load(text);

		assert_int_equal(digits_value(chars, n), u);
		if (n < 8)
			assert_int_equal(digits_count(chars), n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_as_printf_does),
		cmocka_unit_test(counted_up_to_what_is_none),
		cmocka_unit_test(read_as_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
