/* test_halt.c - when a process stands still for the rest of the rounds */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/clock.h"
#include "move/send/modest.h"
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

/* ---- a host that is short of processors */

static usec_t stops_for_share(double share, usec_t budget, usec_t deadline)
{
	struct bed b;
	usec_t at;

	BED(&b, budget, MUCH, MUCH, 0);
	b.src.share = share;
	b.s.deadline = deadline;
	world.now = 1;
	world.step = 1000;
	assert_int_equal(precopy_run(&b.s, &b.err), 0);
	at = b.s.halted;
	assert_int_equal(throttle.begun, at ? 1 : 0);
	bed_clear(&b);
	return at;
}

static void test_where_processors_are_short_it_stands_still(void **state)
{
	assert_int_equal(stops_for_share(0.1, 0, 60 * USEC_PER_SEC), 1);
	assert_int_equal(stops_for_share(0, 0, 60 * USEC_PER_SEC), 0);
	assert_int_equal(stops_for_share(0.1, 0, 0), 0);
	assert_int_equal(stops_for_share(0.1, USEC_PER_SEC, 60 * USEC_PER_SEC),
			 0);
}

static void test_an_engine_has_its_share(void **state)
{
	assert_int_equal(modest_wait(0.5, 1000, 1500), 500);
	assert_int_equal(modest_wait(0.5, 1000, 2000), 0);
	assert_int_equal(modest_wait(0.5, 1000, 9000), 0);
	/* A little at a time. */
	assert_int_equal(modest_wait(0.1, 100000, 100000), 5000);
}

static struct {
	unsigned let_go;
} keeper;

static int op_hold(void *ctx, bool on, struct error *err)
{
	assert_false(on);
	keeper.let_go++;
	return 0;
}

/* Once, and not if it is none of those that are held from before on. */
static void test_who_is_held_is_let_go_once(void **state)
{
	const struct move_source_ops ops = { .hold = op_hold };
	struct bed b;

	BED(&b, 0, MUCH, 0);
	b.src.ops = &ops;
	modest_let_go(&b.s);
	assert_int_equal(keeper.let_go, 0);
	b.src.share = 0.1;
	modest_pause(&b.s);
	modest_let_go(&b.s);
	assert_int_equal(keeper.let_go, 1);
	bed_clear(&b);
}

/* It computes for 20 ms of a time of which it may have half, and then no more as time is short. */
static usec_t waits(usec_t deadline)
{
	struct bed b;
	usec_t began, end;

	BED(&b, 0, MUCH, 0);
	b.src.share = 0.01;
	b.src.deadline = deadline;
	b.s.started = world.now = 1000;
	modest_tick(&b.s); /* it begins to count */
	began = clock_usec(CLOCK_PROCESS_CPUTIME_ID);
	while (clock_usec(CLOCK_PROCESS_CPUTIME_ID) < began + 2000)
		;
	end = clock_usec(CLOCK_MONOTONIC);
	modest_tick(&b.s);
	end = clock_usec(CLOCK_MONOTONIC) - end;
	bed_clear(&b);
	return end;
}

static void test_an_engine_waits_while_there_is_time(void **state)
{
	assert_true(waits(60 * USEC_PER_SEC) >= 5000);
	assert_true(waits(0) < 5000);
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
		cmocka_unit_test(
			test_where_processors_are_short_it_stands_still),
		cmocka_unit_test(test_an_engine_has_its_share),
		cmocka_unit_test(test_who_is_held_is_let_go_once),
		cmocka_unit_test(test_an_engine_waits_while_there_is_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
