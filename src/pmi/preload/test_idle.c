/* test_idle.c - when an idle MPI spins, offers its core, and blocks */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>

#include "pmi/preload/fake_time.h"
#include "pmi/preload/idle.h"

static void a_ping_pong_reads_no_clock(void **state)
{
	forget_sharing();
	for (int i = 0; i < 1000; i++) {
		calls(63);
		call(true);
	}
	assert_int_equal(t.clock_reads, 0);
	assert_int_equal(t.waits, 0);
}

static void spins_for_its_time_and_blocks(void **state)
{
	int64_t before;
	int n = 0;

	forget_sharing();
	before = t.now;
	while (!t.waits && n++ < 10000)
		call(false);
	assert_int_equal(t.waits, 1);
	assert_true(t.now - t.last_wait - before >= IDLE_SPIN);
	assert_true(t.now - t.last_wait - before <= 2 * IDLE_SPIN);
	assert_int_equal(t.last_wait, IDLE_WAIT_FIRST);
	assert_int_equal(t.nr_fds, 1);
	assert_int_equal(t.fds[0].fd, 7);
	assert_int_equal(t.fds[0].events, POLLIN);
}

static void waits_grow_to_their_bound(void **state)
{
	forget_sharing();
	while (t.waits < 20)
		call(false);
	assert_int_equal(t.last_wait, IDLE_WAIT_MAX);
	/* ... and each call is a wait by now. */
	calls(5);
	assert_int_equal(t.waits, 25);
	call(true);
	t.waits = 0;
	while (!t.waits)
		call(false);
	assert_int_equal(t.last_wait, IDLE_WAIT_FIRST);
}

/* Each time that the bound ends it a rank runs for nothing, where others want the core. */
static void waits_that_end_by_events_are_long_at_once(void **state)
{
	int64_t wait = 0, last;

	forget_sharing();
	for (int i = 0; i < 10; i++) {
		last = wait;
		wait = wait_of_a_row(1);
		call(true);
		assert_true(wait == IDLE_WAIT_MAX ||
			    wait == (i ? 2 * last : IDLE_WAIT_FIRST));
	}
	assert_int_equal(wait, IDLE_WAIT_MAX);
	/* A bound that ends a wait for nothing says nothing, nor does who asks then ... */
	assert_int_equal(wait_of_a_row(0), IDLE_WAIT_MAX);
	idle_test_begin();
	call(false);
	idle_test_end();
	assert_int_equal(wait_of_a_row(1), IDLE_WAIT_MAX);
	call(true);
	/* ... but if something has happened that no event told of ... */
	assert_int_equal(wait_of_a_row(0), IDLE_WAIT_MAX);
	call(true);
	assert_int_equal(wait_of_a_row(0), IDLE_WAIT_FIRST);
	call(true);
	assert_int_equal(wait_of_a_row(1), IDLE_WAIT_FIRST);
}

static void an_event_makes_it_spin_again(void **state)
{
	forget_sharing();
	t.ready = 1;
	while (!t.waits)
		call(false);
	t.waits = 0;
	calls(63);
	assert_int_equal(t.waits, 0);
}

static void a_shared_core_is_given_away(void **state)
{
	int n;

	forget_sharing();
	t.yield = 2000000;
	calls(65);
	assert_int_equal(t.yields, 1);
	assert_int_equal(t.waits, 2); /* at once, and in the next call */
	/* From now on no spinning, until some time has passed. */
	t.yield = 200;
	for (n = 0; n < 5; n++) {
		call(true);
		t.waits = 0;
		calls(2);
		assert_int_equal(t.waits, 1);
	}
	forget_sharing();
	calls(63);
	assert_int_equal(t.waits, 0);
	assert_int_equal(t.clock_reads, 0);
}

/*
 * The time from an offer that was taken to the first offer after it. That one
 * comes with the second idle call as soon as the core may be the rank's own
 * again.
 */
static int64_t time_without_offers(void)
{
	int64_t since = t.now;

	t.yields = 0;
	for (int i = 0; i < 100000 && !t.yields; i++) {
		t.now += 1000;
		call(true);
		since = t.yields ? since : t.now;
		calls(2);
	}
	return since;
}

static void who_takes_the_core_again_keeps_it_longer(void **state)
{
	int64_t last = 0, length, before;

	forget_sharing();
	t.yield = 50000;
	calls(65);
	for (int i = 0; i < 8; i++) {
		before = t.now;
		length = time_without_offers() - before;
		assert_true(length >= last && length <= IDLE_SHARED_MAX);
		assert_true(i || length < 2 * IDLE_SHARED_FIRST);
		last = length;
	}
	assert_true(last > IDLE_SHARED_MAX / 2);
	/*
	 * After a few first offers that are not taken the core counts as shared
	 * for a moment only.
	 */
	t.yield = 200;
	for (int i = 0; i < 8; i++)
		time_without_offers();
	t.yield = 50000;
	call(true);
	calls(65);
	before = t.now;
	assert_true(time_without_offers() - before < 2 * IDLE_SHARED_FIRST);
}

/*
 * Several ranks on one core: of a rank's waits some end on a core that nobody wants, since all
 * wait for the last one.  That does not make the core the rank's own.
 */
static void a_core_that_is_free_at_times_is_shared(void **state)
{
	forget_sharing();
	t.yield = 50000;
	calls(65);
	for (int i = 0; i < 100; i++) {
		t.now += IDLE_SHARED_MAX + 1;
		t.yield = i % 3 ? 200 : 50000;
		call(true);
		t.yields = 0;
		calls(2);
		assert_int_equal(t.yields, 1);
		/* Offered again and again while it spins. */
		calls(i % 3 ? 32 : 0);
		assert_int_equal(t.yields, i % 3 ? 5 : 1);
	}
}

static void calls_that_ask_do_not_block(void **state)
{
	forget_sharing();
	for (int i = 0; i < 1000; i++) {
		idle_test_begin();
		call(false);
		idle_test_end();
		/* What follows in a wait begins anew. */
		calls(63);
	}
	assert_int_equal(t.waits, 0);
}

static void blocks_only_where_it_may(void **state)
{
	forget_sharing();
	idle_allow(IDLE_SPIN_ONLY);
	calls(1000);
	assert_int_equal(t.waits, 0);
	idle_allow(IDLE_BLOCK);
	calls(1000);
	assert_true(t.waits > 0);
}

/* The next rank on this core may be the one that is waited for. */
static void without_blocking_the_core_is_offered(void **state)
{
	forget_sharing();
	idle_allow(IDLE_OFFER);
	calls(63);
	assert_int_equal(t.yields, 0);
	calls(1000);
	assert_true(t.yields > 100);
	assert_int_equal(t.waits, 0);
	assert_int_equal(t.clock_reads, 0);
}

static void looks_that_found_something_are_not_idle(void **state)
{
	forget_sharing();
	for (int i = 0; i < 1000; i++) {
		idle_enter();
		idle_looked(7, POLLIN, true);
		idle_looked(8, POLLIN, false);
		idle_leave(false);
	}
	assert_int_equal(t.waits, 0);
}

/* Nothing would wake the rank up. */
static void without_a_descriptor_it_spins(void **state)
{
	forget_sharing();
	for (int i = 0; i < 1000; i++) {
		idle_enter();
		idle_leave(false);
	}
	assert_int_equal(t.waits, 0);
}

/* Open MPI looks at its descriptors in every eighth call. */
static void calls_without_a_look_are_passed_over(void **state)
{
	forget_sharing();
	for (int i = 0; i < 1000; i++) {
		idle_enter();
		idle_leave(false);
		call(false);
	}
	assert_true(t.waits > 0);
}

/* A call from within a call is not counted. */
static void nested_calls_count_once(void **state)
{
	forget_sharing();
	for (int i = 0; i < 63; i++) {
		idle_enter();
		idle_enter();
		idle_looked(7, POLLIN, false);
		idle_leave(false);
		idle_leave(false);
	}
	assert_int_equal(t.clock_reads, 0);
	call(false);
	call(false);
	assert_true(t.clock_reads > 0);
}

static void all_that_was_looked_at_is_waited_for(void **state)
{
	forget_sharing();
	while (!t.waits) {
		idle_enter();
		idle_enter();
		idle_looked(3, POLLIN, false);
		idle_leave(false);
		idle_looked(4, POLLOUT, false);
		idle_leave(false);
	}
	assert_int_equal(t.nr_fds, 2);
	assert_int_equal(t.fds[0].fd, 3);
	assert_int_equal(t.fds[1].fd, 4);
	assert_int_equal(t.fds[1].events, POLLOUT);
}

/* The rank would not hear a descriptor that it does not wait for. */
static void too_many_to_wait_for(void **state)
{
	forget_sharing();
	for (int i = 0; i < 1000; i++) {
		idle_enter();
		for (int fd = 0; fd < 65; fd++)
			idle_looked(fd, POLLIN, false);
		idle_leave(false);
	}
	assert_int_equal(t.waits, 0);
}

static void errno_is_kept(void **state)
{
	forget_sharing();
	while (!t.waits) {
		errno = 0;
		call(false);
	}
	assert_int_equal(errno, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_ping_pong_reads_no_clock, set_up),
		cmocka_unit_test_setup(spins_for_its_time_and_blocks, set_up),
		cmocka_unit_test_setup(waits_grow_to_their_bound, set_up),
		cmocka_unit_test_setup(
			waits_that_end_by_events_are_long_at_once, set_up),
		cmocka_unit_test_setup(an_event_makes_it_spin_again, set_up),
		cmocka_unit_test_setup(a_shared_core_is_given_away, set_up),
		cmocka_unit_test_setup(who_takes_the_core_again_keeps_it_longer,
				       set_up),
		cmocka_unit_test_setup(a_core_that_is_free_at_times_is_shared,
				       set_up),
		cmocka_unit_test_setup(calls_that_ask_do_not_block, set_up),
		cmocka_unit_test_setup(blocks_only_where_it_may, set_up),
		cmocka_unit_test_setup(without_blocking_the_core_is_offered,
				       set_up),
		cmocka_unit_test_setup(looks_that_found_something_are_not_idle,
				       set_up),
		cmocka_unit_test_setup(without_a_descriptor_it_spins, set_up),
		cmocka_unit_test_setup(calls_without_a_look_are_passed_over,
				       set_up),
		cmocka_unit_test_setup(nested_calls_count_once, set_up),
		cmocka_unit_test_setup(all_that_was_looked_at_is_waited_for,
				       set_up),
		cmocka_unit_test_setup(too_many_to_wait_for, set_up),
		cmocka_unit_test_setup(errno_is_kept, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
