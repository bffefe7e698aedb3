/*
 * test_precopy.c - tests of the rounds: nobody is ahead of others while much is
 * sent, and descriptors are looked at in the last round
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "move/send/ahead.h"
#include "move/send/precopy.h"
#include "move/send/test_rounds.h"

#define MUCH   20000 /* pages: 80 ms */
#define LITTLE 1000  /* 4 ms */

/*
 * Both parts before the freeze, the second once more after the freeze was put
 * off.
 */
static void run(unsigned again, const unsigned *written, const bool *ahead,
		unsigned rounds)
{
	struct move_report report = { .tracked = true };
	struct move_source src = { 0 };
	struct tracee tracee = { 0 };
	struct error err = ERROR_INIT;
	struct sending s = { .src = &src,
			     .ch = channel_from_fd(-1), /* no rate */
			     .report = &report,
			     .process = { .tracee = &tracee },
			     .precopy = precopy_create() };

	world = (struct world){ .threads = 1 };
	memcpy(world.written, written, rounds * sizeof(*written));
	assert_int_equal(precopy_last(&s, &err), 0);
	while (again--)
		assert_int_equal(precopy_again(&s, &err), 0);
	assert_int_equal(world.round, rounds);
	for (unsigned i = 0; i < rounds; i++)
		assert_int_equal(world.ahead[i], ahead[i]);
	precopy_destroy(s.precopy);
	channel_close(s.ch);
}

#define RUN(again, written, ahead)                                 \
	run(again, (const unsigned[])written, (const bool[])ahead, \
	    sizeof((const unsigned[])written) / sizeof(unsigned))
#define L(...)              \
	{                   \
		__VA_ARGS__ \
	}

static void test_little_is_sent_ahead(void **state)
{
	RUN(0, L(LITTLE, 10), L(false, true));
}

static void test_much_is_sent_by_turns(void **state)
{
	RUN(0, L(MUCH, MUCH), L(false, false));
}

static void test_what_was_much_is_ahead_once_it_is_little(void **state)
{
	RUN(0, L(MUCH, LITTLE, 10), L(false, false, true));
}

static void test_what_becomes_much_is_sent_by_turns(void **state)
{
	RUN(1, L(LITTLE, MUCH, MUCH, MUCH), L(false, true, false, false));
}

static void test_who_waits_for_another_freeze_is_not_ahead(void **state)
{
	RUN(1, L(LITTLE, 10, LITTLE, 10), L(false, true, false, true));
}

/*
 * A look at many descriptors takes long: so there is none in a round that
 * another one follows at once, but there is one in each round which the freeze
 * may follow.
 */
static void test_descriptors_are_looked_at_right_before_the_freeze(void **state)
{
	RUN(1, L(LITTLE, 500, 10, LITTLE, 10),
	    L(false, true, true, false, true));
	assert_false(world.looked[0]);
	assert_true(world.looked[1] && world.looked[2]);
	assert_false(world.looked[3]);
	assert_true(world.looked[4]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_little_is_sent_ahead),
		cmocka_unit_test(test_much_is_sent_by_turns),
		cmocka_unit_test(test_what_was_much_is_ahead_once_it_is_little),
		cmocka_unit_test(test_what_becomes_much_is_sent_by_turns),
		cmocka_unit_test(
			test_who_waits_for_another_freeze_is_not_ahead),
		cmocka_unit_test(
			test_descriptors_are_looked_at_right_before_the_freeze),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
