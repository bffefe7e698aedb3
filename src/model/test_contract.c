/*
 * test_contract.c - when a host recruits, how disturbances are counted, giving
 * back, and all of it on random scripts with clocks that are set
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/play_contract.h"

static void recruited_after_the_quiet_time(void **state)
{
	(void)state;
	assert_int_equal(closed(), CLOSED_NOT);
	owner(true);
	assert_int_equal(closed(), CLOSED_OWNER);
	now += HOUR;
	owner(false);
	assert_int_equal(closed(), CLOSED_QUIET);
	assert_int_equal(next(), now + terms.quiet);
	now += terms.quiet - 1;
	assert_int_equal(closed(), CLOSED_QUIET);
	now++;
	assert_int_equal(closed(), CLOSED_NOT);
}

static void load_closes_for_those_who_come(void **state)
{
	(void)state;
	scene.load = terms.load + 0.01;
	feed();
	assert_int_equal(closed(), CLOSED_LOAD);
	assert_false(closed_for_guests(CLOSED_LOAD));
	now += HOUR;
	scene.load = terms.load;
	feed();
	assert_int_equal(closed(), CLOSED_LOAD);
	assert_int_equal(next(), now + terms.load_quiet);
	now += terms.load_quiet;
	assert_int_equal(closed(), CLOSED_NOT);
	scene.load = 0.0 / 0.0;
	feed();
	assert_int_equal(closed(), CLOSED_LOAD);
	terms.load = LOAD_ANY;
	assert_int_equal(closed(), CLOSED_NOT);
}

static void hours_close(void **state)
{
	(void)state;
	assert_int_equal(owner_terms_set(&terms, "hours", "mon 10-24", NULL),
			 0);
	assert_int_equal(closed(), CLOSED_HOURS);
	assert_true(closed_for_guests(CLOSED_HOURS));
	assert_int_equal(next(), 10 * HOUR);
	now = 10 * HOUR;
	assert_int_equal(closed(), CLOSED_NOT);
	assert_int_equal(next(), DAY);
}

static void disturbed_by_what_a_guest_left(void **state)
{
	(void)state;
	visit();
	assert_int_equal(c.disturbed, 0);
	assert_int_equal(c.returns, 1);
	guests(1);
	guests(0);
	visit(); /* the guest took memory and cache */
	assert_int_equal(c.disturbed, 1);
	visit(); /* which are the owner's again */
	assert_int_equal(c.disturbed, 1);
	guests(2);
	visit();
	assert_int_equal(c.disturbed, 2);
	assert_int_equal(c.nr_last, 4);
	assert_int_equal(c.last[3].guests, 2);
	assert_true(c.last[3].disturbed && !c.last[2].disturbed);
	assert_int_equal(c.last[3].took, 0);
}

static void closed_for_the_day(void **state)
{
	(void)state;
	terms.disturb = 2;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(closed(), CLOSED_NOT);
		assert_int_equal(contract_left(&c, &terms), 2 - i);
		guests(1);
		visit();
	}
	assert_int_equal(closed(), CLOSED_DISTURBED);
	assert_int_equal(contract_left(&c, &terms), 0);
	now = DAY - 1;
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	assert_int_equal(next(), DAY);
	now = DAY;
	feed();
	assert_int_equal(closed(), CLOSED_NOT);
	assert_int_equal(c.ends, 2 * DAY);
}

static void slow_giving_back_closes(void **state)
{
	(void)state;
	guests(1);
	owner(true);
	assert_int_equal(next(), now + terms.give_back + 1);
	now += terms.give_back;
	feed();
	assert_int_equal(contract_left(&c, &terms), terms.disturb - 1);
	now++;
	feed();
	assert_int_equal(contract_left(&c, &terms), 0);
	now += SEC;
	guests(0);
	assert_int_equal(c.last[0].took, terms.give_back + 1 + SEC);
	owner(false);
	now += HOUR;
	assert_int_equal(closed(), CLOSED_SLOW);
	now = DAY;
	feed();
	assert_int_equal(closed(), CLOSED_NOT);
}

/*
 * There is no other host: the guest stands still, later runs while it leaves,
 * and is gone.
 */
static void who_stands_still_is_not_in_the_way(void **state)
{
	(void)state;
	guests(1);
	owner(true);
	now += 2 * SEC;
	scene.running = 0;
	feed();
	assert_int_equal(c.last[0].took, 2 * SEC);
	now += HOUR;
	feed();
	assert_int_equal(c.closed, CLOSED_NOT);
	scene.running = 1;
	feed();
	assert_int_equal(c.last[0].took, -1);
	assert_int_equal(next(), now + terms.give_back - 2 * SEC + 1);
	now += SEC;
	guests(0);
	assert_int_equal(c.last[0].took, 3 * SEC);
	guests(1); /* begun at the last moment */
	now += terms.give_back;
	feed();
	assert_int_equal(c.closed, CLOSED_SLOW);
}

static struct lending lending(bool evict)
{
	struct moment m = moment();

	return contract_lending(&c, &terms, &m, evict);
}

static void what_guests_are_to_do(void **state)
{
	struct lending l = lending(false);

	(void)state;
	terms.quiet = 0;
	assert_true(!l.leave && l.closed == CLOSED_NOT);
	guests(1);
	owner(true);
	l = lending(false);
	assert_true(l.leave && l.closed == CLOSED_OWNER && !l.freeze_until);
	assert_int_equal(l.leave_by, now + terms.give_back);
	terms.on_return = RETURN_FREEZE;
	assert_int_equal(next(), now + terms.give_back + 1);
	assert_int_equal(lending(false).freeze_until, now + terms.freeze_most);
	assert_int_equal(lending(true).freeze_until, 0);
	scene.running = 0;
	feed();
	assert_int_equal(next(), now + terms.freeze_most);
	now += terms.freeze_most;
	l = lending(false);
	assert_true(l.leave && !l.freeze_until);
	terms.on_return = RETURN_SHARE;
	assert_false(lending(false).leave);
	assert_true(lending(true).leave);
	terms.disturb = 1; /* no more guests today */
	assert_true(lending(false).leave);
	owner(false);
	l = lending(false);
	assert_true(l.leave && l.closed == CLOSED_DISTURBED && !l.leave_by);
}

/* It is told late that guest and owner have left: leaving took too long. */
static void slow_without_a_tick(void **state)
{
	(void)state;
	guests(1);
	owner(true);
	now += 2 * terms.give_back;
	scene.here = false;
	guests(0);
	now += HOUR;
	assert_int_equal(closed(), CLOSED_SLOW);
}

static void shared_and_frozen(void **state)
{
	(void)state;
	terms.on_return = RETURN_SHARE;
	guests(1);
	owner(true);
	assert_int_equal(c.last[0].took, 0);
	now += HOUR;
	owner(false);
	assert_int_equal(c.closed, CLOSED_NOT);
	terms.on_return = RETURN_FREEZE;
	owner(true);
	assert_int_equal(c.disturbed, 2); /* the guest was there all the time */
	now += SEC;
	scene.running = 0;
	feed();
	assert_int_equal(c.last[1].took, SEC);
	now += HOUR;
	feed();
	assert_int_equal(c.closed, CLOSED_NOT);
}

/* A day that has begun ends as it would have, whatever the clock says. */
static void a_clock_that_is_set(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(1);
	visit();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	step = 17 * HOUR; /* past midnight */
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	step = -30 * DAY;
	feed();
	assert_int_equal(closed(), CLOSED_DISTURBED);
	step = 15 * HOUR;
	now = DAY;
	feed();
	assert_int_equal(closed(), CLOSED_NOT);
	/* It is 15 h there: a day to the midnight in 9 h is too short. */
	assert_int_equal(c.ends, DAY + 33 * HOUR);
}

static void days_asleep(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(1);
	visit();
	now = 5 * DAY + 7 * HOUR;
	scene.touched = 0;
	feed();
	assert_int_equal(closed(), CLOSED_NOT);
	assert_int_equal(c.ends, 6 * DAY);
}

/*
 * Days of 23 and 25 hours are days; a midnight that is further off is not
 * believed.
 */
static void days_end_at_midnight(void **state)
{
	static const struct {
		usec_t midnight, day;
	} days[] = {
		{ 25 * HOUR, 25 * HOUR },
		{ 23 * HOUR, 23 * HOUR },
		{ HOUR, HOUR },
		{ 27 * HOUR, DAY },
		{ 0, DAY },
		{ -HOUR, DAY },
	};
	struct moment m;

	(void)state;
	for (size_t i = 0; i < sizeof(days) / sizeof(*days); i++) {
		m = moment();
		m.midnight = m.wall + days[i].midnight;
		contract_begin(&c, &m);
		assert_int_equal(c.ends, now + days[i].day);
	}
}

/*
 * A guest that stays beside its owner is counted once, with the return that
 * found it there.
 */
static void a_guest_that_lingers_counts_once(void **state)
{
	(void)state;
	guests(1);
	owner(true);
	feed();
	guests(0);
	now += MIN;
	owner(false);
	now += MIN;
	owner(true);
	assert_int_equal(c.returns, 2);
	assert_int_equal(c.disturbed, 1);
}

static void the_last_returns_are_kept(void **state)
{
	usec_t first = now;

	(void)state;
	for (int i = 0; i < CONTRACT_RETURNS + 3; i++)
		visit(); /* a minute, and until it is quiet */
	assert_int_equal(c.nr_last, CONTRACT_RETURNS);
	for (uint32_t i = 0; i < c.nr_last; i++)
		assert_int_equal(c.last[i].wall,
				 first + (i + 3) * (MIN + terms.quiet));
}

static void who_stands_still_disturbs_once(void **state)
{
	(void)state;
	guests(1);
	owner(true);
	scene.running = 0;
	feed();
	for (int i = 0; i < 3; i++) {
		now += MIN;
		owner(false);
		now += HOUR;
		owner(true);
	}
	assert_int_equal(c.returns, 4);
	assert_int_equal(c.disturbed, 1);
	owner(false);
	scene.running = 1; /* the host is open again */
	feed();
	scene.running = 0;
	feed();
	owner(true);
	assert_int_equal(c.disturbed, 2);
	owner(false);
	guests(0); /* it ran to leave, and has left */
	owner(true);
	assert_int_equal(c.disturbed, 3);
}

/*
 * No guest is left: those that leave may take as long as giving back allows,
 * and a new one counts.
 */
static void the_way_out_is_no_disturbance(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(1);
	owner(true);
	owner(false); /* it is on its way */
	assert_int_equal(lending(false).leave_by,
			 now + terms.give_back * 3 / 4);
	now += terms.give_back;
	owner(true);
	assert_int_equal(c.disturbed, 1);
	owner(false);
	now += terms.give_back / 2;
	guests(1); /* it stays as it was told */
	assert_int_equal(lending(false).leave_by, now + terms.give_back / 4);
	guests(0);
	assert_int_equal(lending(false).leave_by, 0); /* nobody leaves */
	now += HOUR;
	owner(true);
	assert_int_equal(c.disturbed, 1);
	guests(1);
	owner(false);
	now += terms.give_back + 1;
	guests(0);
	owner(true);
	assert_int_equal(c.disturbed, 2); /* leaving took too long */
	owner(false);
	guests(1);
	guests(0);
	owner(true);
	assert_int_equal(c.disturbed, 3); /* and this, one that came */
}

/*
 * Of three that run, one is still there when the host's time to give back is
 * over.
 */
static void the_time_to_leave_is_the_hosts(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(3);
	owner(true);
	owner(false);
	for (uint32_t left = 2; left > 0; left--) {
		now += terms.give_back / 2;
		guests(left);
		assert_false(c.used);
	}
	now++;
	feed();
	assert_true(c.used);
}

/*
 * Two of four guests stand still: they are released, and run to leave, when the
 * others have gone.
 */
static void who_stood_still_leaves_later(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(4);
	owner(true);
	scene.running = 2;
	owner(false);
	for (uint32_t left = 3; left > 0; left--) {
		now += terms.give_back / 2;
		scene.guests = left;
		scene.running = left < 2 ? left : 2;
		feed();
		assert_false(c.used);
	}
	now += terms.give_back / 2;
	feed();
	assert_false(c.used);
	now++;
	feed();
	assert_true(c.used);
}

/* Of two guests that run one stops; the other gets no more time by that. */
static void one_that_stops_gives_no_time(void **state)
{
	(void)state;
	terms.disturb = 1;
	guests(2);
	owner(true);
	owner(false);
	now += terms.give_back;
	scene.running = 1;
	feed();
	assert_int_equal(c.leavers, 1);
	assert_false(c.used);
	now++;
	guests(0);
	assert_true(c.used);
}

/* The owner was seen by a clock that was ahead of ours. */
static void touched_later_than_now(void **state)
{
	(void)state;
	scene.touched = now + HOUR;
	feed();
	assert_int_equal(closed(), CLOSED_QUIET);
	now += terms.quiet;
	assert_int_equal(closed(), CLOSED_NOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(recruited_after_the_quiet_time, fresh),
		cmocka_unit_test_setup(load_closes_for_those_who_come, fresh),
		cmocka_unit_test_setup(hours_close, fresh),
		cmocka_unit_test_setup(disturbed_by_what_a_guest_left, fresh),
		cmocka_unit_test_setup(closed_for_the_day, fresh),
		cmocka_unit_test_setup(slow_giving_back_closes, fresh),
		cmocka_unit_test_setup(who_stands_still_is_not_in_the_way,
				       fresh),
		cmocka_unit_test_setup(what_guests_are_to_do, fresh),
		cmocka_unit_test_setup(slow_without_a_tick, fresh),
		cmocka_unit_test_setup(shared_and_frozen, fresh),
		cmocka_unit_test_setup(a_clock_that_is_set, fresh),
		cmocka_unit_test_setup(days_asleep, fresh),
		cmocka_unit_test_setup(days_end_at_midnight, fresh),
		cmocka_unit_test_setup(a_guest_that_lingers_counts_once, fresh),
		cmocka_unit_test_setup(the_last_returns_are_kept, fresh),
		cmocka_unit_test_setup(who_stands_still_disturbs_once, fresh),
		cmocka_unit_test_setup(the_way_out_is_no_disturbance, fresh),
		cmocka_unit_test_setup(the_time_to_leave_is_the_hosts, fresh),
		cmocka_unit_test_setup(who_stood_still_leaves_later, fresh),
		cmocka_unit_test_setup(one_that_stops_gives_no_time, fresh),
		cmocka_unit_test_setup(touched_later_than_now, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
