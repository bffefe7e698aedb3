/* test_reason.c - sentences and their numbers, and plans of older records */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/plan.h"
#include "model/record.h"

REASON(counts, "it needs {size} {size:processor|processors}, {free:is|are}",
       size, free);
REASON(kinds, "{at:time}, {host:host} and {part:thousandths}", at, host, part);
REASON(none, "the slot is over");

static struct host hosts[] = { { .name = "h\"1\t" }, { .name = "" } };
static const struct view view = { .hosts = hosts, .nr_hosts = 2 };

static void expect(const struct view *v, struct because why, const char *words,
		   const char *numbers)
{
	char text[100], *got;
	size_t size;
	FILE *f = open_memstream(&got, &size);

	because_print(v, &why, text, sizeof(text));
	assert_string_equal(text, words);
	assert_non_null(f);
	because_write_numbers(v, &why, f);
	fclose(f);
	assert_string_equal(got, numbers);
	free(got);
}

static void words_and_numbers(void **state)
{
	expect(NULL, BECAUSE(counts, .size = 1, .free = 0),
	       "it needs 1 processor, are", "{\"size\":1,\"free\":0}");
	/* Numbers are given by name, in any order. */
	expect(NULL, BECAUSE(counts, .free = 1, .size = 2),
	       "it needs 2 processors, is", "{\"size\":2,\"free\":1}");
	expect(&view, BECAUSE(kinds, .at = 1500000, .host = 0, .part = 2500),
	       "1.5 s, h\"1\t and 2.5",
	       "{\"at_us\":1500000,\"host\":\"h\\\"1\\t\",\"part\":2.5}");
	expect(&view, BECAUSE(kinds, .at = -500000, .host = 1, .part = 0),
	       "-0.5 s, 1 and 0",
	       "{\"at_us\":-500000,\"host\":1,\"part\":0.0}");
	expect(&view, BECAUSE(none), "the slot is over", "{}");
}

static void cut_to_size(void **state)
{
	struct because why = BECAUSE(none);
	char text[5];

	because_print(NULL, &why, text, sizeof(text));
	assert_string_equal(text, "the ");
}

/*
 * An entry without named numbers comes from an older record: its reason may be
 * worded otherwise, but what it does must be the same.
 */
static void older_plans(void **state)
{
	const char *ours = "start job 1 with 1 on h1: 1 processor\t{\"n\":1}";

	assert_true(record_same_plan(ours, ours));
	assert_true(record_same_plan("start job 1 with 1 on h1: 1 processors",
				     ours));
	assert_false(record_same_plan("start job 1 with 1 on h2: 1 processor",
				      ours));
	assert_false(record_same_plan("start job 1 with 1 on h1", ours));
	assert_false(record_same_plan(
		"start job 1 with 1 on h1: 1 processors\t{\"n\":1}", ours));
	assert_false(record_same_plan(
		"start job 1 with 1 on h1: 1 processor\t{\"n\":2}", ours));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_and_numbers),
		cmocka_unit_test(cut_to_size),
		cmocka_unit_test(older_plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
