/* test_halt.c - when a process stands still for the rest of the rounds */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "move/send/precopy.h"
#include "move/send/test_bed.h"

/* ---- a deadline */

/* When the process is stopped for the deadline; 0: it is not. */
static usec_t stops_at(usec_t deadline, uint64_t held, unsigned rounds,
		       const unsigned *written, size_t n)
{
	struct bed b;
	usec_t at;

	bed_init(&b, 0, written, n);
	b.report.bytes_held = held;
	b.s.deadline = deadline;
	world.now = 1;
	world.step = 1000; /* 4 ms */
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	at = b.s.halted;
	assert_int_equal(world.round, rounds);
	assert_int_equal(throttle.begun, at ? 1 : 0);
	assert_int_equal(throttle.budget, 0);
	bed_clear(&b);
	return at;
}

#define STOPS_AT(deadline, held, rounds, ...)                               \
	stops_at(deadline, held, rounds, (const unsigned[]){ __VA_ARGS__ }, \
		 sizeof((const unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned))

static void test_deadline_far_away_changes_nothing(void **state)
{
	assert_int_equal(STOPS_AT(0, 0, 3, MUCH, MUCH, MUCH), 0);
	assert_int_equal(STOPS_AT(USEC_PER_SEC, 0, 3, MUCH, MUCH, MUCH), 0);
}

/*
 * 80 ms each: another round, and sending what is written during it, would end
 * after 240.
 */
static void test_no_round_that_would_end_too_late(void **state)
{
	assert_int_equal(STOPS_AT(241000, 0, 1, MUCH, MUCH, MUCH), 80001);
	assert_int_equal(STOPS_AT(242000, 0, 2, MUCH, MUCH, MUCH), 160001);
	assert_int_equal(STOPS_AT(242000, 0, 2, MUCH, 100, MUCH), 0);
}

static void test_deadline_that_comes_in_a_round(void **state)
{
	assert_int_equal(STOPS_AT(1, 0, 1, MUCH, MUCH), 4001);
	assert_int_equal(STOPS_AT(40000, 0, 1, MUCH, MUCH), 40001);
}

/*
 * Once 1024 pages have been sent since the first, or an eighth of the time is over, it is known
 * that the round will last 80 ms.
 */
static void test_first_round_that_will_be_too_long(void **state)
{
	const uint64_t held = MUCH * UINT64_C(4096);

	assert_int_equal(STOPS_AT(70000, held, 1, MUCH, MUCH), 12001);
	assert_int_equal(STOPS_AT(15000, held, 1, MUCH, MUCH), 8001);
	assert_int_equal(STOPS_AT(70000, 0, 1, MUCH, MUCH), 72001);
	assert_int_equal(STOPS_AT(90000, held, 1, MUCH, MUCH), 80001);
}

/* Half a second until there is a landing process is no sign of a slow link. */
static void test_a_late_first_page_is_no_slow_link(void **state)
{
	struct bed b;

	BED(&b, 0, MUCH, 0);
	b.report.bytes_held = MUCH * UINT64_C(4096);
	b.s.deadline = 3 * USEC_PER_SEC;
	world.now = 1;
	world.step = 1000; /* 4 ms */
	world.start = USEC_PER_SEC / 2;
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	assert_int_equal(b.s.halted, 0);
	bed_clear(&b);
}

/*
 * What was left is sent while the process stands still, which ends with the
 * freeze.
 */
static void test_stands_still_to_the_last_round(void **state)
{
	struct bed b;

	BED(&b, 0, MUCH, MUCH, 0, 0);
	b.s.deadline = 1000;
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	assert_int_equal(throttle.ended, 0);
	assert_int_equal(precopy_last(&b.s, &b.err), 0);
	assert_int_equal(world.round, 3);
	assert_int_equal(throttle.begun, 1);
	assert_int_equal(throttle.ended, 1);
	bed_clear(&b);
}

/* ---- an owner is there */

/* When it is stopped beside an owner, with a deadline far away, as it sends that much. */
static usec_t stops_beside(bool owner, usec_t budget, unsigned pages)
{
	struct bed b;
	usec_t at;

	BED(&b, budget, pages, 100, 0);
	world.owner = owner;
	b.report.bytes_held = pages * UINT64_C(4096);
	b.s.deadline = 60 * USEC_PER_SEC;
	world.now = 1;
	world.step = 1000; /* 4 ms */
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	at = b.s.halted;
	/* It sends what there is, and leaves the rest to the last rounds. */
	assert_int_equal(world.round, at ? 1 : 2);
	bed_clear(&b);
	return at;
}

static void test_little_is_copied_while_it_stands_still(void **state)
{
	assert_int_equal(stops_beside(true, 0, 1000), 4001);
	/* The link's rate is known as soon as 1024 pages have been sent since the first. */
	assert_int_equal(stops_beside(true, 0, 10000), 12001);
}

/* But for what takes 0.3 s. */
static void test_much_is_copied_once_while_it_runs(void **state)
{
	assert_int_equal(stops_beside(true, 0, 200 * 1000), 500001);
}

static void test_without_an_owner_it_runs_on(void **state)
{
	assert_int_equal(stops_beside(false, 0, 1000), 0);
	/* Who gave a budget has said how long it may stand still. */
	assert_int_equal(stops_beside(true, USEC_PER_SEC, 1000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deadline_far_away_changes_nothing),
		cmocka_unit_test(test_no_round_that_would_end_too_late),
		cmocka_unit_test(test_deadline_that_comes_in_a_round),
		cmocka_unit_test(test_first_round_that_will_be_too_long),
		cmocka_unit_test(test_a_late_first_page_is_no_slow_link),
		cmocka_unit_test(test_stands_still_to_the_last_round),
		cmocka_unit_test(test_little_is_copied_while_it_stands_still),
		cmocka_unit_test(test_much_is_copied_once_while_it_runs),
		cmocka_unit_test(test_without_an_owner_it_runs_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
