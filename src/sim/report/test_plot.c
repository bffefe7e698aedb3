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

#include "sim/report/plot.h"

/*
 * Not inline: gcc 12 mistakes what open_memstream() left in text for dangling.
 */
__attribute__((noinline)) static char *draw(const struct plot *plot)
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
	/* Three points and the mark in the legend; error bars of two. */
	assert_int_equal(count(text, "<circle"), 4);
	assert_int_equal(count(text, "stroke=\"#0072b2\"/>"), 2);
	/* From 0 to 80 in round steps. */
	assert_non_null(strstr(text, ">80</text>"));
	assert_non_null(strstr(text, ">0.2</text>"));
	free(text);
	free(again);
}

/*
 * Longer labels make the picture wider, so none is cut; a single curve needs no
 * legend.
 */
static void the_legend_has_room(void **state)
{
	static const struct plot_point a[] = { { 0, 1, 1, 1 }, { 1, 2, 2, 2 } };
	const struct plot_line line[] = {
		{ "lst:alternate=no,slice=10min,maxprio=1000", a, 2 },
		{ "b", a, 2 }
	};
	struct plot plot = { "t", "x", "y", line, 2, 0 };
	char *text = draw(&plot);
	int width = 0, x = 0;
	const char *label = strstr(text, ">lst:");

	(void)state;
	sscanf(strstr(text, "width=\""), "width=\"%d", &width);
	while (*label != '<')
		label--;
	sscanf(label, "<text x=\"%d", &x);
	assert_true(x > 550 && x + 6 * (int)strlen(line[0].label) < width);
	free(text);
	plot.nr = 1;
	text = draw(&plot);
	assert_null(strstr(text, ">lst:"));
	sscanf(strstr(text, "width=\""), "width=\"%d", &width);
	assert_int_equal(width, PLOT_WIDTH);
	free(text);
}

/* Ticks are at 1, 2, 5, 10, ...; all decades have the same height. */
static void logarithms(void **state)
{
	static const struct plot_point a[] = { { 0, 10, 10, 10 },
					       { 1, 100, -5, 200 },
					       { 2, 1000, 900, 1000 } };
	static const struct plot_line line[] = { { "a", a, 3 } };
	struct plot plot = { "t", "x", "y", line, 1, 0, true };
	char *text = draw(&plot);
	double x[3], y[3];

	(void)state;
	assert_non_null(strstr(text, ">10</text>"));
	assert_non_null(strstr(text, ">50</text>"));
	assert_non_null(strstr(text, ">200</text>"));
	assert_null(strstr(text, "nan"));
	assert_int_equal(sscanf(strstr(strstr(text, "clip-path="), "d=\"M"),
				"d=\"M%lf %lf L%lf %lf L%lf %lf", &x[0], &y[0],
				&x[1], &y[1], &x[2], &y[2]),
			 6);
	assert_true(fabs((y[0] - y[1]) - (y[1] - y[2])) < 0.2);
	free(text);
}

static void steps_are_round(void **state)
{
	const char *label;

	(void)state;
	assert_true(fabs(plot_step(57.44, 10) - 10) < 1e-12);
	assert_true(fabs(plot_step(0.7, 6) - 0.2) < 1e-12);
	assert_true(fabs(plot_step(3, 6) - 0.5) < 1e-12);
	assert_true(plot_time_unit(4 * 3600, &label) == 1);
	assert_true(plot_time_unit(4 * 3600 + 1, &label) == 3600);
	assert_string_equal(label, "time, hours");
	assert_true(plot_time_unit(5 * 86400, &label) == 86400);
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
		cmocka_unit_test(the_legend_has_room),
		cmocka_unit_test(logarithms),
		cmocka_unit_test(steps_are_round),
		cmocka_unit_test(nothing_to_draw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
