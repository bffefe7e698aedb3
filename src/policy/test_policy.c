/* test_policy.c - the table, names and parameters, fcfs and spread */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/policy.h"

static struct job *arrive(struct view *v, int64_t id, uint32_t size)
{
	struct job *j = view_job_create(v);
	struct event e = { .type = EVENT_ARRIVE, .at = v->now, .job = j };

	j->id = id;
	j->size = j->min_size = size;
	model_apply(v, &e);
	return j;
}

static void table(void **state)
{
	(void)state;
	for (size_t i = 0; policy_nth(i); i++) {
		const struct policy_ops *p = policy_nth(i);

		assert_ptr_equal(policy_find(p->name, NULL), p);
		assert_non_null(p->summary);
		assert_non_null(p->source);
		assert_non_null(p->details);
		assert_non_null(p->create);
		assert_non_null(p->decide);
		assert_int_equal(!p->save, !p->load);
	}
}

static void wrong(void **state)
{
	struct policy *p = NULL;
	struct error err;
	struct view v;

	(void)state;
	view_init(&v, 4);
	assert_int_equal(policy_create("fcf", 1, &v, &p, &err), -ENOENT);
	assert_non_null(strstr(err.text, "fcfs"));
	assert_int_equal(policy_create("fcfs:x=1", 1, &v, &p, &err), -EINVAL);
	assert_int_equal(policy_create("spread", 1, &v, &p, &err), -EINVAL);
	assert_null(p);
	view_clear(&v);
}

static void fcfs(void **state)
{
	struct plan plan = PLAN_INIT;
	struct policy *p;
	struct view v;
	struct job *a, *b, *c;
	char text[200];

	(void)state;
	view_init(&v, 8);
	assert_int_equal(policy_create("fcfs", 1, &v, &p, NULL), 0);
	a = arrive(&v, 1, 5);
	b = arrive(&v, 2, 4);
	c = arrive(&v, 3, 1);
	plan_reset(&plan, &v);
	policy_decide(p, &v, &plan);
	assert_int_equal(plan.nr, 1);
	assert_ptr_equal(plan.entry[0].job, a);
	model_start(&v, a, 5, NULL);
	plan_reset(&plan, &v);
	policy_decide(p, &v, &plan);
	assert_int_equal(plan.nr, 0);
	policy_explain(p, &v, b, &plan);
	policy_explain(p, &v, c, &plan);
	plan_print(&v, &plan.entry[0], text, sizeof(text));
	assert_string_equal(text, "defer job 2: it is first in the queue, and "
				  "needs 4 processors of which 3 are free");
	plan_print(&v, &plan.entry[1], text, sizeof(text));
	assert_non_null(strstr(text, "job 2 is before it"));
	plan_clear(&plan);
	policy_destroy(p);
	view_clear(&v);
}

static void spread(void **state)
{
	const struct host hosts[] = {
		{ .name = "a",
		  .speed = 1,
		  .cores = 1,
		  .slots = 2,
		  .up = true,
		  .load = 0.5 },
		{ .name = "b", .speed = 1, .cores = 1, .slots = 2, .up = true },
	};
	struct plan plan = PLAN_INIT;
	struct policy *p;
	struct view v;

	(void)state;
	view_init_hosts(&v, hosts, 2);
	assert_int_equal(policy_create("spread", 1, &v, &p, NULL), 0);
	arrive(&v, 1, 2);
	arrive(&v, 2, 3);
	plan_reset(&plan, &v);
	policy_decide(p, &v, &plan);
	assert_int_equal(plan.nr, 1);
	assert_int_equal(plan.entry[0].hosts[0], 1);
	assert_int_equal(plan.entry[0].hosts[1], 0);
	plan_clear(&plan);
	policy_destroy(p);
	view_clear(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table),
		cmocka_unit_test(wrong),
		cmocka_unit_test(fcfs),
		cmocka_unit_test(spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
