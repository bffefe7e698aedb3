/* test_pattern.c - names of output files */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/pattern.h"

static const struct pattern_values values = {
	.job = 12, .rank = 3, .name = "../a\nb\x7f", .host = "h1"
};

static void becomes_of(const struct pattern_values *v, const char *pattern,
		       const char *folder, const char *path)
{
	struct error err;
	char *f, *p;

	assert_int_equal(pattern_expand(pattern, v, &f, &p, &err), 0);
	assert_string_equal(f, folder);
	assert_string_equal(p, path);
	free(f);
	free(p);
}

static void becomes(const char *pattern, const char *folder, const char *path)
{
	becomes_of(&values, pattern, folder, path);
}

static void values_are_put_in(void **state)
{
	becomes("out", ".", "out");
	becomes("/out", "/", "out");
	becomes("a/b/out", "a/b", "out");
	becomes("/a/%j/%r.%N", "/a", "12/3.h1");
	becomes("a%%b%a%A", ".", "a%b012");
	becomes_of(
		&(struct pattern_values){ .job = 12, .array = 10, .task = 7 },
		"%a.%A.%j", ".", "7.10.12");
	becomes("x/%x/y", "x", ".._a_b_/y"); /* no directory more, no line */
}

/* The pattern of a job, with ranks and hosts still to be filled in. */
static void of_a_job(void **state)
{
	char *text = pattern_of_job("/a/%j/%r.%N%%%x", &values);

	assert_string_equal(text, "/a/12/%r.%N%%.._a_b_");
	free(text);
}

static void refused(const char *pattern, int code)
{
	struct error err;

	assert_int_equal(pattern_check(pattern, &err), code);
	assert_null(strchr(err.text, '\n'));
}

static void nonsense_is_refused(void **state)
{
	static char text[PATTERN_MAX + 2];

	refused("", -EINVAL);
	refused("a/", -EINVAL);
	refused("%", -EINVAL);
	refused("%q", -EINVAL);
	refused("a%%%", -EINVAL);
	refused("a\nb", -EINVAL);
	refused("\033[2J/a", -EINVAL);
	refused("a\u202eb", -EINVAL);
	memset(text, 'x', PATTERN_MAX + 1);
	refused(text, -ENAMETOOLONG);
}

static void values_lose_what_a_terminal_obeys(void **state)
{
	const struct pattern_values v = { .name = "\u00e4\xc2\x9b\u202e\x9b/",
					  .host = "" };
	struct error err;
	char *f, *p;

	assert_int_equal(pattern_expand("%x", &v, &f, &p, &err), 0);
	assert_string_equal(p, "\u00e4____");
	free(f);
	free(p);
}

/* A result may be too long although the pattern is not. */
static void results_are_bounded(void **state)
{
	struct pattern_values v = values;
	char pattern[PATTERN_MAX + 1], *f, *p;
	struct error err;

	/*
	 * The longest pattern that is allowed, and one that is a byte longer.
	 */
	memset(pattern, 'x', PATTERN_MAX);
	pattern[PATTERN_MAX] = 0;
	assert_int_equal(pattern_check(pattern, &err), 0);
	becomes(pattern, ".", pattern);
	memcpy(pattern, "%x", 2);
	v.name = "01";
	assert_int_equal(pattern_expand(pattern, &v, &f, &p, &err), 0);
	free(f);
	free(p);
	v.name = "012";
	assert_int_equal(pattern_expand(pattern, &v, &f, &p, &err),
			 -ENAMETOOLONG);
	v.name = "0123456789";
	for (int i = 0; i < PATTERN_MAX; i += 2)
		memcpy(pattern + i, "%x", 2);
	pattern[PATTERN_MAX] = 0;
	assert_int_equal(pattern_expand(pattern, &v, &f, &p, &err),
			 -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_put_in),
		cmocka_unit_test(values_lose_what_a_terminal_obeys),
		cmocka_unit_test(of_a_job),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(results_are_bounded),
	};

	return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
