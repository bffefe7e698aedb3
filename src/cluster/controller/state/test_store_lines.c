/* test_store_lines.c - the record's lines in the store */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/controller/state/store.h"
#include "core/scratch.h"

static char dir[SCRATCH_MAX];

static bool on_line(void *ctx, const struct store_line *line)
{
	uint64_t *seen = ctx;

	assert_int_equal(line->job, line->seq % 3);
	assert_string_equal(line->line, "line");
	seen[0]++;
	seen[1] = line->seq;
	return seen[0] < seen[2];
}

/* Ten lines: segments of four, four and two. */
static void lines(void **state)
{
	struct store_line line = { .line = "line" };
	uint64_t seen[3] = { 0, 0, 100 }, first, last;
	struct store *s;
	char own[80];

	(void)state;
	snprintf(own, sizeof(own), "%s/lines.db", dir);
	assert_int_equal(store_open(own, &s, NULL), 0);
	store_trim_lines(s, 0);
	store_lines(s, &first, &last);
	assert_int_equal(first, 0);
	for (uint64_t i = 1; i <= 10; i++) {
		line.job = i % 3;
		line.begin = i % 4 == 1;
		store_put_line(s, &line);
	}
	store_each_line(s, 3, 0, on_line, seen);
	assert_int_equal(seen[0], 8);
	seen[0] = 0;
	store_each_line(s, 0, 2, on_line, seen);
	assert_true(seen[0] == 3 && seen[1] == 8);
	seen[0] = 0;
	seen[2] = 2;
	store_each_line(s, 0, 0, on_line, seen);
	assert_true(seen[0] == 2 && seen[1] == 2);
	store_trim_lines(s, 6);
	store_lines(s, &first, &last);
	assert_int_equal(first, 1);
	store_trim_lines(s, 5);
	store_lines(s, &first, &last);
	assert_true(first == 5 && last == 10);
	store_close(s);
	unlink(own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
	};

	scratch_dir(dir, "/tmp");
	return cmocka_run_group_tests_name("store_lines", tests, NULL, NULL);
}
