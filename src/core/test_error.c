/* test_error.c - error texts are one line and keep their code */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/error.h"

static void set_returns_code(void **state)
{
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(error_set(&err, -EINVAL, "no host %d", 7), -EINVAL);
	assert_string_equal(err.text, "no host 7");
	assert_int_equal(error_set(NULL, -EIO, "x"), -EIO);
}

static void text_is_one_line(void **state)
{
	struct error err;

	(void)state;
	error_set(&err, -1, "%s", "two\nlines");
	assert_string_equal(err.text, "two lines");
	error_set(&err, -1, "%s", "red \033[31m, bell \a, \xc3\xa4");
	assert_string_equal(err.text, "red ?[31m, bell ?, \xc3\xa4");
	error_set(&err, -1, "%s",
		  "\xc2\x9b"
		  "31m, \xc2\xa7, \xc2");
	assert_string_equal(err.text, "?31m, \xc2\xa7, \xc2");
	/*
	 * C1 control characters as single bytes, too long or cut; and bytes
	 * that begin no character.
	 */
	error_set(&err, -1, "%s",
		  "\x9b"
		  "31m \xe0\x82\x9b \xc3 \xe2\x80 \xff\xe4");
	assert_string_equal(err.text, "?31m \xe0?? \xc3 \xe2? \xff\xe4");
	/* UTF-16's halves, and beyond Unicode: where that is no character, they are. */
	error_set(&err, -1, "%s",
		  "\xed\xa0\x9b \xf4\x90\x80\x9b \xf4\x8f\xbf\xbf");
	assert_string_equal(err.text, "\xed\xa0? \xf4??? \xf4\x8f\xbf\xbf");
}

/*
 * Characters that change the direction of text, so that "gpj.exe" reads as
 * "exe.jpg".
 */
static void nothing_turns_the_line_round(void **state)
{
	static const char *const turn[] = {
		"\u061c", "\u200e", "\u200f", "\u2028", "\u2029",
		"\u202a", "\u202e", "\u2066", "\u2069",
	};
	static const char *const stays[] = { "\u061b", "\u200d",    "\u2010",
					     "\u202f", "\u2065",    "\u206a",
					     "\u05d0", "\U0001f600" };
	struct error err;

	for (size_t i = 0; i < sizeof(turn) / sizeof(*turn); i++) {
		error_set(&err, -1, "a%sb", turn[i]);
		assert_string_equal(err.text, "a?b");
	}
	for (size_t i = 0; i < sizeof(stays) / sizeof(*stays); i++) {
		error_set(&err, -1, "%s", stays[i]);
		assert_string_equal(err.text, stays[i]);
	}
}

static void sys_names_the_errno(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(error_sys(&err, -ENOENT, "open %s", "f"), -ENOENT);
	assert_string_equal(err.text, "open f: No such file or directory");
}

static void prefix_goes_before_and_long_text_is_cut(void **state)
{
	struct error err;
	char big[2000];

	(void)state;
	error_set(&err, -1, "inner");
	assert_int_equal(error_prefix(&err, -2, "rank %d", 3), -2);
	assert_string_equal(err.text, "rank 3: inner");
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	error_sys(&err, -ENOENT, "%s", big);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_returns_code),
		cmocka_unit_test(text_is_one_line),
		cmocka_unit_test(nothing_turns_the_line_round),
		cmocka_unit_test(sys_names_the_errno),
		cmocka_unit_test(prefix_goes_before_and_long_text_is_cut),
	};
	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
