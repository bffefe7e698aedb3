/* test_json.c - one object a line, whatever is in it */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/json.h"

static void lines(void **state)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	assert_non_null(f);
	json_line(json_pack("{so so so so}", "a",
			    json_text("x\n\xff\xc3\xa4\xf0\x9f\x90\xa6"), "b",
			    json_text(NULL), "c", json_number(INFINITY), "d",
			    json_number(0.1)),
		  f);
	json_line(json_pack("{si}", "e", 1), f);
	fclose(f);
	assert_string_equal(
		text,
		"{\"a\":\"x\\n\xef\xbf\xbd\xc3\xa4\xf0\x9f\x90\xa6\",\"b\":null,"
		"\"c\":null,\"d\":0.1}\n{\"e\":1}\n");
	free(text);
}

/* Each value of a, written one by one, is what json_line() makes of it. */
static void same_either_way(json_t *a, void (*write)(struct json_out *))
{
	char *text[2];
	size_t n;
	FILE *f = open_memstream(&text[0], &n);
	struct json_out o = { .to = f };

	write(&o);
	fputc('\n', f);
	fclose(f);
	f = open_memstream(&text[1], &n);
	json_line(a, f);
	fclose(f);
	assert_string_equal(text[0], text[1]);
	free(text[0]);
	free(text[1]);
}

static const char *const texts[] = { "",     "plain ~", "\"",
				     "a\\b", "\x1b[0m", "\xc3\xa4",
				     "\xff", "/",	NULL };
static const int64_t ints[] = { 0, 7, 10, -1, INT64_MAX, INT64_MIN };
static const double numbers[] = { 0, -0.0, 1, 0.1, 1e300, NAN, 1.0 / 3 };

#define FOR(i, of) for (size_t i = 0; i < sizeof(of) / sizeof(*(of)); i++)

static void write_all(struct json_out *o)
{
	json_out_open(o, NULL, '{');
	json_out_open(o, "empty", '[');
	json_out_close(o, ']');
	json_out_open(o, "texts", '[');
	FOR(i, texts)
	json_out_text(o, NULL, texts[i]);
	json_out_close(o, ']');
	json_out_open(o, "ints", '[');
	FOR(i, ints)
	json_out_int(o, NULL, ints[i]);
	json_out_close(o, ']');
	json_out_open(o, "numbers", '[');
	FOR(i, numbers)
	json_out_number(o, NULL, numbers[i]);
	json_out_close(o, ']');
	json_out_open(o, "in", '{');
	json_out_bool(o, "yes", true);
	json_out_bool(o, "no", false);
	json_out_close(o, '}');
	json_out_tree(o, "tree", json_pack("[i]", 1));
	json_out_close(o, '}');
}

static void one_by_one(void **state)
{
	json_t *t = json_array(), *i = json_array(), *n = json_array();

	(void)state;
	FOR(k, texts)
	json_array_append_new(t, json_text(texts[k]));
	FOR(k, ints)
	json_array_append_new(i, json_integer(ints[k]));
	FOR(k, numbers)
	json_array_append_new(n, json_number(numbers[k]));
	same_either_way(json_pack("{s[] so so so s{sb sb} s[i]}", "empty",
				  "texts", t, "ints", i, "numbers", n, "in",
				  "yes", 1, "no", 0, "tree", 1),
			write_all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(one_by_one),
	};
	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
