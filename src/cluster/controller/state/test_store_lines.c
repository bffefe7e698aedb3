/* test_store_lines.c - the record's lines in the store */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
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

enum { MANY = 40 };

static bool on_numbered(void *ctx, const struct store_line *line)
{
	uint64_t *n = ctx;
	char text[24];

	++*n;
	snprintf(text, sizeof(text), "line %d", (int)*n);
	assert_int_equal(line->seq, *n);
	assert_int_equal(line->job, *n);
	assert_int_equal(line->at, 1000 + *n);
	assert_int_equal(line->begin, *n == 17);
	assert_string_equal(line->line, text);
	return true;
}

static void put_numbered(struct store *s, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "line %d", (int)n);
	store_put_line(s, &(struct store_line){ .job = n,
						.at = (int64_t)(1000 + n),
						.begin = n == 17,
						.line = text });
}

/* Written several at once, they are in their order, and none is missing. */
static void numbered(void **state)
{
	struct store *s;
	char own[80];
	uint64_t n = 0;

	(void)state;
	snprintf(own, sizeof(own), "%s/many.db", dir);
	assert_int_equal(store_open(own, &s, NULL), 0);
	for (uint64_t i = 1; i <= MANY; i++)
		put_numbered(s, i);
	store_commit(s);
	put_numbered(s, MANY + 1);
	store_each_line(s, 0, 0, on_numbered, &n);
	assert_int_equal(n, MANY + 1); /* also before it is committed */
	store_close(s);

	assert_int_equal(store_open(own, &s, NULL), 0);
	n = 0;
	store_each_line(s, 0, 0, on_numbered, &n);
	assert_int_equal(n, MANY + 1);
	store_close(s);
	unlink(own);
}

/* In a process that then dies. */
static void put_in_child(const char *path)
{
	struct store *s;

	if (store_open(path, &s, NULL) < 0)
		_exit(1);
	for (uint64_t i = 1; i <= MANY; i++)
		put_numbered(s, i);
	store_commit(s);
	_exit(0);
}

static void committed(void **state)
{
	struct store *s;
	char own[80];
	uint64_t n = 0;
	int status;
	pid_t pid;

	(void)state;
	snprintf(own, sizeof(own), "%s/committed.db", dir);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		put_in_child(own);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(store_open(own, &s, NULL), 0);
	store_each_line(s, 0, 0, on_numbered, &n);
	assert_int_equal(n, MANY);
	store_close(s);
	unlink(own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(numbered),
		cmocka_unit_test(committed),
	};

	scratch_dir(dir, "/tmp");
	return cmocka_run_group_tests_name("store_lines", tests, NULL, NULL);
}
