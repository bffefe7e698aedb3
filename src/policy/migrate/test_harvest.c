/*
 * test_harvest.c - the policies with which ways of leaving are compared, and
 * harvested hosts
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

static struct policy *harvest(const char *spec)
{
	struct policy *p;

	assert_int_equal(policy_create(spec, 1, &view, &p, NULL), 0);
	return p;
}

static void decides(struct policy *p, usec_t now, const char *wanted)
{
	view.now = now;
	plan_reset(&plan, &view);
	policy_decide(p, &view, &plan);
	pass_check_plan(wanted);
}

/* What other systems do when an owner comes, for comparison with ours. */
static void baselines(void **state)
{
	struct job *j = pass_runs(1, 1, (uint32_t[]){ 0 });
	struct policy *p;

	(void)state;
	j->requeue = true;
	pass_wanted_back(0, 0);
	assert_int_equal(policy_create("stint:leave=not", 1, &view, &p, NULL),
			 0);
	decides(p, 60 * SEC, "");
	policy_destroy(p);
	assert_int_equal(policy_create("stint:leave=still", 1, &view, &p, NULL),
			 0);
	decides(p, 61 * SEC, "freeze job 1 rank 0;");
	policy_destroy(p);
	assert_int_equal(policy_create("stint:leave=anew", 1, &view, &p, NULL),
			 0);
	decides(p, 62 * SEC, "requeue job 1;");
	policy_destroy(p);
}

/* ---- harvest ---- */

static void is_used(struct policy *p, uint32_t h, double load)
{
	struct host fresh = host[h];
	struct event e = {
		.type = EVENT_HOST, .at = view.now, .host = h, .fresh = &fresh
	};

	fresh.load = load;
	model_apply(&view, &e);
	policy_event(p, &view, &e);
}

/* The first two become quiet at 70 and 80 s, the others not. */
static void two_hosts(void)
{
	host[0].idle_since = 10 * SEC;
	host[1].idle_since = 20 * SEC;
	for (int i = 2; i < HOSTS; i++)
		host[i].idle_since = USEC_MAX;
	view.now = 0;
}

static void harvest_wakes_for_the_next_host(void **state)
{
	struct policy *p;

	(void)state;
	two_hosts();
	p = harvest("harvest");
	pass_arrive(1, 2);
	decides(p, 60 * SEC, "wake 70;");
	decides(p, 70 * SEC, "wake 80;");
	decides(p, 80 * SEC, "start job 1 with 2 on 0,1;");
	policy_destroy(p);
	/* A load of just `most` is not little. */
	host[1].load = 0.2;
	view.now = 90 * SEC;
	p = harvest("harvest");
	decides(p, 1000 * SEC, "");
	policy_destroy(p);
}

/* The first is drained, or its terms let nobody in: that it is quiet then is no news. */
static void harvest_waits_for_no_host_that_takes_nobody(void **state)
{
	struct policy *p;

	(void)state;
	two_hosts();
	p = harvest("harvest");
	pass_arrive(1, 1);
	host[0].drain = true;
	decides(p, 60 * SEC, "wake 80;");
	host[0].drain = false;
	host[0].closed = CLOSED_HOURS;
	decides(p, 60 * SEC, "wake 80;");
	host[0].closed = CLOSED_NOT;
	decides(p, 60 * SEC, "wake 70;");
	/* Nor is one a place whose owner is there, though nobody keeps terms. */
	host[0].owner_active = true;
	decides(p, 75 * SEC, "wake 80;");
	policy_destroy(p);
}

static void cpu_alone_minds_no_keyboard(void **state)
{
	struct policy *p;

	(void)state;
	two_hosts();
	p = harvest("harvest:by=cpu");
	pass_arrive(1, 1);
	decides(p, 60 * SEC, "start job 1 with 1 on 0;");
	policy_destroy(p);
}

/*
 * The guest of a host that is used again stands still until another host is
 * quiet.
 */
static void harvest_looks_for_who_stands_still(void **state)
{
	struct policy *p;
	struct job *j;

	(void)state;
	two_hosts();
	p = harvest("harvest");
	j = pass_runs(1, 1, (uint32_t[]){ 0 });
	view.now = 75 * SEC;
	is_used(p, 0, 1);
	decides(p, 75 * SEC, "freeze job 1 rank 0;wake 80;");
	pass_stands_still(j, 0);
	decides(p, 76 * SEC, "wake 80;");
	decides(p, 80 * SEC, "migrate job 1 rank 0 to 1;");
	policy_destroy(p);
}

static void harvest_loads_what_it_saved(void **state)
{
	static const char *const wrong[] = {
		"", "0 0.3 0.05\n-5\n", "0 0.3 0.05\n0\n0\n0\n0\n0\n0\n0\n",
		"0 0.3 0.05\nx\n"
	};
	struct policy *p, *other;
	struct error err;
	char *saved;

	(void)state;
	two_hosts();
	p = harvest("harvest:by=cpu");
	view.now = 30 * SEC;
	is_used(p, 0, 1);
	is_used(p, 0, 0);
	saved = policy_save(p, &view);
	policy_destroy(p);
	other = harvest("harvest:by=cpu");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_true(policy_load(other, &view, wrong[i], &err) < 0);
	assert_int_equal(policy_load(other, &view, saved, NULL), 0);
	pass_arrive(1, 6);
	decides(other, 89 * SEC, "wake 90;");
	decides(other, 90 * SEC, "start job 1 with 6 on 0,1,2,3,4,5;");
	policy_destroy(other);
	free(saved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PASS_TEST(baselines),
		PASS_TEST(harvest_wakes_for_the_next_host),
		PASS_TEST(harvest_waits_for_no_host_that_takes_nobody),
		PASS_TEST(cpu_alone_minds_no_keyboard),
		PASS_TEST(harvest_looks_for_who_stands_still),
		PASS_TEST(harvest_loads_what_it_saved),
	};

	return cmocka_run_group_tests_name("harvest", tests, NULL, NULL);
}
