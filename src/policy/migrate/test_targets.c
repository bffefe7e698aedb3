/* test_targets.c - the hosts to which a rank could move */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/migrate/test_pass.h"

static void best_targets(void **state)
{
	struct job *j = pass_arrive(1, 1);
	bool among[HOSTS] = { [2] = true, [3] = true };

	(void)state;
	pass_runs(2, 1, (uint32_t[]){ 2 });
	host[0].owner_active = true; /* the terms let guests in, or not yet */
	plan_reset(&plan, &view);
	targets_make(&targets, &view, &plan);
	assert_int_equal(targets.nr, HOSTS - 1);
	assert_int_equal(targets_best(&targets, j, 0, false)->host->ix, 1);
	assert_int_equal(targets_best(&targets, j, 1, false)->host->ix, 3);
	targets_clear(&targets);
	targets_make_among(&targets, &view, &plan, among);
	assert_int_equal(targets.nr, 1);
	assert_int_equal(targets.target[0].room, 1);
}

static void gentle_is_a_core_for_each(void **state)
{
	struct target t = { .host = host, .ranks = 1 };

	(void)state;
	host[0].load = 0.3; /* noise */
	assert_true(target_gentle(&t));
	host[0].load = 0.5;
	assert_false(target_gentle(&t));
	t.ranks = 0; /* nobody's guest */
	assert_true(target_gentle(&t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PASS_TEST(best_targets),
		PASS_TEST(gentle_is_a_core_for_each),
	};

	return cmocka_run_group_tests_name("targets", tests, NULL, NULL);
}
