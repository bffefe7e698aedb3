/* test_look.c - when a look of an idle MPI waits itself */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <time.h>

#include "pmi/preload/fake_time.h"
#include "pmi/preload/idle.h"

/* The core is known to be shared, and an idle row has begun with a look at fd 7 alone. */
static void begin_a_row_on_a_shared_core(void)
{
	forget_sharing();
	t.yield = 50000;
	calls(65);
	call(true);
	t.waits = 0;
	call(false);
}

/* A call that is asked to wait where it looks; what it says, if it is. */
static bool waits_here(int fd, unsigned n, int64_t *ret_bound)
{
	struct timespec bound;
	bool waits;

	idle_enter();
	waits = idle_waits_here(fd, n, &bound);
	if (waits)
		*ret_bound = bound.tv_sec * 1000000000 + bound.tv_nsec;
	idle_leave(true);
	return waits;
}

/* ... and an event ends it, or its bound. */
static int64_t wait_here(bool event)
{
	struct timespec bound = { .tv_nsec = -1 };

	idle_enter();
	assert_true(idle_waits_here(7, 1, &bound));
	t.now += event ? 1000 : bound.tv_nsec;
	idle_waited_here(event);
	idle_looked(7, POLLIN, event);
	idle_leave(event);
	return bound.tv_nsec;
}

static void the_second_look_on_a_shared_core_waits(void **state)
{
	begin_a_row_on_a_shared_core();
	assert_int_equal(wait_here(true), IDLE_WAIT_FIRST);
	assert_int_equal(t.waits, 0);
	/* The first look of a row tells of nothing yet. */
	assert_false(waits_here(7, 1, &(int64_t){ 0 }));
	call(false);
	assert_int_equal(wait_here(true), 2 * IDLE_WAIT_FIRST);
	/* Where it is not so clear the rank offers its core first. */
	t.now += IDLE_SHARED_MAX + 1;
	call(false);
	assert_false(waits_here(7, 1, &(int64_t){ 0 }));
}

/* It has waited in that call: not once more at its end. */
static void a_look_that_waited_in_vain_waits_in_the_next_call(void **state)
{
	begin_a_row_on_a_shared_core();
	for (int i = 0; i < 10; i++)
		assert_int_equal(wait_here(false),
				 i < 7 ? IDLE_WAIT_FIRST << i : IDLE_WAIT_MAX);
	assert_int_equal(t.waits, 0);
	/* What happens then was told of by no event. */
	call(true);
	assert_int_equal(wait_of_a_row(1), IDLE_WAIT_FIRST);
}

static void on_a_core_of_its_own_looks_wait_after_a_block(void **state)
{
	int64_t bound = 0;

	forget_sharing();
	call(false);
	assert_false(waits_here(7, 1, &bound));
	while (!t.waits)
		call(false);
	assert_true(waits_here(7, 1, &bound));
	assert_int_equal(bound, 2 * IDLE_WAIT_FIRST);
}

/* What else the call is about to look at would go unheard. */
static void looks_wait_only_for_what_was_looked_at(void **state)
{
	int64_t bound;

	begin_a_row_on_a_shared_core();
	assert_false(waits_here(8, 1, &bound));
	call(false);
	assert_false(waits_here(7, 2, &bound));
	call(false);
	idle_enter();
	idle_looked(3, POLLIN, false);
	assert_false(idle_waits_here(7, 1, &(struct timespec){ 0 }));
	idle_leave(true);
	call(false);
	assert_true(waits_here(7, 1, &bound));
	/* Two devices of a poll each. */
	idle_enter();
	idle_looked(7, POLLIN, false);
	idle_looked(8, POLLIN, false);
	idle_leave(false);
	assert_false(waits_here(7, 1, &bound));
}

static void looks_wait_only_where_waits_may_block(void **state)
{
	int64_t bound;

	begin_a_row_on_a_shared_core();
	idle_test_begin();
	assert_false(waits_here(7, 1, &bound));
	idle_test_end();
	call(false);
	idle_begin();
	assert_false(waits_here(7, 1, &bound));
	call(false);
	idle_allow(IDLE_OFFER);
	assert_false(waits_here(7, 1, &bound));
	call(false);
	idle_allow(IDLE_SPIN_ONLY);
	assert_false(waits_here(7, 1, &bound));
	call(false);
	idle_allow(IDLE_BLOCK);
	call(false);
	assert_true(waits_here(7, 1, &bound));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_second_look_on_a_shared_core_waits,
				       set_up),
		cmocka_unit_test_setup(
			a_look_that_waited_in_vain_waits_in_the_next_call,
			set_up),
		cmocka_unit_test_setup(
			on_a_core_of_its_own_looks_wait_after_a_block, set_up),
		cmocka_unit_test_setup(looks_wait_only_for_what_was_looked_at,
				       set_up),
		cmocka_unit_test_setup(looks_wait_only_where_waits_may_block,
				       set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
