/* test_crew.c - workers answer, fail and die */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/sweep/crew.h"

enum { GOOD, WRONG, DEADLY };

static int work(void *arg, uint32_t cell, uint32_t replication, double *value,
		struct error *err)
{
	if (cell == WRONG)
		return error_set(err, -EDOM, "run %u is wrong", replication);
	if (cell == DEADLY)
		raise(SIGTERM);
	value[0] = replication * *(const double *)arg;
	value[CREW_VALUES - 1] = getpid();
	return 0;
}

static struct crew *make(unsigned nr)
{
	static double factor = 2;
	struct crew *crew;

	assert_int_equal(crew_create(nr, work, &factor, &crew, NULL), 0);
	return crew;
}

static void note_value(const struct crew_result *r, void *arg)
{
	double(*seen)[4] = arg;

	seen[r->cell - GOOD][r->replication] += r->value[0] + 1;
}

static void runs_all(void **state)
{
	double seen[1][4] = { { 0 } };
	struct crew *crew = make(3);
	struct error err;

	assert_int_equal(crew_run_all(crew, GOOD, 1, 4, note_value, seen, &err),
			 0);
	for (int i = 0; i < 4; i++)
		assert_true(seen[0][i] == i * 2 + 1);
	assert_true(crew_run_all(crew, WRONG, 1, 4, note_value, seen, &err) <
		    0);
	assert_non_null(strstr(err.text, "wrong"));
	crew_destroy(crew);
}

static void answers(void **state)
{
	struct crew *crew = make(3);
	struct crew_result r;
	bool seen[20] = { false };
	uint32_t given = 0, taken = 0;

	assert_int_equal(crew_take(crew, &r, NULL), -ENODATA);
	while (taken < 20) {
		while (given < 20 && crew_idle(crew))
			assert_int_equal(crew_give(crew, GOOD, given++, NULL),
					 0);
		assert_int_equal(crew_take(crew, &r, NULL), 0);
		assert_int_equal(r.rc, 0);
		assert_true(r.value[0] == r.replication * 2);
		assert_true(r.value[CREW_VALUES - 1] != getpid());
		assert_false(seen[r.replication]);
		seen[r.replication] = true;
		taken++;
	}
	crew_destroy(crew);
	crew_destroy(NULL);
}

static void a_wrong_run_says_why(void **state)
{
	struct crew *crew = make(1);
	struct crew_result r;

	assert_int_equal(crew_give(crew, WRONG, 7, NULL), 0);
	assert_false(crew_idle(crew));
	assert_int_equal(crew_take(crew, &r, NULL), 0);
	assert_int_equal(r.rc, -EDOM);
	assert_string_equal(r.error.text, "run 7 is wrong");
	assert_int_equal(crew_give(crew, GOOD, 1, NULL), 0);
	assert_int_equal(crew_take(crew, &r, NULL), 0);
	assert_int_equal(r.rc, 0);
	crew_destroy(crew);
}

static void a_death_is_an_error(void **state)
{
	struct crew *crew = make(2);
	struct crew_result r;
	struct error err;

	assert_int_equal(crew_give(crew, DEADLY, 0, NULL), 0);
	assert_int_equal(crew_take(crew, &r, &err), -EIO);
	assert_non_null(strstr(err.text, "signal 15"));
	crew_destroy(crew);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),
		cmocka_unit_test(runs_all),
		cmocka_unit_test(a_wrong_run_says_why),
		cmocka_unit_test(a_death_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
