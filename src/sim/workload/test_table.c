/* test_table.c - columns by their names, and what a wrong table says */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/xalloc.h"
#include "sim/workload/table.h"

enum { ID, SIZE, NOTE };

static const struct table_format format = {
	.separator = "|",
	.if_lacking = "was it written by -P?",
	.if_uneven = "was it cut off?",
	.column = { [ID] = { "id", "number", true },
		    [SIZE] = { "size", NULL, true },
		    [NOTE] = { "note", NULL, false } },
};

static char *text;
static struct error err;
static struct table table;

static int open_table(const char *content)
{
	free(text);
	text = xstrdup(content);
	table = (struct table){
		.format = &format, .name = "t", .text = text, .err = &err
	};
	return table_head(&table);
}

static int end(void **state)
{
	(void)state;
	free(text);
	text = NULL;
	return 0;
}

static void check_line(size_t line, const char *id, const char *size,
		       const char *note)
{
	assert_true(table_next(&table));
	assert_int_equal(table.line, line);
	assert_string_equal(table_text(&table, ID), id);
	assert_string_equal(table_text(&table, SIZE), size);
	assert_string_equal(table_text(&table, NOTE), note);
}

static void check_end(int result)
{
	assert_false(table_next(&table));
	assert_int_equal(table.result, result);
}

static void columns_are_found_by_name(void **state)
{
	(void)state;
	assert_int_equal(open_table("size|other|ID\n1|x|2\n3||4\n"), 0);
	check_line(2, "2", "1", "");
	check_line(3, "4", "3", "");
	check_end(0);
	assert_int_equal(open_table("Note|NUMBER|Size\na|7|8\n"), 0);
	check_line(2, "7", "8", "a");
	check_end(0);
	/* The table's own name for the column is taken before the other one. */
	assert_int_equal(open_table("number|id|size\n1|2|3"), 0);
	check_line(2, "2", "3", "");
	check_end(0);
}

static void empty_lines_and_fields(void **state)
{
	(void)state;
	assert_int_equal(open_table("\n\r\nid|size\r\n\n1|\r\n\n\n|2\n\n"), 0);
	check_line(5, "1", "", "");
	check_line(8, "", "2", "");
	check_end(0);
}

static void a_table_without_lines(void **state)
{
	(void)state;
	assert_int_equal(open_table("id|size"), 0);
	check_end(0);
	assert_int_equal(open_table(""), -EINVAL);
	assert_non_null(strstr(err.text, "no column 'id'"));
}

static void a_column_is_lacking(void **state)
{
	(void)state;
	assert_int_equal(open_table("\nid|sizes\n1|2\n"), -EINVAL);
	assert_string_equal(err.text,
			    "t:2: no column 'size'; was it written by -P?");
}

static void a_line_is_uneven(void **state)
{
	static const char *const lines[] = { "3", "3|4|5" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		char said[100],
			*all = xasprintf("id|size\n1|2\n%s\n5|6\n", lines[i]);

		assert_int_equal(open_table(all), 0);
		check_line(2, "1", "2", "");
		check_end(-EINVAL);
		snprintf(said, sizeof(said),
			 "t:3: %d fields, and the first line names 2; was it "
			 "cut off?",
			 i ? 3 : 1);
		assert_string_equal(err.text, said);
		free(all);
	}
}

/* As many columns as there is room for; and one more, which is refused. */
static void many_columns(void **state)
{
	char all[16 + 2 * TABLE_FIELDS] = "id|size", more[sizeof(all) + 8];

	(void)state;
	memset(all + strlen(all), '|', TABLE_FIELDS - 2);
	snprintf(more, sizeof(more), "%s|x", all);
	assert_int_equal(open_table(all), 0);
	assert_int_equal(table.nr_fields, TABLE_FIELDS);
	assert_int_equal(open_table(more), -EINVAL);
	assert_string_equal(err.text, "t:1: more than 256 columns");
}

static void a_bad_value(void **state)
{
	(void)state;
	assert_int_equal(open_table("size|number\n1|many\n"), 0);
	check_line(2, "many", "1", "");
	assert_int_equal(table_bad_value(&table, ID), -EINVAL);
	assert_string_equal(err.text, "t:2: id is 'many'");
	assert_int_equal(table_bad_value(&table, NOTE), -EINVAL);
	assert_string_equal(err.text, "t:2: note is ''");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(columns_are_found_by_name, end),
		cmocka_unit_test_teardown(empty_lines_and_fields, end),
		cmocka_unit_test_teardown(a_table_without_lines, end),
		cmocka_unit_test_teardown(a_column_is_lacking, end),
		cmocka_unit_test_teardown(a_line_is_uneven, end),
		cmocka_unit_test_teardown(many_columns, end),
		cmocka_unit_test_teardown(a_bad_value, end),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
