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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
	};
	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
