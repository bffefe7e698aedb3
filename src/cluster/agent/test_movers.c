/* test_movers.c - keepers and engines beside an owner who computes */
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/agent/movers.h"
#include "cluster/agent/test_guest.h"
#include "core/claim.h"
#include "core/clock.h"
#include "core/scratch.h"

#define LOOKS 400 /* of 25 ms */

/* The step after one in which a thread did that, of 1000, and has been as hungry. */
static unsigned after(unsigned step, unsigned *hungry, usec_t ran,
		      usec_t waited)
{
	const struct movers_time t[] = { { 0, 0 }, { ran, waited } };

	return movers_next(step, hungry, t, 2, 1000);
}

static void who_starves_gets_a_step(void **state)
{
	const struct movers_time both[] = { { 0, 1000 }, { 900, 100 } };
	unsigned hungry = 0;

	assert_int_equal(after(0, &hungry, 0, 510), 1);
	assert_int_equal(after(1, &hungry, 6, 990), 2);
	assert_int_equal(after(CLAIM_STEPS - 1, &hungry, 0, 1000),
			 CLAIM_STEPS - 1);
	/* Another has plenty. */
	assert_int_equal(movers_next(1, &hungry, both, 2, 1000), 2);
}

static void who_has_hardly_anything_gets_one_if_it_lasts(void **state)
{
	unsigned hungry = 0;

	assert_int_equal(after(0, &hungry, 40, 960), 0);
	assert_int_equal(after(0, &hungry, 40, 960), 1);
	assert_int_equal(after(1, &hungry, 40, 960), 1);
	assert_int_equal(after(1, &hungry, 100, 900), 1);
	assert_int_equal(after(1, &hungry, 40, 960), 1);
}

static void who_has_plenty_gives_one_back(void **state)
{
	unsigned hungry = 0;

	assert_int_equal(after(2, &hungry, 760, 240), 1);
	assert_int_equal(after(0, &hungry, 1000, 0), 0);
}

static void who_gets_on_keeps_it(void **state)
{
	unsigned hungry = 0;

	assert_int_equal(after(2, &hungry, 750, 250), 2);
	for (int i = 0; i < 3; i++) {
		/* A share of a processor, which is soon used up. */
		assert_int_equal(after(0, &hungry, 100, 900), 0);
		/* It waits for somebody else, as a rule. */
		assert_int_equal(after(0, &hungry, 0, 500), 0);
	}
}

static void on_one_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

/* Looks until it is in that class; false: it never is. */
static bool gets_class(struct movers *m, pid_t pid, int class)
{
	for (int i = 0; i < LOOKS; i++) {
		movers_look(m, NULL, clock_usec(CLOCK_MONOTONIC));
		if (sched_getscheduler(pid) == class)
			return true;
		poll(NULL, 0, 25);
	}
	return false;
}

/* An owner's work is on the processor that the keeper's is on. */
static void beside_a_busy_owner(void **state)
{
	char dir[SCRATCH_MAX], path[SCRATCH_MAX + 64];
	pid_t init, keeper, owner;
	struct movers *m;

	if (geteuid()) {
		print_message("# not tested: nobody is raised but by root\n");
		return;
	}
	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/capsules", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	on_one_processor();
	init = guest_spin();
	keeper = guest_spin();
	owner = guest_spin();
	guest_capsule_of(dir, "7.0", init, keeper);
	m = movers_create(NULL, dir);
	assert_true(gets_class(m, keeper,
			       SCHED_IDLE)); /* which finds it new, too */
	assert_true(gets_class(m, keeper, SCHED_OTHER));
	assert_true(getpriority(PRIO_PROCESS, (id_t)keeper) < 0);
	assert_true(claim_is_marked(keeper));
	/* The rank is not its keeper's. */
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)init), 0);
	assert_false(claim_is_marked(init));
	movers_rest(m);
	movers_destroy(m);
	guest_end(owner);
	guest_end(keeper);
	guest_end(init);
	guest_capsule_remove(dir, "7.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_starves_gets_a_step),
		cmocka_unit_test(who_has_hardly_anything_gets_one_if_it_lasts),
		cmocka_unit_test(who_has_plenty_gives_one_back),
		cmocka_unit_test(who_gets_on_keeps_it),
		cmocka_unit_test(beside_a_busy_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
