/*
 * test_array.c - which tasks the ranges mean, in whatever order they are given
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/controller/state/array.h"
#include "core/random.h"
#include "core/xalloc.h"

enum { MOST = 6, TASKS = 20, TRIES = 2000 };

static bool is_meant(uint32_t task, Control__TaskRange *const *range, size_t n)
{
	Control__Submit spec = CONTROL__SUBMIT__INIT;
	struct ctl_job job = { .spec = &spec };

	spec.task = task;
	return ctl_array_means(&job, range, n);
}

/*
 * Ranges that overlap, one within another, one given twice, and some that begin
 * after their end.
 */
static void as_each_of_them_says(void **state)
{
	Control__TaskRange asked[MOST], at[MOST], *range[MOST];
	struct random_stream r;

	random_init(&r, 1, "ranges", 0);
	for (int i = 0; i < TRIES; i++) {
		size_t n = 1 + random_below(&r, MOST);

		for (size_t k = 0; k < n; k++) {
			control__task_range__init(&asked[k]);
			asked[k].first = random_below(&r, TASKS);
			asked[k].last = random_below(&r, TASKS);
			at[k] = asked[k];
			range[k] = &at[k];
		}
		assert_int_equal(ctl_array_ranges(range, n, NULL), 0);
		for (uint32_t task = 0; task < TASKS; task++) {
			bool meant = false;

			for (size_t k = 0; k < n; k++)
				meant |= task >= asked[k].first &&
					 task <= asked[k].last;
			assert_int_equal(is_meant(task, range, n), meant);
		}
	}
}

static void without_any_all_are(void **state)
{
	assert_int_equal(ctl_array_ranges(NULL, 0, NULL), 0);
	assert_true(is_meant(0, NULL, 0) && is_meant(UINT32_MAX, NULL, 0));
}

/* Each range would be compared with each job that there is. */
static void more_than_there_can_be_are_refused(void **state)
{
	Control__TaskRange **range = xcalloc(CTL_TASKS_MAX + 1, sizeof(*range)),
			   *at = xcalloc(CTL_TASKS_MAX + 1, sizeof(*at));
	struct error err;

	for (uint32_t i = 0; i <= CTL_TASKS_MAX; i++) {
		at[i].first = at[i].last = i;
		range[CTL_TASKS_MAX - i] = &at[i];
	}
	assert_int_equal(ctl_array_ranges(range, CTL_TASKS_MAX + 1, &err),
			 -E2BIG);
	assert_non_null(strstr(err.text, "100001 ranges of tasks"));
	assert_int_equal(ctl_array_ranges(range, CTL_TASKS_MAX, &err), 0);
	assert_true(is_meant(CTL_TASKS_MAX, range, CTL_TASKS_MAX));
	free(range);
	free(at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_each_of_them_says),
		cmocka_unit_test(without_any_all_are),
		cmocka_unit_test(more_than_there_can_be_are_refused),
	};

	return cmocka_run_group_tests_name("array", tests, NULL, NULL);
}
