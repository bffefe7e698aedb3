/* test_lines.c - many ranks' output in order */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/client/lines.h"

struct seen {
	char text[512];
	size_t n;
	unsigned taken;
	uint64_t last_seq;
	bool drop; /* count only */
};

static int print(void *ctx, unsigned stream, const void *p, size_t n)
{
	struct seen *s = ctx;

	if (s->drop) {
		s->n += n;
		return 0;
	}
	assert_true(s->n + n + 3 < sizeof(s->text));
	s->n += snprintf(s->text + s->n, sizeof(s->text) - s->n, "%u:%.*s;",
			 stream, (int)n, (const char *)p);
	return 0;
}

static void taken(void *ctx, uint32_t rank, uint64_t epoch, uint64_t seq)
{
	struct seen *s = ctx;

	s->taken++;
	s->last_seq = seq;
}

static const struct lines_ops ops = { .print = print, .taken = taken };

static void whole_lines(void **state)
{
	struct seen s = { .n = 0 };
	struct lines *l = lines_create(2, false, &ops, &s);

	lines_add(l, 0, 1, 0, "ab", 2, 0, 1);
	lines_add(l, 1, 1, 0, "xyz\nq", 5, 0, 1);
	lines_add(l, 0, 1, 2, "c\nd\n", 4, 0, 2);
	lines_add(l, 0, 2, 0, "e\n", 2, 0, 3);
	assert_string_equal(s.text, "1:xyz\n;1:abc\n;1:d\n;2:e\n;");
	lines_finish(l);
	assert_string_equal(s.text, "1:xyz\n;1:abc\n;1:d\n;2:e\n;1:q;");
	assert_int_equal(s.taken, 4);
	lines_destroy(l);
}

static void labels(void **state)
{
	struct seen s = { .n = 0 };
	struct lines *l = lines_create(12, true, &ops, &s);

	lines_add(l, 11, 1, 0, "a\nb", 3, 0, 1);
	lines_finish(l);
	assert_string_equal(s.text, "1:[11] a\n;1:[11] b;");
	lines_destroy(l);
}

/*
 * An unfinished line is shown after a while, as it may be a question. It goes
 * on, or is begun again when another rank has printed in between.
 */
static void shown_unfinished(void **state)
{
	struct seen s = { .n = 0 };
	struct lines *l = lines_create(2, true, &ops, &s);

	lines_add(l, 0, 1, 0, "a? ", 3, 0, 1);
	assert_string_equal(s.text, "");
	lines_show(l, 2);
	assert_string_equal(s.text, "");
	lines_show(l, 1);
	lines_show(l, 1);
	assert_string_equal(s.text, "1:[0] a? ;");
	lines_add(l, 0, 1, 3, "b\nc", 3, 0, 2);
	lines_show(l, 1);
	assert_string_equal(s.text, "1:[0] a? ;1:b\n;1:[0] c;");
	s.n = 0;
	lines_add(l, 1, 1, 0, "x\n", 2, 0, 1);
	lines_add(l, 0, 1, 6, "d\n", 2, 0, 3);
	assert_string_equal(s.text, "1:\n;1:[1] x\n;1:[0] d\n;");
	lines_destroy(l);
}

/* A line has one label, however long it is. */
static void long_line(void **state)
{
	static char part[LINES_MAX];
	struct seen s = { .n = 0, .drop = true };
	struct lines *l = lines_create(2, true, &ops, &s);

	memset(part, 'x', sizeof(part));
	for (unsigned i = 0; i < 3; i++)
		lines_add(l, 1, 1, i * sizeof(part), part, sizeof(part), 0, i);
	lines_add(l, 1, 1, 3 * sizeof(part), "\n", 1, 0, 3);
	assert_int_equal(s.n, 3 * sizeof(part) + strlen("[1] ") + 1);
	lines_destroy(l);
}

static void lone_rank_at_once(void **state)
{
	struct seen s = { .n = 0 };
	struct lines *l = lines_create(1, false, &ops, &s);

	lines_add(l, 0, 1, 0, "prompt> ", 8, 0, 1);
	assert_string_equal(s.text, "1:prompt> ;");
	lines_destroy(l);
}

/*
 * The new keeper's bytes come before the rest of the old one's, and some of
 * them twice.
 */
static void moved_rank(void **state)
{
	struct seen s = { .n = 0 };
	struct lines *l = lines_create(1, false, &ops, &s);

	lines_add(l, 0, 1, 0, "abc", 3, 0, 1);
	lines_add(l, 0, 1, 8, "ij", 2, 1, 2);
	lines_add(l, 0, 1, 6, "gh", 2, 1, 1);
	assert_int_equal(s.taken, 1);
	assert_false(lines_reached(l, 0, 10, 0));
	lines_add(l, 0, 1, 1, "bcdef", 5, 0, 2);
	assert_string_equal(s.text, "1:abc;1:def;1:gh;1:ij;");
	assert_int_equal(s.taken, 4);
	assert_int_equal(s.last_seq, 2);
	assert_true(lines_reached(l, 0, 10, 0));
	lines_add(l, 0, 1, 6, "gh", 2, 1, 1);
	assert_int_equal(s.taken, 5);
	assert_string_equal(s.text, "1:abc;1:def;1:gh;1:ij;");
	lines_destroy(l);
}

/* The client does not wait for lost bytes, and skips nothing twice. */
static void lost_piece(void **state)
{
	struct seen s = { .n = 0 };
	struct lines *l = lines_create(1, false, &ops, &s);

	lines_add(l, 0, 1, 0, "a\n", 2, 0, 1);
	lines_add(l, 0, 1, 6, "d\n", 2, 1, 2);
	assert_string_equal(s.text, "1:a\n;");
	assert_true(lines_skip(l, 0, 1, 4));
	assert_string_equal(s.text, "1:a\n;");
	lines_add(l, 0, 1, 4, "c\n", 2, 1, 1);
	assert_string_equal(s.text, "1:a\n;1:c\n;1:d\n;");
	assert_false(lines_skip(l, 0, 1, 8));
	assert_false(lines_skip(l, 1, 1, 9));
	assert_true(lines_skip(l, 0, 2, 9));
	assert_true(lines_reached(l, 0, 8, 9));
	lines_destroy(l);
}

static void nonsense(void **state)
{
	struct seen s = { .n = 0 };
	struct lines *l = lines_create(1, false, &ops, &s);

	lines_add(l, 1, 1, 0, "x", 1, 0, 1);
	lines_add(l, 0, 0, 0, "x", 1, 0, 1);
	lines_add(l, 0, 3, 0, "x", 1, 0, 1);
	assert_int_equal(s.taken, 0);
	lines_destroy(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_lines),
		cmocka_unit_test(labels),
		cmocka_unit_test(shown_unfinished),
		cmocka_unit_test(long_line),
		cmocka_unit_test(lone_rank_at_once),
		cmocka_unit_test(moved_rank),
		cmocka_unit_test(lost_piece),
		cmocka_unit_test(nonsense),
	};
	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
