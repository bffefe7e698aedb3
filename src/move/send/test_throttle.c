/* test_throttle.c - tests of throttle.h, by a clock of their own */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "move/send/send.h"
#include "move/send/throttle.h"

static usec_t now;
static bool fails; /* to stop */

#define WRAP(name) __wrap_##name
usec_t WRAP(send_now)(void);
void WRAP(tracee_look)(struct tracee *t);
int WRAP(tracee_stop)(struct tracee *t, struct error *err);
void WRAP(tracee_resume)(struct tracee *t);

usec_t WRAP(send_now)(void)
{
	return now;
}

void WRAP(tracee_look)(struct tracee *t)
{
}

int WRAP(tracee_stop)(struct tracee *t, struct error *err)
{
	t->nr = 1;
	return fails ? error_set(err, -EAGAIN, "no") : 0;
}

void WRAP(tracee_resume)(struct tracee *t)
{
	t->nr = 0;
}

static bool runs_at(struct throttle *th, const struct tracee *t, usec_t at)
{
	now = at;
	throttle_tick(th);
	return !t->nr;
}

static void test_runs_a_quarter_of_the_time(void **state)
{
	struct tracee t = { 0 };
	struct throttle *th;

	now = 500;
	th = throttle_create(&t, 10000);
	assert_true(runs_at(th, &t, 1499));
	assert_false(runs_at(th, &t, 1500));
	assert_false(runs_at(th, &t, 4499));
	assert_true(runs_at(th, &t, 4500));
	/* the time by which a tick came late counts as well */
	assert_false(runs_at(th, &t, 6000));
	assert_false(runs_at(th, &t, 8999));
	assert_true(runs_at(th, &t, 9000));
	throttle_destroy(th);
}

static void test_no_stop_is_longer_than_the_budget(void **state)
{
	struct tracee t = { 0 };
	struct throttle *th;

	now = 0;
	th = throttle_create(&t, 2000);
	assert_false(runs_at(th, &t, 1000));
	assert_false(runs_at(th, &t, 2999));
	assert_true(runs_at(th, &t, 3000));
	throttle_destroy(th);
}

/*
 * Stopped at once, and for good; a process that cannot be stopped yet runs as
 * long as others.
 */
static void test_without_a_budget_it_stands_still(void **state)
{
	struct tracee t = { 0 };
	struct throttle *th;

	now = 0;
	th = throttle_create(&t, 0);
	fails = true;
	assert_true(runs_at(th, &t, 0));
	fails = false;
	assert_true(runs_at(th, &t, 999));
	assert_false(runs_at(th, &t, 1000));
	assert_false(runs_at(th, &t, USEC_PER_SEC));
	throttle_destroy(th);
	assert_int_equal(t.nr, 0);
}

static void test_runs_at_the_end(void **state)
{
	struct tracee t = { 0 };
	struct throttle *th;

	now = 0;
	th = throttle_create(&t, 10000);
	assert_false(runs_at(th, &t, 1000));
	throttle_destroy(th);
	assert_int_equal(t.nr, 0);
	throttle_destroy(NULL);
	throttle_tick(NULL);
}

/* Stopping is tried again after it has run for as long. */
static void test_who_cannot_be_stopped_runs_on(void **state)
{
	struct tracee t = { 0 };
	struct throttle *th;

	now = 0;
	th = throttle_create(&t, 10000);
	fails = true;
	assert_true(runs_at(th, &t, 1000));
	fails = false;
	assert_true(runs_at(th, &t, 1999));
	assert_false(runs_at(th, &t, 2000));
	throttle_destroy(th);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_a_quarter_of_the_time),
		cmocka_unit_test(test_no_stop_is_longer_than_the_budget),
		cmocka_unit_test(test_without_a_budget_it_stands_still),
		cmocka_unit_test(test_runs_at_the_end),
		cmocka_unit_test(test_who_cannot_be_stopped_runs_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
