/* test_plot.c - curves come out as whole SVG whatever the numbers are */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/plot.h"

static char *draw(const struct plot *plot)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	plot_write(plot, f);
	fclose(f);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void curves(void **state)
{
	static const struct plot_point a[] = { { 0.2, 10, 9, 11 },
					       { 0.4, 20, 15, 25 },
					       { 0.6, NAN, NAN, NAN },
					       { 0.8, 80, 80, 80 } };
	static const struct plot_point b[] = { { 0.2, 5, -INFINITY,
						 INFINITY } };
	static const struct plot_line line[] = { { "a < b & c", a, 4 },
						 { "b", b, 1 } };
	struct plot plot = { "title", "load", "seconds", line, 2, 0 };
	char *text = draw(&plot), *again = draw(&plot);

	assert_string_equal(text, again);
	assert_memory_equal(text, "<svg ", 5);
	assert_non_null(strstr(text, "</svg>\n"));
	assert_non_null(strstr(text, "a &lt; b &amp; c"));
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
	/* Three points and the legend's mark; the bars of two. */
	assert_int_equal(count(text, "<circle"), 4);
	assert_int_equal(count(text, "stroke=\"#0072b2\"/>"), 2);
	/* 0 to 80 in round steps. */
	assert_non_null(strstr(text, ">80</text>"));
	assert_non_null(strstr(text, ">0.2</text>"));
	free(text);
	free(again);
}

static void nothing_to_draw(void **state)
{
	static const struct plot_point one[] = { { 1, 0, 0, 0 } };
	static const struct plot_line line[] = { { "zero", one, 1 } };
	struct plot plot = { NULL, NULL, NULL, line, 0, 0 };
	char *text = draw(&plot);

	assert_non_null(strstr(text, "</svg>"));
	free(text);
	plot.nr = 1;
	text = draw(&plot);
	assert_null(strstr(text, "nan"));
	assert_non_null(strstr(text, "</svg>"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(curves),
		cmocka_unit_test(nothing_to_draw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
