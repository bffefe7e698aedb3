/* test_long.c - Dynamic-SED's limit for long jobs (Schnor 1997 section 5.4) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/policies.h"

#define SEC USEC_PER_SEC

struct world {
	struct view view;
	struct plan plan;
	struct policy *policy;
};

static void world_end(struct world *w)
{
	policy_destroy(w->policy);
	plan_clear(&w->plan);
	view_clear(&w->view);
}

static struct job *submit(struct world *w, int64_t id, uint32_t least,
			  uint32_t most, bool is_long)
{
	struct job *j = view_job_create(&w->view);

	j->id = id;
	j->submit = w->view.now;
	j->size = most;
	j->min_size = least;
	j->kind = least < most ? JOB_MOLDABLE : JOB_RIGID;
	j->estimate = (is_long ? 100 * 3600 : 1) * SEC;
	model_apply(&w->view, &(struct event){ .type = EVENT_ARRIVE,
					       .at = w->view.now,
					       .job = j });
	policy_event(w->policy, &w->view,
		     &(struct event){ .type = EVENT_ARRIVE,
				      .at = w->view.now,
				      .job = j });
	return j;
}

static void start_some(struct world *w)
{
	plan_reset(&w->plan, &w->view);
	policy_decide(w->policy, &w->view, &w->plan);
	for (size_t i = 0; i < w->plan.nr; i++) {
		const struct plan_entry *e = &w->plan.entry[i];

		if (e->type == PLAN_START)
			model_apply(&w->view,
				    &(struct event){ .type = EVENT_START,
						     .at = w->view.now,
						     .job = e->job,
						     .n = e->n,
						     .hosts = e->hosts });
	}
}

static void idle_machine(struct world *w, const char *spec, uint32_t n)
{
	struct host hosts[64] = { { .name = NULL } };

	for (uint32_t i = 0; i < n; i++)
		hosts[i] = (struct host){
			.speed = 1, .cores = 1, .slots = 4, .up = true
		};
	memset(w, 0, sizeof(*w));
	view_init_hosts(&w->view, hosts, n);
	w->view.now = SEC;
	w->plan = (struct plan)PLAN_INIT;
	assert_int_equal(policy_create(spec, 1, &w->view, &w->policy, NULL), 0);
}

static void long_jobs_leave_some_for_others(void **state)
{
	struct job *a, *b, *c;
	struct world w;

	(void)state;
	idle_machine(&w, "dynamic-sed:long=10h", 10);
	a = submit(&w, 1, 1, 10, true);
	start_some(&w);
	assert_int_equal(a->n, 7);
	c = submit(&w, 2, 1, 10, false); /* a short one may have what is left */
	start_some(&w);
	assert_int_equal(c->n, 3);
	b = submit(&w, 3, 1, 10, true);
	start_some(&w);
	assert_int_equal(b->n, 0);
	world_end(&w);
	/* Long is what is just as long, too. */
	idle_machine(&w, "dynamic-sed:long=100h", 10);
	a = submit(&w, 1, 1, 10, true);
	start_some(&w);
	assert_int_equal(a->n, 7);
	world_end(&w);
	/* Alone it has what it must have. */
	idle_machine(&w, "dynamic-sed:long=10h", 10);
	a = submit(&w, 1, 9, 9, true);
	start_some(&w);
	assert_int_equal(a->n, 9);
	world_end(&w);
}

/* Two in the same pass share it as two in two: of ten 7, of which the first has 5. */
static void long_jobs_that_start_together(void **state)
{
	struct job *a, *b;
	struct world w;

	(void)state;
	idle_machine(&w, "dynamic-sed:long=10h", 10);
	a = submit(&w, 1, 1, 5, true);
	b = submit(&w, 2, 1, 5, true);
	start_some(&w);
	assert_int_equal(a->n, 5);
	assert_int_equal(b->n, 2);
	world_end(&w);
}

/* Three hosts four times as fast as the fourth would be twelve nodes; with a slot each they
 * are three, so that of four nodes long jobs have two. */
static void slots_bound_the_nodes(void **state)
{
	const struct host hosts[] = {
		{ .speed = 1, .cores = 1, .slots = 1, .up = true },
		{ .speed = 1, .cores = 1, .slots = 1, .up = true },
		{ .speed = 1, .cores = 1, .slots = 1, .up = true },
		{ .speed = 4, .cores = 1, .slots = 1, .up = true }
	};
	struct job *a;
	struct world w = { .plan = PLAN_INIT };

	(void)state;
	view_init_hosts(&w.view, hosts, 4);
	w.view.now = SEC;
	assert_int_equal(policy_create("dynamic-sed:long=10h", 1, &w.view,
				       &w.policy, NULL),
			 0);
	a = submit(&w, 1, 1, 10, true);
	start_some(&w);
	assert_int_equal(a->n, 2);
	world_end(&w);
}

static void long_jobs_on_random_machines(void **state)
{
	struct random_stream r;

	(void)state;
	random_init(&r, 7, "long", 0);
	for (int round = 0; round < 300; round++) {
		uint32_t hosts = 2 + (uint32_t)random_below(&r, 60);
		uint32_t first = 0, all = 0;
		struct job *j[5];
		struct world w;

		idle_machine(&w, "dynamic-sed:long=10h", hosts);
		for (int i = 0; i < 5; i++) {
			uint32_t most = 1 + (uint32_t)random_below(&r, hosts);
			uint32_t least = 1 + (uint32_t)random_below(&r, most);

			j[i] = submit(&w, i + 1, least, most, true);
			start_some(&w);
		}
		for (int i = 0; i < 5; i++) {
			first = first ? first : j[i]->n;
			all += j[i]->n;
		}
		if (all * 10 > hosts * 7 && all != first)
			fail_msg("%u of %u hosts are long jobs'", all, hosts);
		assert_true(all > 0);
		world_end(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_jobs_leave_some_for_others),
		cmocka_unit_test(long_jobs_that_start_together),
		cmocka_unit_test(slots_bound_the_nodes),
		cmocka_unit_test(long_jobs_on_random_machines),
	};

	return cmocka_run_group_tests_name("long", tests, NULL, NULL);
}
