/* test_units.c - reading times and numbers */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/clock.h"
#include "core/units.h"

static void times(void **state)
{
	static const struct {
		const char *text;
		usec_t us;
	} good[] = {
		{ "90", 90000000 },	 { "1.5s", 1500000 },
		{ "250ms", 250000 },	 { "0", 0 },
		{ "30min", 1800000000 }, { "2h", 7200000000 },
		{ "1d", 86400000000 },	 { "7us", 7 },
	};
	static const char *const bad[] = {
		"", "-1", "1x", "s", "1 s", "nan", "inf", "1e300", "0x10", " 1"
	};
	struct error err;
	usec_t v;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(parse_usec(good[i].text, &v, &err), 0);
		assert_int_equal(v, good[i].us);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		v = 42;
		assert_int_equal(parse_usec(bad[i], &v, &err), -EINVAL);
		assert_int_equal(v, 42);
	}
}

static void reals(void **state)
{
	static const double v[] = { 0, 0.1, 1. / 3, 1e9, 12345678.9, 0.30 };
	static const char *const bad[] = { "", " 1", "1x", "nan", "-1", "2e9" };
	char text[REAL_TEXT];
	double back = 42;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(parse_real(bad[i], 0, 1e9, &back, NULL),
				 -EINVAL);
	assert_true(back == 42);
	assert_string_equal(real_text(0.1, text), "0.1");
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		real_text(v[i], text);
		assert_int_equal(parse_real(text, 0, 1e9, &back, NULL), 0);
		assert_true(back == v[i]);
	}
}

static void numbers(void **state)
{
	struct error err;
	int64_t v = 42;

	(void)state;
	assert_int_equal(parse_int("12", 1, 100, "ranks", &v, &err), 0);
	assert_int_equal(v, 12);
	assert_int_equal(parse_int("0", 1, 100, "ranks", &v, &err), -ERANGE);
	assert_string_equal(err.text,
			    "ranks: 0 is out of range, from 1 to 100");
	assert_int_equal(parse_int("7x", 1, 100, "ranks", &v, &err), -EINVAL);
	assert_int_equal(parse_int("", 1, 100, "ranks", &v, &err), -EINVAL);
	assert_int_equal(
		parse_int("99999999999999999999", 1, 100, "n", &v, &err),
		-ERANGE);
	assert_string_equal(
		err.text,
		"n: 99999999999999999999 is out of range, from 1 to 100");
	assert_int_equal(v, 12);
}

static void sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
		const char *shown;
	} good[] = {
		{ "0", 0, "0 bytes" },
		{ "1000", 1000, "1000 bytes" },
		{ "64K", 65536, "64 KiB" },
		{ "256M", 268435456, "256 MiB" },
		{ "256mb", 268435456, "256 MiB" },
		{ "1.5GiB", 1610612736, "1.5 GiB" },
		{ "2T", 2199023255552, "2 TiB" },
	};
	static const char *const bad[] = {
		"",	"x",   "-1",   "1 G",	       "1X",  "1KX", "nan",
		"0x10", "1e3", "9e99", "99999999999T", ".5G", "G"
	};
	char text[SIZE_TEXT];
	uint64_t v = 42;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(parse_size(bad[i], &v, NULL), -EINVAL);
	assert_int_equal(v, 42);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(parse_size(good[i].text, &v, NULL), 0);
		assert_true(v == good[i].bytes);
		assert_string_equal(size_text(v, text), good[i].shown);
	}
}

static void clocks(void **state)
{
	struct onward o = { 0 };

	(void)state;
	assert_int_equal(onward(&o, 1000, 7), 1000);
	assert_int_equal(onward(&o, 1010, 17), 1010);
	assert_int_equal(onward(&o, 5000, 27), 5000); /* set ahead */
	assert_int_equal(onward(&o, 100, 37), 5010);  /* set back */
	assert_int_equal(onward(&o, 160, 97), 5070);
	assert_int_equal(onward(&o, 5100, 107), 5100); /* and set right again */
}

/* Times of files may be before 1970. */
static void timespecs(void **state)
{
	static const int64_t all[] = { 0,  1,		1500000000,
				       -1, -1500000000, -2000000000 };
	struct timespec t = clock_timespec(-1);

	(void)state;
	assert_true(t.tv_sec == -1 && t.tv_nsec == 999999999);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		t = clock_timespec(all[i]);
		assert_in_range(t.tv_nsec, 0, 999999999);
		assert_true(clock_of_timespec(&t) == all[i]);
	}
}

static void whole_numbers_are_the_nearest(void **state)
{
	const double values[] = { 0,	  0.5,	  0x1.fffffffffffffp-2,
				  1.5,	  2.5,	  -0.5,
				  -1.5,	  -2.49,  4503599627370495.5,
				  0x1p53, 0x1p62, 1e15 + 0.25 };

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		assert_int_equal(whole(values[i]), llround(values[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_are_the_nearest),
		cmocka_unit_test(times),
		cmocka_unit_test(numbers),
		cmocka_unit_test(reals),
		cmocka_unit_test(sizes),
		cmocka_unit_test(clocks),
		cmocka_unit_test(timespecs),
	};
	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
