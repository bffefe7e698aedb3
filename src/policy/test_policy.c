/* test_policy.c - the table, names and parameters, fcfs and spread */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "model/contract.h"
#include "model/place.h"
#include "policy/policies.h"

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
	model_apply(&v,
		    &(struct event){ .type = EVENT_START, .job = a, .n = 5 });
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

/* Twelve jobs on eight hosts; those run that the policy starts. */
static void busy(struct view *v, struct policy *p, struct plan *plan)
{
	for (int i = 1; i <= 12; i++) {
		struct job *j = arrive(v, i, 1 + (uint32_t)i % 5);
		struct event e = { .type = EVENT_ARRIVE, .job = j };

		j->estimate = i * USEC_PER_SEC;
		policy_event(p, v, &e);
	}
	plan_reset(plan, v);
	policy_decide(p, v, plan);
	for (size_t i = 0; i < plan->nr; i++) {
		struct plan_entry *e = &plan->entry[i];
		struct event start = { .type = EVENT_START, .job = e->job };

		if (e->type != PLAN_START)
			continue;
		start.n = e->n;
		start.hosts = e->hosts;
		if (!e->hosts) {
			start.hosts = plan_hosts(plan, e->n);
			assert_true(place_on_cores(v, NULL, e->n,
						   (uint32_t *)start.hosts));
		}
		model_apply(v, &start);
	}
}

/* Change, cut or double a part of text. */
static void damage(char *text, struct random_stream *r)
{
	static const char other[] = "0123456789 -\nx";
	size_t n = strlen(text);

	for (uint64_t k = 1 + random_below(r, 4); n && k > 0; k--)
		text[random_below(r, n)] =
			other[random_below(r, sizeof(other) - 1)];
	if (n && !random_below(r, 4))
		text[random_below(r, n)] = '\0';
}

/*
 * A wrong saved state is refused, or does no harm, since a record may be
 * edited.
 */
static void damaged_states(void **state)
{
	struct host hosts[8];
	struct random_stream r;
	uint64_t refused = 0;
	const struct policy_ops *ops;

	(void)state;
	for (int i = 0; i < 8; i++)
		hosts[i] = (struct host){
			.speed = 1 + i / 4, .cores = 1, .slots = 9, .up = true
		};
	random_init(&r, 1, "damage", 0);
	for (size_t i = 0; (ops = policy_nth(i)); i++) {
		struct plan plan = PLAN_INIT;
		struct policy *p;
		struct view v;
		char *text;

		view_init_hosts(&v, hosts, 8);
		assert_int_equal(policy_create(ops->name, 1, &v, &p, NULL), 0);
		busy(&v, p, &plan);
		text = policy_save(p, &v);
		assert_int_equal(policy_remembers(ops->name), text != NULL);
		policy_destroy(p);
		for (int k = 0; text && k < 300; k++) {
			char *copy = strdup(text);

			damage(copy, &r);
			assert_int_equal(
				policy_create(ops->name, 1, &v, &p, NULL), 0);
			policy_adopt(p, &v);
			refused += policy_load(p, &v, copy, NULL) < 0;
			plan_reset(&plan, &v);
			policy_decide(p, &v, &plan);
			policy_destroy(p);
			free(copy);
		}
		free(text);
		plan_clear(&plan);
		view_clear(&v);
	}
	assert_true(refused > 500);
}

/* A job without an estimate counts as the longest, and comes last. */
static void no_estimate_is_the_longest(void **state)
{
	static const char *const specs[] = { "sjf", "lxf", "wfp" };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct plan plan = PLAN_INIT;
		struct policy *p;
		struct view v;

		view_init(&v, 1);
		arrive(&v, 1, 1);
		arrive(&v, 2, 1)->estimate = 1000 * USEC_PER_SEC;
		v.now = 100 * USEC_PER_SEC;
		assert_int_equal(policy_create(specs[i], 1, &v, &p, NULL), 0);
		policy_adopt(p, &v);
		plan_reset(&plan, &v);
		policy_decide(p, &v, &plan);
		assert_true(plan.nr && plan.entry[0].type == PLAN_START);
		assert_int_equal(plan.entry[0].job->id, 2);
		policy_destroy(p);
		plan_clear(&plan);
		view_clear(&v);
	}
}

/* A reservation ends at the same time as without a restart. */
static void timers_after_a_restart(void **state)
{
	struct plan plan = PLAN_INIT;
	struct policy *p;
	struct view v;
	unsigned nr = 0;
	char *text;

	(void)state;
	view_init(&v, 2);
	v.now = 10 * USEC_PER_SEC;
	arrive(&v, 1, 3); /* more than there are */
	assert_int_equal(
		policy_create("loadleveler:reserve=300", 1, &v, &p, NULL), 0);
	policy_adopt(p, &v);
	plan_reset(&plan, &v);
	policy_decide(p, &v, &plan);
	text = policy_save(p, &v);
	policy_destroy(p);
	v.now = 110 * USEC_PER_SEC;
	assert_int_equal(
		policy_create("loadleveler:reserve=300", 1, &v, &p, NULL), 0);
	policy_adopt(p, &v);
	assert_int_equal(policy_load(p, &v, text, NULL), 0);
	plan_reset(&plan, &v);
	policy_decide(p, &v, &plan);
	for (size_t i = 0; i < plan.nr; i++) {
		if (plan.entry[i].type != PLAN_WAKE)
			continue;
		assert_int_equal(plan.entry[i].at, 310 * USEC_PER_SEC);
		nr++;
	}
	assert_int_equal(nr, 1);
	free(text);
	policy_destroy(p);
	plan_clear(&plan);
	view_clear(&v);
}

static unsigned moves_of_pass(struct policy *p, struct view *v)
{
	struct plan plan = PLAN_INIT;
	unsigned nr = 0;

	plan_reset(&plan, v);
	policy_decide(p, v, &plan);
	for (size_t i = 0; i < plan.nr; i++)
		nr += plan.entry[i].type == PLAN_MIGRATE;
	plan_clear(&plan);
	return nr;
}

/*
 * A policy that moves ranks away from owners knows which moves are under way;
 * leave_owned() does not, and must not plan these moves again.
 */
static void one_alone_sees_to_owners(void **state)
{
	static const char *const specs[] = { "stint", "dynamic-sed",
					     "dynamic-sed-1997", "harvest",
					     "dynamite" };
	struct host hosts[2];
	const uint32_t first = 0;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		hosts[i] = (struct host){
			.speed = 1, .cores = 1, .slots = 2, .up = true
		};
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct event start = { .type = EVENT_START,
				       .n = 1,
				       .hosts = &first };
		struct policy *p;
		struct view v;

		view_init_hosts(&v, hosts, 2);
		assert_int_equal(policy_create(specs[i], 1, &v, &p, NULL), 0);
		start.at = 1000 * USEC_PER_SEC;
		start.job = arrive(&v, 1, 1);
		model_apply(&v, &start);
		policy_adopt(p, &v);
		v.hosts[0].owner_active = true;
		v.hosts[0].closed = CLOSED_OWNER;
		assert_int_equal(moves_of_pass(p, &v), 1);
		assert_int_equal(moves_of_pass(p, &v), 0);
		policy_destroy(p);
		view_clear(&v);
	}
}

/* Nobody starts before the head of the queue who could, which waits for more hosts. */
static void first_come_first_served(void **state)
{
	static const char *const specs[] = {
		"dynamic-sed", "dynamic-sed-1997", "harvest",	    "stint",
		"dynamite",    "spread",	   "g-loadsharing", "sed2"
	};
	struct random_stream r;

	(void)state;
	random_init(&r, 4, "fcfs", 0);
	for (unsigned round = 0; round < 400; round++) {
		const char *spec = specs[round % 8];
		struct plan plan = PLAN_INIT;
		struct host hosts[6];
		const struct job *j;
		struct policy *p;
		bool waits = false;
		struct view v;

		for (int i = 0; i < 6; i++)
			hosts[i] = (struct host){
				.speed = 1, .cores = 1, .slots = 1, .up = true
			};
		view_init_hosts(&v, hosts, 6);
		v.now = 9000 * USEC_PER_SEC;
		assert_int_equal(policy_create(spec, 1, &v, &p, NULL), 0);
		for (int i = 1; i <= 5; i++) {
			struct event e = { .type = EVENT_ARRIVE };

			e.job = arrive(&v, i,
				       1 + (uint32_t)random_below(&r, 6));
			policy_event(p, &v, &e);
		}
		v.now += 1000 * USEC_PER_SEC; /* hosts are quiet by now */
		plan_reset(&plan, &v);
		policy_decide(p, &v, &plan);
		for_each_waiting(j, &v)
		{
			bool starts = false;

			for (size_t i = 0; i < plan.nr; i++)
				starts |= plan.entry[i].type == PLAN_START &&
					  plan.entry[i].job == j;
			if (starts && waits)
				fail_msg("%s: job %d starts before another",
					 spec, (int)j->id);
			waits |= !starts;
			if (!starts && j->id == 1)
				fail_msg("%s: nobody starts", spec);
		}
		plan_clear(&plan);
		policy_destroy(p);
		view_clear(&v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table),
		cmocka_unit_test(wrong),
		cmocka_unit_test(fcfs),
		cmocka_unit_test(spread),
		cmocka_unit_test(damaged_states),
		cmocka_unit_test(timers_after_a_restart),
		cmocka_unit_test(no_estimate_is_the_longest),
		cmocka_unit_test(one_alone_sees_to_owners),
		cmocka_unit_test(first_come_first_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
