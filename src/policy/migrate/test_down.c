/* test_down.c - hosts that are down, on random ones: nobody leaves them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/kit/leave.h"
#include "policy/migrate/leave.h"
#include "policy/migrate/test_pass.h"

#define BOTH (LEAVE_MOVES | LEAVE_FREEZES)

/* Is that about a rank on a host that is down? */
static bool is_cut_off(const struct plan_entry *e)
{
	bool cut_off = false;

	for (uint32_t k = 0; e->type == PLAN_MIGRATE && k < e->n; k++)
		cut_off |= !host[e->job->hosts[e->ranks[k]]].up;
	if (e->type == PLAN_FREEZE)
		cut_off |= !host[e->job->hosts[e->rank]].up;
	return cut_off;
}

/* Both who looks after owners itself and who does not: from a host that is down nobody moves,
 * nor is anybody frozen there. */
static void nobody_leaves_what_is_down(void **state)
{
	struct random_stream r;
	unsigned told = 0;

	random_init(&r, 3, "down", 0);
	for (int round = 0; round < 500; round++) {
		pass_end(state);
		pass_begin(state);
		for (int64_t id = 1; id <= 4; id++) {
			struct job *j = pass_runs_anywhere(&r, id, 3, HOSTS);

			if (!random_below(&r, 3))
				pass_stands_still(j, 0);
		}
		for (uint32_t h = 0; h < HOSTS; h++) {
			host[h].up = random_below(&r, 3);
			host[h].drain = !random_below(&r, 4);
			if (random_below(&r, 2))
				pass_wanted_back(h, 0);
			if (!random_below(&r, 4))
				host[h].leave_by = 70 * SEC;
		}
		plan_reset(&plan, &view);
		if (round % 2)
			leave_owned(&view, &plan);
		else
			leave_hosts(BOTH, NULL, &flights, &view, &plan,
				    &targets);
		told += (unsigned)plan.nr;
		for (size_t i = 0; i < plan.nr; i++)
			assert_false(is_cut_off(&plan.entry[i]));
	}
	assert_true(told > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PASS_TEST(nobody_leaves_what_is_down),
	};

	return cmocka_run_group_tests_name("down", tests, NULL, NULL);
}
