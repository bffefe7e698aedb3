/*
 * test_looks.c - when Dynamic-SED looks at a job for the first time, and what it remembers of
 * one that begins anew
 *
 * All hosts are loaded, so that each look counts and nobody finds a place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/policies.h"

#include "policy/migrate/test_pass.h"

enum { EVERY = 2, C1 = 3 };

static struct policy *policy;

static int begin(void **state)
{
	pass_begin(state);
	for (int h = 0; h < HOSTS; h++)
		host[h].load = 9;
	return policy_create("dynamic-sed:every=2,c1=3", 1, &view, &policy,
			     NULL);
}

static int end(void **state)
{
	policy_destroy(policy);
	return pass_end(state);
}

static void happens(enum event_type type, struct job *j, uint32_t n,
		    const uint32_t *on)
{
	struct event e = {
		.type = type, .at = view.now, .job = j, .n = n, .hosts = on
	};

	model_apply(&view, &e);
	policy_event(policy, &view, &e);
}

/* A pass, after which so many looks are remembered of both ranks of that job. */
static void pass(int64_t id, unsigned looks)
{
	char wanted[40], *text;

	plan_reset(&plan, &view);
	policy_decide(policy, &view, &plan);
	text = policy_save(policy, &view);
	assert_non_null(text);
	snprintf(wanted, sizeof(wanted), "\n%d 1 2 %u %u\n", (int)id, looks,
		 looks);
	if (!strstr(text, wanted))
		fail_msg("at %d s no '%s' in '%s'", (int)(view.now / SEC),
			 wanted, text);
	free(text);
	view.now += SEC;
}

/*
 * However long the machine was idle, a job is looked at when it has run for as long as there
 * is between looks.
 */
static void looks_begin_with_the_first_job(void **state)
{
	const uint32_t on[] = { 0, 1 };

	(void)state;
	for (int64_t id = 1; id <= 5; id++) {
		struct job *j = pass_runs(id, 2, on);

		for (unsigned t = 0; t <= EVERY * C1; t++)
			pass(id, t / EVERY);
		happens(EVENT_END, j, 0, NULL);
		plan_reset(&plan, &view);
		policy_decide(policy, &view, &plan);
		view.now += id * SEC;
	}
}

/* One that begins anew where it was is as new as one that has just come. */
static void who_begins_anew_is_new(void **state)
{
	const uint32_t on[] = { 0, 1 }, other[] = { 2, 3 };
	struct job *j = pass_runs(1, 2, on);

	(void)state;
	pass_runs(2, 2, other);
	for (unsigned t = 0; t <= EVERY; t++)
		pass(1, t / EVERY);
	happens(EVENT_REQUEUE, j, 0, NULL);
	happens(EVENT_START, j, 2, on);
	pass(1, 0);
	pass(1, 1);
	pass(2, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(looks_begin_with_the_first_job,
						begin, end),
		cmocka_unit_test_setup_teardown(who_begins_anew_is_new, begin,
						end),
	};

	return cmocka_run_group_tests_name("looks", tests, NULL, NULL);
}
