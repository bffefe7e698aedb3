/* test_model.c - events change the view as event.h says, plans count */
#include <math.h>
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
#include "model/talk.h"

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
	/* Four processors for 50 s, two for 40 s, two for 60 s. */
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
	assert_string_equal(text, "resize job 1 to 3: 1 of 2 at 1.5 s, %");
	assert_int_equal(plan_print(&v, &p.entry[0], text, 7), 37);
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

static void on_rank(struct view *v, enum event_type type, usec_t at,
		    struct job *j, uint32_t rank)
{
	struct event e = { .type = type, .at = at, .job = j, .rank = rank };

	model_apply(v, &e);
}

/* Two ranks of one job stand still, one after the other. */
static void frozen_ranks(void **state)
{
	const struct host h[] = {
		{ .speed = 1, .cores = 1, .slots = 4, .up = true },
		{ .speed = 1, .cores = 1, .slots = 4, .up = true },
		{ .speed = 1, .cores = 1, .slots = 4, .up = true },
	};
	const uint32_t on[] = { 0, 1 };
	const usec_t s = USEC_PER_SEC;
	struct event e = { .type = EVENT_START, .n = 2, .hosts = on };
	struct view v;
	struct job *j;

	(void)state;
	view_init_hosts(&v, h, 3);
	e.job = j = arrive(&v, 1, 0, 2);
	model_apply(&v, &e);
	assert_true(j->est_end == 100 * s && view_rate(&v, j) == 1);
	on_rank(&v, EVENT_FREEZE, 10 * s, j, 1);
	assert_true(job_rank_frozen(j, 1) && !job_rank_frozen(j, 0));
	assert_true(view_rate(&v, j) == 0);
	on_rank(&v, EVENT_FREEZE, 15 * s, j, 0);
	on_rank(&v, EVENT_THAW, 20 * s, j, 1);
	assert_true(view_rate(&v, j) == 0 && j->est_end == 100 * s);
	on_rank(&v, EVENT_THAW, 30 * s, j, 0);
	assert_true(view_rate(&v, j) == 1 && j->est_end == 120 * s);
	/* Time in which the job is suspended does not count as frozen. */
	on_rank(&v, EVENT_FREEZE, 40 * s, j, 0);
	apply(&v, EVENT_SUSPEND, 50 * s, j, 0);
	apply(&v, EVENT_RESUME, 60 * s, j, 0);
	assert_true(j->est_end == 140 * s);
	on_rank(&v, EVENT_THAW, 65 * s, j, 0);
	assert_true(j->est_end == 145 * s);
	/* Where its move fails a rank stands still as before; it runs where it lands. */
	on_rank(&v, EVENT_FREEZE, 70 * s, j, 0);
	e = (struct event){ .type = EVENT_MIGRATE, .at = 71 * s, .job = j };
	model_apply(&v, &e);
	assert_int_equal(j->ranks->nr_frozen, 1);
	e.host = 2;
	model_apply(&v, &e);
	assert_true(!j->ranks->nr_frozen && j->est_end == 146 * s);
	on_rank(&v, EVENT_FREEZE, 72 * s, j, 1);
	apply(&v, EVENT_REQUEUE, 73 * s, j, 0);
	assert_true(!j->ranks->nr_frozen && !j->ranks->frozen &&
		    v.nr_free == 3);
	view_clear(&v);
}

static void assert_says(const struct view *v, const struct plan_entry *e,
			const char *wanted)
{
	char text[100];

	plan_print(v, e, text, sizeof(text));
	assert_string_equal(text, wanted);
}

static void plans_of_ranks(void **state)
{
	const struct host h[] = {
		{ .name = "a", .cores = 1, .slots = 2, .up = true },
		{ .name = "b", .cores = 1, .slots = 2, .up = true },
		{ .name = "c", .cores = 2, .slots = 2, .up = true },
	};
	const uint32_t on[] = { 0, 1 };
	struct event e = { .type = EVENT_START, .n = 2, .hosts = on };
	struct because why = BECAUSE(because, .n = 1, .job = 2, .at = 0);
	struct plan p = PLAN_INIT;
	uint32_t *ranks, *hosts;
	struct view v;

	(void)state;
	view_init_hosts(&v, h, 3);
	e.job = arrive(&v, 1, 0, 2);
	model_apply(&v, &e);
	plan_reset(&p, &v);
	ranks = plan_hosts(&p, 2);
	hosts = plan_hosts(&p, 2);
	ranks[0] = 0, ranks[1] = 1;
	hosts[0] = 1, hosts[1] = 2;
	plan_migrate_by(&p, e.job, 2, ranks, hosts, 2500000, why);
	/* Who moves away has its slot until it has arrived, and runs elsewhere. */
	assert_int_equal(plan_room(&p, &v.hosts[0]), 1);
	assert_int_equal(plan_room(&p, &v.hosts[1]), 0);
	assert_int_equal(plan_room(&p, &v.hosts[2]), 1);
	assert_int_equal(plan_active(&p, &v.hosts[0]), 0);
	assert_int_equal(plan_active(&p, &v.hosts[1]), 1);
	plan_migrate(&p, e.job, 1, 0, why);
	plan_freeze(&p, e.job, 1, why);
	plan_thaw(&p, e.job, 1, why);
	assert_says(&v, &p.entry[0],
		    "migrate job 1 ranks 0,1 to b,c within 2.5 s: 1 of 2 at "
		    "0 s, %");
	p.entry[0].at = 599960000;
	assert_says(
		&v, &p.entry[0],
		"migrate job 1 ranks 0,1 to b,c within 600 s: 1 of 2 at 0 s, %");
	assert_says(&v, &p.entry[1],
		    "migrate job 1 rank 1 to a: 1 of 2 at 0 s, %");
	assert_says(&v, &p.entry[2], "freeze job 1 rank 1: 1 of 2 at 0 s, %");
	assert_says(&v, &p.entry[3], "thaw job 1 rank 1: 1 of 2 at 0 s, %");
	plan_reset(&p, &v);
	plan_requeue(&p, e.job, why);
	assert_says(&v, &p.entry[0], "requeue job 1: 1 of 2 at 0 s, %");
	assert_int_equal(plan_free(&p), 4);
	assert_int_equal(plan_room(&p, &v.hosts[1]), 2);
	v.hosts[1].closed = CLOSED_OWNER;
	assert_int_equal(plan_room(&p, &v.hosts[1]), 0);
	plan_clear(&p);
	view_clear(&v);
}

/*
 * One core for each rank, the least delay first: a has two cores of delay 1, b
 * one, c one of 2.
 */
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
	/*
	 * The job grows by free cores, and keeps its place on a host that is
	 * being drained.
	 */
	v->hosts[0].drain = true;
	assert_true(place_on_cores(v, j, 2, at));
	assert_int_equal(at[0], 0);
	assert_true(at[1] != 0);
	/* When it shrinks, it first keeps the hosts that are not drained. */
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
	/*
	 * Two ranks go to a, with delay 1; then a, shared, and c are alike, and
	 * the one with fewer ranks is taken.
	 */
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

/*
 * Ten jobs come one after the other, while no host reports its load; returns
 * how many of them go to the first host. Ranks count at once and exactly where
 * they were placed: as no reported load has them, nothing needs to decay.
 */
static int herd(bool ranks_count)
{
	struct host ten[10];
	struct plan p = PLAN_INIT;
	struct view v;
	int first = 0;

	for (int i = 0; i < 10; i++)
		ten[i] = (struct host){ .speed = 1,
					.cores = 1,
					.slots = 16,
					.load = i ? 0.2 : 0.1,
					.up = true };
	view_init_hosts(&v, ten, 10);
	for (int64_t id = 1; id <= 10; id++) {
		struct event e = { .type = EVENT_START, .n = 1 };
		uint32_t to;

		e.job = arrive(&v, id, 0, 1);
		plan_reset(&p, &v);
		assert_true(place_least_delay(&v, &p, 1, false, &to));
		e.hosts = &to;
		model_apply(&v, &e);
		first += to == 0;
		if (!ranks_count)
			v.hosts[to].nr_active = 0;
	}
	plan_clear(&p);
	view_clear(&v);
	return first;
}

static void a_stale_load_attracts_no_herd(void **state)
{
	(void)state;
	assert_int_equal(herd(true), 1);
	assert_int_equal(herd(false), 10);
}

/* Two ranks that talk, on the hosts a and c, whose link is slow. */
static void partners_apart_wait(void **state)
{
	const struct job_talk talk = { 0, 1, 5e6, 4000 };
	uint32_t apart[] = { 0, 2 }, together[] = { 2, 2 };
	double delay[2], bytes[3];
	struct event e = { .type = EVENT_TALK, .n = 1, .talk = &talk };
	struct view v;

	(void)state;
	view_init_hosts(&v, three, 3);
	v.hosts[2].link = 10e6;
	e.job = arrive(&v, 1, 0, 2);
	model_apply(&v, &e);
	model_apply(&v, &(struct event){ .type = EVENT_START,
					 .job = e.job,
					 .n = 2,
					 .hosts = apart });
	talk_delays(&v, e.job, apart, delay);
	/* 4000 messages of 25 us each, and 5 MB at 125 and at 10 MB/s. */
	assert_true(fabs(delay[0] - 1 / (1 - 0.14)) < 1e-9);
	assert_true(fabs(delay[1] - 1 / (1 - 0.6)) < 1e-9);
	assert_true(talk_delay_at(&v, e.job, apart, 0, 2) == 1);
	assert_true(talk_delay(&v, e.job) == delay[1]);
	talk_hosts(&v, bytes);
	assert_true(bytes[0] == 5e6 && bytes[1] == 0 && bytes[2] == 5e6);
	assert_true(talk_bytes(e.job, 0, 2) == 5e6 &&
		    talk_bytes(e.job, 0, 1) == 0);
	talk_delays(&v, e.job, together, delay);
	assert_true(delay[0] == 1 && delay[1] == 1);
	/* The rates hold until others are told. */
	e.n = 0;
	model_apply(&v, &e);
	talk_delays(&v, e.job, apart, delay);
	assert_true(delay[1] == 1);
	view_clear(&v);
}

/* A job that would end after the host closes goes elsewhere. */
static void hosts_close(void **state)
{
	struct plan p = PLAN_INIT;
	struct view v;
	struct job *j;
	uint32_t at[2];

	(void)state;
	view_init_hosts(&v, three, 3);
	j = arrive(&v, 1, 0, 1);
	plan_reset(&p, &v);
	v.hosts[0].open_until = 99 * USEC_PER_SEC;
	assert_true(place_least_delay_of(&v, &p, j, true, 1, false, at));
	assert_int_equal(at[0], 2);
	v.hosts[0].open_until = 100 * USEC_PER_SEC;
	assert_true(place_least_delay_of(&v, &p, j, true, 1, false, at));
	assert_int_equal(at[0], 0);
	/* When a job without an estimate would end is not known. */
	j->estimate = 0;
	v.hosts[0].open_until = 1;
	assert_true(place_least_delay_of(&v, &p, j, true, 1, false, at));
	assert_int_equal(at[0], 0);
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
		cmocka_unit_test(life),
		cmocka_unit_test(hosts),
		cmocka_unit_test(plans),
		cmocka_unit_test(frozen_ranks),
		cmocka_unit_test(plans_of_ranks),
		cmocka_unit_test(placing),
		cmocka_unit_test(a_stale_load_attracts_no_herd),
		cmocka_unit_test(partners_apart_wait),
		cmocka_unit_test(hosts_close),
		cmocka_unit_test(speedups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
