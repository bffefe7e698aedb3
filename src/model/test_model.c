/* test_model.c - events change the view as event.h says, plans count */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/event.h"
#include "model/place.h"
#include "model/plan.h"

static struct job *arrive(struct view *v, int64_t id, usec_t submit,
			  uint32_t size)
{
	struct job *j = view_job_create(v);
	struct event e = { .type = EVENT_ARRIVE, .at = v->now, .job = j };

	j->id = id;
	j->submit = submit;
	j->size = size;
	j->min_size = 1;
	j->kind = JOB_MALLEABLE;
	j->estimate = 100 * USEC_PER_SEC;
	model_apply(v, &e);
	return j;
}

static void apply(struct view *v, enum event_type type, usec_t at,
		  struct job *j, uint32_t n)
{
	struct event e = { .type = type, .at = at, .job = j, .n = n };

	model_apply(v, &e);
}

static void life(void **state)
{
	const usec_t s = USEC_PER_SEC;
	struct view v;
	struct job *a, *b;

	(void)state;
	view_init(&v, 8);
	b = arrive(&v, 2, 5, 4);
	a = arrive(&v, 1, 5, 6);
	assert_ptr_equal(TAILQ_FIRST(&v.waiting), a);
	assert_int_equal(v.demand, 10);
	apply(&v, EVENT_START, 10 * s, b, 4);
	assert_int_equal(v.nr_free, 4);
	assert_true(b->est_end == 110 * s);
	apply(&v, EVENT_RESIZE, 60 * s, b, 2); /* half is left: 100 s on 2 */
	assert_int_equal(v.nr_free, 6);
	assert_true(b->est_end == 160 * s);
	apply(&v, EVENT_SUSPEND, 100 * s, b, 0);
	assert_int_equal(v.nr_free, 8);
	apply(&v, EVENT_START, 100 * s, a, 8);
	apply(&v, EVENT_REQUEUE, 110 * s, a, 0);
	assert_int_equal(a->state, JOB_WAITING);
	apply(&v, EVENT_RESUME, 120 * s, b, 0);
	assert_true(b->est_end == 180 * s);
	apply(&v, EVENT_END, 180 * s, b, 0);
	/* 4 for 50 s, 2 for 40 s, 2 for 60 s */
	assert_true(b->used == 200 + 80 + 120);
	assert_int_equal(v.nr_free, 8);
	assert_int_equal(v.nr_running, 0);
	assert_int_equal(v.demand, 6);
	view_job_destroy(&v, b);
	apply(&v, EVENT_END, 181 * s, a, 0);
	assert_int_equal(v.nr_waiting, 0);
	assert_int_equal(v.demand, 0);
	view_clear(&v);
}

static const struct host three[] = {
	{ .name = "a", .speed = 1, .cores = 2, .slots = 4, .up = true },
	{ .name = "b",
	  .speed = 1,
	  .cores = 1,
	  .slots = 1,
	  .up = true,
	  .load = 1 },
	{ .name = "c", .speed = 1.5, .cores = 4, .slots = 8, .up = true },
};

static void hosts(void **state)
{
	const uint32_t where[] = { 0, 0, 2 };
	struct host gone = three[2];
	struct view v;
	struct job *j;
	struct event e = { .type = EVENT_START, .n = 3, .hosts = where };

	(void)state;
	view_init_hosts(&v, three, 3);
	assert_int_equal(v.nr_procs, 7);
	j = arrive(&v, 1, 0, 3);
	e.job = j;
	model_apply(&v, &e);
	assert_int_equal(v.nr_free, 4);
	assert_int_equal(v.hosts[0].nr_active, 2);
	e = (struct event){
		.type = EVENT_MIGRATE, .at = 1, .job = j, .rank = 1, .host = 1
	};
	model_apply(&v, &e);
	assert_int_equal(v.hosts[0].nr_ranks, 1);
	assert_int_equal(v.hosts[1].nr_ranks, 1);
	gone.drain = true;
	e = (struct event){
		.type = EVENT_HOST, .at = 2, .host = 2, .fresh = &gone
	};
	model_apply(&v, &e);
	assert_int_equal(v.nr_procs, 3);
	assert_int_equal(v.nr_free, 1);
	apply(&v, EVENT_END, 3, j, 0);
	assert_int_equal(v.nr_free, 3);
	view_clear(&v);
}

REASON(because, "{n} of {job} at {at:time}, %", n, job, at);

static void plans(void **state)
{
	struct plan p = PLAN_INIT;
	struct view v;
	struct job *a, *b;
	char text[100];

	(void)state;
	view_init(&v, 8);
	a = arrive(&v, 1, 0, 6);
	b = arrive(&v, 2, 0, 4);
	apply(&v, EVENT_START, 0, a, 6);
	plan_reset(&p, &v);
	assert_int_equal(plan_free(&p), 2);
	assert_int_equal(plan_size(&p, a), 6);
	plan_resize(&p, a, 3, NULL,
		    BECAUSE(because, .n = 1, .job = 2, .at = 1500000));
	assert_true(plan_start(&p, b, 4,
			       BECAUSE(because, .n = 0, .job = 0, .at = 0)));
	assert_int_equal(plan_free(&p), 1);
	assert_int_equal(plan_size(&p, a), 3);
	assert_int_equal(plan_size(&p, b), 4);
	plan_print(&v, &p.entry[0], text, sizeof(text));
	assert_string_equal(text, "resize job 1 to 3: 1 of 2 at 1.500000 s, %");
	assert_int_equal(plan_print(&v, &p.entry[0], text, 7), 42);
	p.entry[0].why.number[2] = USEC_MAX;
	plan_print(&v, &p.entry[0], text, sizeof(text));
	assert_string_equal(text,
			    "resize job 1 to 3: 1 of 2 at an unknown time, %");
	plan_print(&v, &p.entry[0], text, 7);
	assert_string_equal(text, "resize");
	plan_reset(&p, &v);
	assert_int_equal(plan_size(&p, a), 6);
	assert_int_equal(plan_size(&p, b), 0);
	plan_clear(&p);
	view_clear(&v);
}

/* A core each, the least delay first: a has two of 1, b one, c one of 2. */
static void on_cores(struct view *v)
{
	uint32_t at[16], nr = (uint32_t)v->nr_free, busy[] = { 0 };
	uint32_t both[] = { 0, 1 };
	const struct job wide = { .n = 2, .hosts = both };
	struct job *j = arrive(v, 9, 0, 1);
	struct event e = {
		.type = EVENT_START, .job = j, .n = 1, .hosts = busy
	};

	assert_true(place_on_cores(v, NULL, nr, at));
	for (uint32_t i = 0; i < v->nr_hosts; i++) {
		uint32_t ranks = 0;

		for (uint32_t k = 0; k < nr; k++)
			ranks += at[k] == i;
		assert_int_equal(ranks, v->hosts[i].cores);
	}
	assert_false(place_on_cores(v, NULL, nr + 1, at));
	model_apply(v, &e);
	assert_false(place_on_cores(v, NULL, nr, at));
	assert_true(place_on_cores(v, NULL, nr - 1, at));
	assert_true(place_on_cores(v, j, nr, at));
	/* It grows by what is free, and keeps its place on a host that drains.
	 */
	v->hosts[0].drain = true;
	assert_true(place_on_cores(v, j, 2, at));
	assert_int_equal(at[0], 0);
	assert_true(at[1] != 0);
	/* Of what it has, it keeps first what stays. */
	assert_true(place_on_cores(v, &wide, 1, at));
	assert_int_equal(at[0], 1);
	v->hosts[0].drain = false;
}

static void placing(void **state)
{
	struct plan p = PLAN_INIT;
	struct view v;
	uint32_t at[16];

	(void)state;
	view_init_hosts(&v, three, 3);
	plan_reset(&p, &v);
	assert_true(place_least_delay(&v, &p, 7, false, at));
	/* Two on a at 1; then a shared and c are alike, fewer ranks first. */
	assert_int_equal(at[0], 0);
	assert_int_equal(at[1], 0);
	assert_int_equal(at[2], 2);
	assert_int_equal(at[4], 0);
	assert_int_equal(at[6], 2);
	assert_false(place_least_delay(&v, &p, 14, false, at));
	v.hosts[2].owner_active = true;
	assert_false(place_least_delay(&v, &p, 6, false, at));
	assert_true(place_least_delay(&v, &p, 6, true, at));
	assert_int_equal(at[5], 2);
	on_cores(&v);
	plan_clear(&p);
	view_clear(&v);
}

static void speedups(void **state)
{
	static const struct speedup_table table = {
		.nr_points = 2, .point = { { 1, 1.0 }, { 9, 0.5 } }
	};
	struct speedup s = { .kind = SPEEDUP_LINEAR };

	(void)state;
	assert_true(speedup_scale(&s, 100, 4, 1) == 400);
	s = (struct speedup){ .kind = SPEEDUP_MISP,
			      .serial = (float)speedup_serial(0.5, 5) };
	/* Efficiency 0.5 on 5: alone it takes 2.5 times as long. */
	assert_true(speedup_scale(&s, 100, 5, 1) == 250);
	s = (struct speedup){ .kind = SPEEDUP_TABLE, .table = &table };
	assert_true(speedup_scale(&s, 100, 9, 1) == 450);
	assert_true(speedup_scale(&s, 750, 5, 1) == 2813); /* e(5) = 0.75 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(life),	    cmocka_unit_test(hosts),
		cmocka_unit_test(plans),    cmocka_unit_test(placing),
		cmocka_unit_test(speedups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
