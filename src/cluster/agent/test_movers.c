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

static void who_waits_gets_a_step(void **state)
{
	assert_int_equal(movers_next(0, 24, 24, 100), 1);
	assert_int_equal(movers_next(1, 0, 90, 100),
			 2); /* another has plenty */
	assert_int_equal(movers_next(CLAIM_STEPS - 1, 0, 0, 100),
			 CLAIM_STEPS - 1);
}

static void who_has_plenty_gives_one_back(void **state)
{
	assert_int_equal(movers_next(2, 76, 76, 100), 1);
	assert_int_equal(movers_next(0, 100, 100, 100), 0);
}

static void who_gets_on_keeps_it(void **state)
{
	assert_int_equal(movers_next(2, 25, 75, 100), 2);
	/* It waits for somebody else, not for a processor. */
	assert_int_equal(movers_next(2, USEC_MAX, 0, 100), 2);
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
		cmocka_unit_test(who_waits_gets_a_step),
		cmocka_unit_test(who_has_plenty_gives_one_back),
		cmocka_unit_test(who_gets_on_keeps_it),
		cmocka_unit_test(beside_a_busy_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
