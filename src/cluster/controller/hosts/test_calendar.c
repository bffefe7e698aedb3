/* test_calendar.c - a calendar of maintenance, by a clock that is given */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cluster/controller/hosts/calendar.h"
#include "core/xalloc.h"

#define MINUTE (60 * USEC_PER_SEC)

static struct calendar read_lines(const char *lines)
{
	char *text = xstrdup(lines);
	struct calendar c;
	struct error err;

	if (calendar_parse(text, "test", &c, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
	return c;
}

/* The time in usec since 1970, by the time zone that is set. */
static usec_t at(int year, int month, int day, int hour, int minute)
{
	struct tm tm = { .tm_year = year - 1900,
			 .tm_mon = month - 1,
			 .tm_mday = day,
			 .tm_hour = hour,
			 .tm_min = minute,
			 .tm_isdst = -1 };

	return (usec_t)mktime(&tm) * USEC_PER_SEC;
}

static void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static void days_and_hosts(void **state)
{
	struct calendar c = read_lines("# lines\n\n"
				       "sat 2:00-6:00 h1,h2  new kernel \n"
				       "mon-wed 23:30-0:30 * backup\n"
				       "2026-11-26 8:00-20:00 h3\n");
	struct closure is;

	(void)state;
	set_zone("UTC");
	/* 2026-11-25 is a Wednesday. */
	assert_true(calendar_next(&c, "h1", at(2026, 11, 25, 12, 0), &is));
	assert_int_equal(is.from, at(2026, 11, 25, 23, 30));
	assert_int_equal(is.to, at(2026, 11, 26, 0, 30));
	assert_string_equal(is.reason, "backup");
	/* The entry lasts over midnight, but no longer than to its end. */
	assert_true(calendar_next(&c, "h1", at(2026, 11, 26, 0, 29), &is));
	assert_int_equal(is.from, at(2026, 11, 25, 23, 30));
	assert_true(calendar_next(&c, "h1", at(2026, 11, 26, 0, 30), &is));
	assert_int_equal(is.from, at(2026, 11, 28, 2, 0));
	assert_string_equal(is.reason, "new kernel");
	assert_true(calendar_next(&c, "h3", at(2026, 11, 26, 0, 30), &is));
	assert_int_equal(is.from, at(2026, 11, 26, 8, 0));
	assert_string_equal(is.reason, "");
	assert_true(calendar_next(&c, "h3", at(2026, 11, 26, 20, 0), &is));
	assert_int_equal(is.from, at(2026, 11, 30, 23, 30));
	calendar_clear(&c);
	c = read_lines("2026-12-24 8:00-20:00 h3 disk\n");
	assert_false(calendar_next(&c, "h3", at(2026, 11, 26, 0, 30), &is));
	assert_false(calendar_next(&c, "h1", at(2026, 12, 24, 9, 0), &is));
	assert_true(calendar_next(&c, "h3", at(2026, 12, 24, 9, 0), &is));
	calendar_clear(&c);
}

/* The night in which clocks go back has an hour more. */
static void days_are_local(void **state)
{
	struct calendar c = read_lines("sun 1:00-5:00 * clocks\n");
	struct closure is;

	(void)state;
	set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	assert_true(calendar_next(&c, "h", at(2026, 10, 24, 12, 0), &is));
	assert_int_equal(is.to - is.from, 5 * 60 * MINUTE);
	assert_true(calendar_next(&c, "h", at(2026, 11, 7, 12, 0), &is));
	assert_int_equal(is.to - is.from, 4 * 60 * MINUTE);
	calendar_clear(&c);
}

static bool is_due(const struct calendar *c, usec_t now, usec_t *ret_from)
{
	struct closure is = { .from = USEC_MAX };
	bool any = calendar_next(c, "h", now, &is);

	*ret_from = is.from;
	return any && is.from - 15 * MINUTE <= now;
}

/* Looked at in these instants alone, it is known at each minute. */
static void nothing_changes_in_between(void **state)
{
	struct calendar c = read_lines("sun 1:00-5:00 * clocks\n"
				       "mon-thu 23:30-0:30 h night\n"
				       "tue 0:10-0:40 h longer\n"
				       "2026-10-28 12:00-12:20 g,h lunch\n"
				       "2026-10-28 12:20-12:30 h again\n");
	usec_t now, until = 0, from, was_from = 0;
	bool was = false;
	unsigned looks = 0;

	(void)state;
	set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	for (now = at(2026, 10, 24, 20, 3); now < at(2026, 10, 31, 20, 0);
	     now += MINUTE) {
		bool due = is_due(&c, now, &from);

		if (now >= until) {
			was = due;
			was_from = from;
			looks++;
			until = calendar_same_until(&c, "h", now, 15 * MINUTE);
			assert_true(until > now);
		}
		assert_int_equal(due, was);
		assert_int_equal(from, was_from);
	}
	/* Eight closures: before each, and at its end. */
	assert_in_range(looks, 12, 17);
	calendar_clear(&c);
	c = read_lines("2026-12-24 8:00-20:00 h disk\n");
	assert_int_equal(calendar_same_until(&c, "h", now, 0),
			 now + USEC_PER_DAY);
	calendar_clear(&c);
}

static void wrong_lines_are_named(void **state)
{
	static const char *const wrong[] = {
		"someday 2:00-6:00 h1",
		"sat 2-6 h1",
		"sat 2:00-2:00 h1",
		"sat 2:00-25:00 h1",
		"sat 2:00-6:00",
		"2026-02-30 2:00-6:00 h1",
		"sat 2:00-6:00 h1 a\tb\x1b",
		"sat-xyz 2:00-6:00 h1",
	};
	struct calendar c;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char *text = xasprintf("# one\n%s\n", wrong[i]);

		assert_true(calendar_parse(text, "file", &c, &err) < 0);
		assert_int_equal(strncmp(err.text, "file:2: ", 8), 0);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(days_and_hosts),
		cmocka_unit_test(days_are_local),
		cmocka_unit_test(nothing_changes_in_between),
		cmocka_unit_test(wrong_lines_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
