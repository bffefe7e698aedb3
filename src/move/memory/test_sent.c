/* test_sent.c - the set of pages that the destination has */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "move/memory/sent.h"

#define P SENT_PAGE
#define B SENT_BLOCK

struct runs {
	uint64_t start[16], end[16];
	unsigned n;
};

static int note(void *arg, uint64_t start, uint64_t end, struct error *err)
{
	struct runs *r = arg;

	assert_true(r->n < 16);
	r->start[r->n] = start;
	r->end[r->n++] = end;
	return 0;
}

static void test_add_remove(void **state)
{
	struct sent *s = sent_create();
	struct runs r = { .n = 0 };

	sent_add(s, B - 2 * P, B + 3 * P);
	sent_add(s, B, B + P); /* again: no change */
	assert_int_equal(sent_count(s), 5);
	sent_remove(s, B + P, B + 2 * P);
	sent_remove(s, 100 * B, 101 * B); /* never there */
	assert_int_equal(sent_count(s), 4);
	assert_int_equal(sent_each(s, 0, 4 * B, note, &r, NULL), 0);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.start[0], B - 2 * P);
	assert_int_equal(r.end[0], B);
	assert_int_equal(r.start[1], B);
	assert_int_equal(r.end[1], B + P);
	assert_int_equal(r.start[2], B + 2 * P);
	assert_int_equal(r.end[2], B + 3 * P);
	sent_destroy(s);
}

static void test_each_cuts(void **state)
{
	struct sent *s = sent_create();
	struct runs r = { .n = 0 };

	sent_add(s, 0, 10 * P);
	assert_int_equal(sent_each(s, 2 * P, 4 * P, note, &r, NULL), 0);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.start[0], 2 * P);
	assert_int_equal(r.end[0], 4 * P);
	sent_destroy(s);
}

static void test_sparse(void **state)
{
	struct sent *s = sent_create();
	struct runs r = { .n = 0 };

	sent_add(s, 900 * B, 900 * B + P);
	sent_add(s, 3 * B, 3 * B + 2 * P);
	sent_add(s, 5 * B, 5 * B + P);
	assert_int_equal(
		sent_each(s, 3 * B + P, (uint64_t)B << 20, note, &r, NULL), 0);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.start[0], 3 * B + P);
	assert_int_equal(r.end[0], 3 * B + 2 * P);
	assert_int_equal(r.start[1], 5 * B);
	assert_int_equal(r.start[2], 900ull * B);
	sent_destroy(s);
}

static int stop(void *arg, uint64_t start, uint64_t end, struct error *err)
{
	return -5;
}

static void test_result(void **state)
{
	struct sent *s = sent_create();

	sent_add(s, 0, P);
	assert_int_equal(sent_each(s, 0, B, stop, NULL, NULL), -5);
	sent_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_remove),
		cmocka_unit_test(test_each_cuts),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
