/* test_large.c - guests of many threads are looked at one at a time */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cluster/agent/large.h"
#include "core/clock.h"
#include "core/scratch.h"

static char dir[SCRATCH_MAX];
static char *groups[] = { dir };

static struct capsule_record guest(pid_t init)
{
	struct capsule_record rec = { .init = { .pid = init, .start = 1 },
				      .nr_cgroups = 1 };

	rec.cgroups[0] = groups[0];
	return rec;
}

static int set_up(void **state)
{
	scratch_dir(dir, "/tmp");
	scratch_put(dir, "pids.current", "257\n");
	return 0;
}

static void few_threads_are_no_matter(void **state)
{
	struct capsule_record a = guest(1);
	struct large l = { .nr = 0 };

	scratch_put(dir, "pids.current", "256\n");
	assert_null(large_guest(&l, &a));
	a.nr_cgroups = 0;
	assert_null(large_guest(&l, &a));
	scratch_put(dir, "pids.current", "257\n");
}

static void they_take_turns(void **state)
{
	struct capsule_record a = guest(1), b = guest(2);
	struct large l = { .nr = 0 };
	struct large_guest *g;

	large_begin(&l);
	(void)!large_guest(&l, &b);
	g = large_guest(&l, &a);
	assert_non_null(g);
	assert_true(large_may(&l, g));
	large_looked(&l, g, clock_usec(CLOCK_MONOTONIC));
	/* One in a round, */
	assert_false(large_may(&l, large_guest(&l, &b)));
	large_end(&l);
	large_begin(&l);
	l.rest = 0;
	/* ... and the next is the one that has waited longest. */
	assert_false(large_may(&l, large_guest(&l, &a)));
	assert_true(large_may(&l, large_guest(&l, &b)));
	large_end(&l);
	/* Who has gone keeps nobody. */
	large_begin(&l);
	g = large_guest(&l, &a);
	large_end(&l);
	assert_true(large_may(&l, large_guest(&l, &a)));
	large_clear(&l);
}

static void a_look_is_followed_by_a_rest(void **state)
{
	struct capsule_record a = guest(1);
	struct large l = { .nr = 0 };
	usec_t now = clock_usec(CLOCK_MONOTONIC);

	large_begin(&l);
	large_looked(&l, large_guest(&l, &a), now - USEC_PER_SEC);
	assert_true(l.rest >= now + 20 * USEC_PER_SEC);
	large_end(&l);
	large_begin(&l);
	assert_false(large_may(&l, large_guest(&l, &a)));
	/* Who must does not rest, but takes one in a round, too. */
	assert_true(large_must(&l));
	assert_false(l.more);
	large_looked(&l, large_guest(&l, &a), now);
	assert_false(large_must(&l));
	assert_true(l.more);
	large_clear(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_threads_are_no_matter),
		cmocka_unit_test(they_take_turns),
		cmocka_unit_test(a_look_is_followed_by_a_rest),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
