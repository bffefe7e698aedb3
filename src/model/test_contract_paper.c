/*
 * test_contract_paper.c - a contract is written down and read again: agents and
 * hosts are restarted, clocks are set, the file is damaged
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/play_contract.h"

/*
 * The file is of a version that did not count guests that leave: all that ran
 * count as leaving.
 */
static void an_older_paper_of_who_leaves(void **state)
{
	(void)state;
	paper = strdup("stint-contract 1 a\nat 5 0\nday 0 1 1 open\n"
		       "now 0 0 3 2 -1 0\nleaving 4\nend\n");
	now = 9;
	assert_int_equal(from_paper("a"), 0);
	assert_int_equal(c.leaving, 1);
	assert_int_equal(c.leavers, 2);
}

static void an_agent_is_started_again(void **state)
{
	struct contract before;

	(void)state;
	guests(1);
	visit();
	guests(2);
	owner(true);
	now += SEC;
	feed();
	before = c;
	on_paper("a");
	now += 3 * SEC;
	step = 9 * DAY;
	assert_int_equal(from_paper("a"), 0);
	before.scene.touched = c.scene.touched;
	before.scene.load = c.scene.load;
	before.calm_since = c.calm_since;
	before.fed = c.fed;
	assert_memory_equal(&c, &before, sizeof(c));
	guests(0);
	assert_int_equal(c.last[1].took, 4 * SEC);
}

static void a_boot_keeps_the_count(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(1);
	visit();
	guests(1); /* the boot ends their visit */
	on_paper("a");
	step = now + HOUR; /* an hour later, steady from 0 on */
	now = 0;
	assert_int_equal(from_paper("b"), 0);
	scene = (struct scene){ .here = false, .touched = -DAY };
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	assert_int_equal(c.ends, DAY - step);
	owner(true);
	assert_int_equal(c.disturbed, 1); /* nothing of a guest is left */
	owner(false);
	now = DAY - step;
	feed();
	assert_int_equal(c.disturbed, 0);
}

static void a_boot_without_a_clock(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(1);
	visit();
	now = 20 * HOUR;
	feed();
	on_paper("a");
	now = MIN;
	step = -300 * DAY;
	assert_int_equal(from_paper("b"), 0);
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	on_paper("b"); /* and again */
	now = 2 * MIN;
	assert_int_equal(from_paper("c"), 0);
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	assert_true(c.ends > now + 3 * HOUR && c.ends <= now + 4 * HOUR);
	step = 22 * HOUR - now; /* set right: two hours have gone by */
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	assert_int_equal(c.ends, now + 2 * HOUR);
	step += 2 * DAY; /* only once */
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
}

/*
 * A disturbance that is not settled yet is read back as it was, also with
 * today's times.
 */
static void unsettled_on_paper(void **state)
{
	usec_t written = 20000 * DAY + 8 * HOUR;

	(void)state;
	step = 20000 * DAY;
	guests(1);
	on_paper("a");
	now = MIN;
	step = 0;
	assert_int_equal(from_paper("b"), 0);
	assert_true(c.unsettled && c.written == written);
	assert_int_equal(c.left, 16 * HOUR);
	terms.disturb = 1;
	guests(1);
	owner(true);
	owner(false); /* it is on its way */
	on_paper("b");
	assert_int_equal(from_paper("b"), 0);
	assert_true(c.unsettled && c.written == written);
	assert_int_equal(c.left, 16 * HOUR);
	assert_int_equal(c.leaving, now);
	assert_int_equal(c.leavers, 1);
}

/*
 * Within one boot no clock goes back: a file from the future is not believed.
 */
static void paper_of_a_later_instant(void **state)
{
	(void)state;
	guests(1);
	owner(true);
	on_paper("a");
	now -= HOUR;
	assert_int_equal(from_paper("a"), 0);
	assert_int_equal(c.giving, -1);
	assert_int_equal(c.scene.guests, 0);
	assert_false(c.scene.here);
	assert_int_equal(c.ends, now + 16 * HOUR);
}

/* A clock that is set right late, or set wrongly, grants nothing. */
static void a_clock_comes_late(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(1);
	visit();
	now = 20 * HOUR;
	feed();
	on_paper("a");
	now = 0;
	step = -300 * DAY;
	assert_int_equal(from_paper("b"), 0);
	scene.guests = scene.running = 0;
	now = 3 * HOUR;
	feed();
	on_paper("b");
	step = 21 * HOUR - now; /* not even as much as the time it has run */
	feed();
	assert_int_equal(c.ends, 4 * HOUR);
	step = -300 * DAY;
	assert_int_equal(from_paper("b"), 0);
	now = 4 * HOUR; /* the day ends without the clock */
	guests(1);
	visit();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	step = 25 * HOUR - now;
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
}

static void steady_goes_back(void **state)
{
	(void)state;
	guests(1);
	owner(true);
	now += SEC;
	feed();
	now -= HOUR;
	guests(0);
	assert_int_equal(c.last[0].took, SEC);
}

/*
 * A guest that leaves has a fixed time for that, however often the agent is
 * restarted.
 */
static void an_agent_started_again_grants_no_time(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(1);
	owner(true);
	owner(false); /* it is on its way */
	now += terms.give_back / 2;
	on_paper("a");
	now += terms.give_back / 4;
	assert_int_equal(from_paper("a"), 0);
	feed();
	on_paper("a");
	now += terms.give_back / 2;
	assert_int_equal(from_paper("a"), 0);
	guests(0);
	owner(true);
	assert_int_equal(c.disturbed, 2);
	/* After a boot no guest is leaving. */
	owner(false);
	guests(1);
	on_paper("a");
	assert_int_equal(from_paper("b"), 0);
	assert_int_equal(c.leaving, -1);
}

/* So many guests run from now on: does the file have to be written again? */
static bool is_written_anew(uint32_t running)
{
	struct contract before = c;

	scene.running = running;
	feed();
	return contract_differs(&before, &c);
}

/*
 * It is also written when one guest begins to leave, or stops, and their number
 * is the same.
 */
static void that_somebody_leaves_is_written(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(1);
	owner(true);
	is_written_anew(0);
	owner(false);
	assert_int_equal(c.leaving, -1);
	assert_true(is_written_anew(1));
	now += SEC;
	assert_false(is_written_anew(1)); /* it still runs */
	assert_true(is_written_anew(0));
	/*
	 * A guest that began to leave long ago and stands still disturbs
	 * nobody.
	 */
	on_paper("a");
	now += 2 * terms.give_back;
	assert_int_equal(from_paper("a"), 0);
	assert_false(is_written_anew(0));
	owner(true);
	assert_int_equal(c.disturbed, 1);
}

/*
 * Guests that come and go by the thousand are no reason to write the file each
 * time.
 */
static void the_next_guest_is_no_news(void **state)
{
	struct contract before;

	(void)state;
	before = c;
	guests(1);
	assert_true(contract_differs(&before, &c)); /* it is used now */
	before = c;
	guests(0);
	assert_false(contract_differs(&before, &c));
	on_paper("a");
	owner(true);
	assert_int_equal(c.disturbed, 1);
	/* The file that was written before the guest left says so as well. */
	assert_int_equal(from_paper("a"), 0);
	feed();
	assert_int_equal(c.disturbed, 1);
	before = c;
	owner(false);
	assert_true(contract_differs(&before, &c));
}

static void bad_paper(void **state)
{
	static const char *const wrong[] = {
		"",
		"end\n",
		"stint-contract 2 a\n",
		"stint-contract 1 a\nat 0 0\n",
		"stint-contract 1 a\nat 0 0\nday 0 0 0 open\nend\n",
		"stint-contract 1 a\nat 0 0\nday 0 0 0 open\nnow 0 0 0 0 -1 0\n",
		"stint-contract 1 a\nat 0 0\nday 0 0 0 quiet\nnow 0 0 0 0 -1 0\n"
		"end\n",
		"stint-contract 1 a\nat 0 0\nday 0 0 0 open\nnow 0 0 0 0 -1 0\n"
		"end\nend\n",
		"stint-contract 1 a\nat -9223372036854775808 0\n"
		"day 0 0 0 open\nnow 0 0 0 0 -1 0\nend\n",
		"stint-contract 1 a\nat 0 0\nday 999999999999 0 0 open\n"
		"now 0 0 0 0 -1 0\nend\n",
		"stint-contract 1 a\nat 0 0\nday 0 0 0 open\nnow 0 0 0 0 9 0\n"
		"end\n",
		"stint-contract 1 a\nat 0 0\nday 0 0 0 open\nnow 0 0 0 0 -1 0\n"
		"leaving -2\nend\n",
		"stint-contract 1 a\nat 5 0\nday 0 0 0 open\nnow 0 0 0 0 -1 0\n"
		"leaving 6\nend\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		paper = strdup(wrong[i]);
		if (from_paper("a") != -EINVAL)
			fail_msg("taken: %s", wrong[i]);
		feed();
		assert_int_equal(closed(), CLOSED_LOST);
	}
	now = DAY;
	feed();
	assert_int_equal(closed(), CLOSED_NOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_agent_is_started_again, fresh),
		cmocka_unit_test_setup(an_older_paper_of_who_leaves, fresh),
		cmocka_unit_test_setup(a_boot_keeps_the_count, fresh),
		cmocka_unit_test_setup(a_boot_without_a_clock, fresh),
		cmocka_unit_test_setup(unsettled_on_paper, fresh),
		cmocka_unit_test_setup(paper_of_a_later_instant, fresh),
		cmocka_unit_test_setup(a_clock_comes_late, fresh),
		cmocka_unit_test_setup(steady_goes_back, fresh),
		cmocka_unit_test_setup(an_agent_started_again_grants_no_time,
				       fresh),
		cmocka_unit_test_setup(that_somebody_leaves_is_written, fresh),
		cmocka_unit_test_setup(the_next_guest_is_no_news, fresh),
		cmocka_unit_test_setup(bad_paper, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
