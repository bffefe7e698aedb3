/* test_terms.c - settings of [owner], and the hours they name */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "core/random.h"
#include "model/terms.h"

#define MIN (60 * USEC_PER_SEC)

static struct owner_terms terms;

static int fresh(void **state)
{
	(void)state;
	owner_terms_init(&terms);
	return 0;
}

static int clear(void **state)
{
	(void)state;
	owner_terms_clear(&terms);
	return 0;
}

static void set(const char *name, const char *value)
{
	struct error err = ERROR_INIT;

	if (owner_terms_set(&terms, name, value, &err) < 0)
		fail_msg("%s = %s: %s", name, value, err.text);
}

/* That hour and minute of a weekday, 0 being Monday. */
static struct moment at(unsigned day, unsigned hour, unsigned minute)
{
	return moment_plain(day * USEC_PER_DAY + (hour * 60 + minute) * MIN);
}

static bool open_at(unsigned day, unsigned hour, unsigned minute)
{
	struct moment m = at(day, hour, minute);

	return owner_terms_hour(&terms, &m);
}

static void all_settings(void **state)
{
	static const char *const settings[][2] = {
		{ "quiet", "15min" },	     { "load", "0.5" },
		{ "load-quiet", "10" },	     { "hours", "sat" },
		{ "memory", "1G" },	     { "cores", "2" },
		{ "disk", "20M" },	     { "net", "10M" },
		{ "move-net", "4M" },	     { "guests", "3" },
		{ "guests-of", "ann, bob" }, { "on-return", "freeze" },
		{ "freeze", "1min" },	     { "disturb", "4" },
		{ "give-back", "2s" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		set(settings[i][0], settings[i][1]);
		assert_non_null(strstr(owner_terms_names, settings[i][0]));
	}
	assert_int_equal(terms.quiet, 15 * MIN);
	assert_true(terms.load == 0.5);
	assert_int_equal(terms.load_quiet, 10 * USEC_PER_SEC);
	assert_int_equal(terms.memory, 1 << 30);
	assert_int_equal(terms.cores, 2);
	assert_int_equal(terms.disk, 20 << 20);
	assert_int_equal(terms.net, 10 << 20);
	assert_int_equal(terms.move_net, 4 << 20);
	assert_int_equal(terms.guests, 3);
	assert_int_equal(terms.on_return, RETURN_FREEZE);
	assert_int_equal(terms.freeze_most, MIN);
	assert_int_equal(terms.disturb, 4);
	assert_int_equal(terms.give_back, 2 * USEC_PER_SEC);
	set("load", "any");
	set("guests", "any");
	assert_true(terms.load == LOAD_ANY && terms.guests == GUESTS_ANY);
}

/* As stint.conf(5) has them. */
static void defaults(void **state)
{
	(void)state;
	assert_int_equal(terms.quiet, 3 * MIN);
	assert_true(terms.load == 0.3);
	assert_int_equal(terms.load_quiet, MIN);
	assert_int_equal(terms.memory, 256 << 20);
	assert_int_equal(terms.cores, 0);
	assert_int_equal(terms.disk, 0);
	assert_int_equal(terms.guests, GUESTS_ANY);
	assert_null(terms.guests_of);
	assert_int_equal(terms.on_return, RETURN_LEAVE);
	assert_int_equal(terms.freeze_most, 10 * MIN);
	assert_int_equal(terms.disturb, 10);
	assert_int_equal(terms.give_back, 10 * USEC_PER_SEC);
}

static void nonsense(void **state)
{
	static const char *const wrong[][2] = {
		{ "quiet", "soon" },
		{ "quiet", "-1" },
		{ "load", "nan" },
		{ "load", "-0.1" },
		{ "load", "" },
		{ "load-quiet", "" },
		{ "memory", "much" },
		{ "cores", "-1" },
		{ "disk", "1k" },
		{ "net", "1k" },
		{ "move-net", "much" },
		{ "disk", "fast" },
		{ "guests", "x" },
		{ "guests-of", " , " },
		{ "on-return", "go" },
		{ "freeze", "x" },
		{ "disturb", "1.5" },
		{ "give-back", "2y" },
		{ "hours", "" },
		{ "hours", "mon-" },
		{ "hours", "noday" },
		{ "hours", "mon 8" },
		{ "hours", "mon 8-8" },
		{ "hours", "mon 24-8" },
		{ "hours", "mon 8:07-9" },
		{ "hours", "mon 8-25" },
		{ "hours", "mon 8-9," },
		{ "hours", "mon 8-9 sat" },
		{ "hours", "mon 24:15-9" },
		{ "hours", "mon 8-9x" },
		{ "hours", "mon 008-9" },
	};
	struct owner_terms before = terms;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		err.text[0] = '\0';
		if (owner_terms_set(&terms, wrong[i][0], wrong[i][1], &err) >=
		    0)
			fail_msg("%s = %s was taken", wrong[i][0], wrong[i][1]);
		assert_true(*err.text);
		assert_memory_equal(&terms, &before, sizeof(before));
	}
	assert_int_equal(owner_terms_set(&terms, "nothing", "1", &err),
			 -ENOENT);
}

static void hours_of_the_week(void **state)
{
	(void)state;
	assert_true(open_at(3, 12, 0)); /* by default */
	set("hours", "mon-fri 19:00-7:15, sat , Sun 8-12:30");
	assert_true(open_at(0, 19, 0) && open_at(0, 23, 59));
	assert_false(open_at(0, 18, 59) || open_at(0, 7, 0));
	assert_true(open_at(1, 0, 0) && open_at(1, 7, 14));
	assert_false(open_at(1, 7, 15));
	assert_true(open_at(5, 0, 0) && open_at(5, 12, 0));
	assert_false(open_at(6, 7, 59) || open_at(6, 12, 30));
	assert_true(open_at(6, 8, 0) && open_at(6, 12, 29));
	set("hours", "sat-mon 22-24");
	assert_true(open_at(6, 23, 0) && open_at(0, 22, 0));
	assert_false(open_at(1, 22, 0) || open_at(6, 0, 0));
	set("hours", "never");
	assert_false(open_at(0, 0, 0) || open_at(6, 12, 0));
	set("hours", "always");
	assert_true(open_at(0, 0, 0) && open_at(6, 12, 0));
}

static void next_change_of_hours(void **state)
{
	struct moment m = at(4, 18, 7), n;

	(void)state;
	assert_int_equal(owner_terms_next_hour(&terms, &m), USEC_MAX);
	set("hours", "mon-fri 19:00-7:00");
	n = at(4, 19, 0);
	assert_int_equal(owner_terms_next_hour(&terms, &m), n.steady);
	m = n;
	n = at(5, 7, 0);
	assert_int_equal(owner_terms_next_hour(&terms, &m), n.steady);
	m = n;
	n = at(7, 19, 0);
	assert_int_equal(owner_terms_next_hour(&terms, &m), n.steady);
}

/*
 * Whatever the steady clock says, and whatever time it is: hours change at whole quarters
 * of wall, at the next one at which they are other ones, and never before.
 */
static void hours_change_with_the_wall(void **state)
{
	const usec_t quarter = 15 * MIN;
	struct random_stream r;

	(void)state;
	random_init(&r, 1, "hours", 0);
	set("hours", "mon-fri 19:00-7:15, sat, sun 8-12:30");
	for (int i = 0; i < 5000; i++) {
		struct moment now = moment_plain(
			(usec_t)random_below(&r, 14 * USEC_PER_DAY));
		bool open = owner_terms_hour(&terms, &now);
		usec_t next, wall;

		now.steady += (usec_t)random_below(&r, 2 * USEC_PER_DAY);
		next = owner_terms_next_hour(&terms, &now);
		wall = now.wall + (next - now.steady);
		assert_true(wall > now.wall);
		assert_int_equal(wall % quarter, 0);
		for (usec_t at = now.wall - now.wall % quarter; at <= wall;
		     at += quarter) {
			struct moment m = moment_plain(at);

			assert_int_equal(owner_terms_hour(&terms, &m),
					 at < wall ? open : !open);
		}
	}
}

static void whose_guests(void **state)
{
	(void)state;
	assert_true(owner_terms_admit(&terms, "eve"));
	set("guests-of", "ann, bob");
	assert_true(owner_terms_admit(&terms, "ann"));
	assert_true(owner_terms_admit(&terms, "bob"));
	assert_false(owner_terms_admit(&terms, "an"));
	assert_false(owner_terms_admit(&terms, "anna"));
	assert_false(owner_terms_admit(&terms, ""));
	set("guests-of", "anybody");
	assert_true(owner_terms_admit(&terms, "eve"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(defaults, fresh, clear),
		cmocka_unit_test_setup_teardown(all_settings, fresh, clear),
		cmocka_unit_test_setup_teardown(nonsense, fresh, clear),
		cmocka_unit_test_setup_teardown(hours_of_the_week, fresh,
						clear),
		cmocka_unit_test_setup_teardown(next_change_of_hours, fresh,
						clear),
		cmocka_unit_test_setup_teardown(hours_change_with_the_wall,
						fresh, clear),
		cmocka_unit_test_setup_teardown(whose_guests, fresh, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
