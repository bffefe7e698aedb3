/* test_param.c - NAME:key=value, and the heap */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/heap.h"
#include "core/param.h"
#include "core/random.h"

static const char *const colours[] = { "red", "green", NULL };
static const struct param table[] = {
	{ "n", PARAM_INT, 3, 0, 10, NULL, "how many" },
	{ "x", PARAM_REAL, 0.5, 0, 1, NULL, "how much" },
	{ "wait", PARAM_TIME, 60, 0, 3600, NULL, "how long" },
	{ "fast", PARAM_BOOL, 0, 0, 1, NULL, "be quick" },
	{ "colour", PARAM_CHOICE, 0, 0, 0, colours, "which" },
	{ "file", PARAM_TEXT, 0, 0, 0, NULL, "where" },
	{ .name = NULL },
};

static void good(void **state)
{
	struct params p;
	struct error err;

	(void)state;
	assert_int_equal(params_parse(table, NULL, "thing", &p, &err), 0);
	assert_int_equal(params_int(&p, "n"), 3);
	assert_null(params_text(&p, "file"));
	params_clear(&p);
	assert_int_equal(params_parse(table,
				      "n=7,wait=2min,fast,colour=green,file=a",
				      "thing", &p, &err),
			 0);
	assert_int_equal(params_int(&p, "n"), 7);
	assert_true(params_usec(&p, "wait") == 120 * USEC_PER_SEC);
	assert_true(params_bool(&p, "fast"));
	assert_int_equal(params_choice(&p, "colour"), 1);
	assert_string_equal(params_text(&p, "file"), "a");
	params_clear(&p);
}

static void bad(void **state)
{
	static const char *const text[] = {
		"m=1",	       "n",	  "n=",	       "n=1.5",
		"n=11",	       "n=-1",	  "n=1,n=2",   "x=nan",
		"x=1e9",       "wait=2h", "wait=soon", "fast=maybe",
		"colour=blue", ",",	  "n=1,",      "n=0x1",
	};
	struct params p;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
		err.text[0] = '\0';
		if (params_parse(table, text[i], "thing", &p, &err) != -EINVAL)
			fail_msg("'%s' was taken", text[i]);
		assert_non_null(strstr(err.text, "thing"));
	}
}

/* Compare with a plain search for the smallest (key, order of entry). */
static void heap(void **state)
{
	struct heap h = HEAP_INIT;
	struct {
		usec_t key;
		uint64_t seq;
	} in[50];
	uint64_t seq = 0;
	struct random_stream r;

	(void)state;
	for (int i = 0; i < 50; i++)
		in[i].key = -1;
	random_init(&r, 7, "heap", 0);
	for (int step = 0; step < 20000; step++) {
		uint32_t handle = (uint32_t)random_below(&r, 50);
		uint64_t what = random_below(&r, 3);
		int best = -1;

		if (what == 0) {
			in[handle].key = (usec_t)random_below(&r, 21);
			in[handle].seq = seq++;
			heap_set(&h, handle, in[handle].key);
		} else if (what == 1) {
			assert_int_equal(heap_remove(&h, handle),
					 in[handle].key >= 0);
			in[handle].key = -1;
		} else {
			for (int i = 0; i < 50; i++)
				if (in[i].key >= 0 &&
				    (best < 0 || in[i].key < in[best].key ||
				     (in[i].key == in[best].key &&
				      in[i].seq < in[best].seq)))
					best = i;
			if (best < 0) {
				assert_true(heap_first_key(&h) == USEC_MAX);
				continue;
			}
			assert_true(heap_first_key(&h) == in[best].key);
			assert_int_equal(heap_pop(&h), best);
			in[best].key = -1;
		}
	}
	heap_clear(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(bad),
		cmocka_unit_test(heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
