/* test_memory.c - hosts that page: who computes, and what becomes of time */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/engine/test_list.h"
#include "sim/engine/test_needs.h"
#include "sim/engine/testing.h"
#include "sim/workload/script.h"

/* p = 1/2 * 200 pages / 100 s * 0.1 s = 0.1 */
static void a_job_alone_pages_alone(void **state)
{
	static const struct line one[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 200 * MB }
	};
	struct sim_result r;

	(void)state;
	run_table(one, 1, "1x1x1x100000000",
		  "system=0,page=1000000,sweep=100,fault=0.1", "g-loadsharing",
		  &r);
	assert_int_equal(r.record[0].end, 1100 * USEC_PER_SEC);
	assert_int_equal(r.split[0].cpu, 1000 * USEC_PER_SEC);
	assert_int_equal(r.split[0].page, 100 * USEC_PER_SEC);
	assert_int_equal(r.split[0].run, 1100 * USEC_PER_SEC);
	assert_int_equal(sum_of(&r.split[0]), 1100 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/*
 * For the first half of the run the job needs 50 MB of 100, for the second 200:
 * it pages in the second.
 */
static void phases_begin_when_their_work_is_done(void **state)
{
	static const struct workload_phases two = {
		.nr = 2, .phase = { { 0, 50 * MB }, { 0.5, 200 * MB } }
	};
	static const struct line one[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .phases = &two }
	};
	struct sim_result r;

	(void)state;
	run_table(one, 1, "1x1x1x100000000",
		  "system=0,page=1000000,sweep=100,fault=0.1", "g-loadsharing",
		  &r);
	assert_int_equal(r.record[0].end, 1050 * USEC_PER_SEC);
	assert_int_equal(r.split[0].page, 50 * USEC_PER_SEC);
	/* 500 s with 50 MB idle, 550 s with none. */
	assert_true(fabs(r.averages.idle_memory - 50. * MB * 500 / 1050) < 1);
	sim_result_clear(&r);
}

/* ... from the first again, in a job whose host fails at 700 and that begins anew. */
static void who_begins_anew_begins_with_the_first_phase(void **state)
{
	static const struct workload_phases two = {
		.nr = 2, .phase = { { 0, 50 * MB }, { 0.5, 200 * MB } }
	};
	static const struct line one[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .phases = &two }
	};
	char events[] = "700 down 0\n701 up 0\n";
	struct sim_script script;
	struct sim_result r;

	(void)state;
	if (script_parse(events, strlen(events), "test", &script, NULL) < 0)
		fail();
	run_with(one, 1, "1x1x1x100000000",
		 "system=0,page=1000000,sweep=100,fault=0.1",
		 (struct sim_config){ .policy = "g-loadsharing",
				      .script = &script },
		 &r);
	assert_int_equal(r.record[0].end, (701 + 1050) * USEC_PER_SEC);
	assert_int_equal(r.split[0].cpu, 1000 * USEC_PER_SEC);
	assert_int_equal(r.split[0].page, 50 * USEC_PER_SEC);
	assert_int_equal(r.split[0].lost, 700 * USEC_PER_SEC);
	assert_int_equal(r.split[0].queue, 1 * USEC_PER_SEC);
	sim_result_clear(&r);
	script_clear(&script);
}

/*
 * p = 1: the job pages half of the time. Phases begin at an odd microsecond, of
 * which the half that is left over is counted only once.
 */
static void no_microsecond_counts_twice(void **state)
{
	static const struct workload_phases two = {
		.nr = 2, .phase = { { 0, 200 * MB }, { 0.5, 200 * MB } }
	};
	static const struct line one[] = {
		{ .run = 2001, .home = 1, .phases = &two }
	};
	struct sim_result r;

	(void)state;
	run_table(one, 1, "1x1x1x100000000",
		  "system=0,page=1000000,sweep=100,fault=1", "g-loadsharing",
		  &r);
	assert_int_equal(r.split[0].cpu + r.split[0].page, r.split[0].run);
	sim_result_clear(&r);
}

/*
 * Each job gets half of the processor, whatever memory the other needs; but
 * both page once the first has grown.
 */
static void a_neighbour_that_grows(void **state)
{
	static const struct workload_phases two = {
		.nr = 2, .phase = { { 0, 50 * MB }, { 0.5, 150 * MB } }
	};
	static const struct line both[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .phases = &two },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 50 * MB },
	};
	struct sim_result r;

	(void)state;
	run_table(both, 2, "1x1x1x100000000",
		  "system=0,page=1000000,sweep=1000,fault=0.1,switch=0",
		  "g-loadsharing", &r);
	/* Half of it is missing for the last 500 s of work of each: 0.5 * 150
	 * and 50 pages / 1000 s * 0.1 s. */
	assert_int_equal(r.split[0].page, 3750 * USEC_PER_MSEC);
	assert_int_equal(r.split[1].page, 1250 * USEC_PER_MSEC);
	assert_int_equal(r.record[0].end, 2000 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/*
 * The rank on the slower host sets the pace, in whatever order the hosts come.
 */
static void the_slowest_rank_sets_the_pace(void **state)
{
	static const char *const machine[] = {
		"1x2x1x100000000,1x1x1x100000000",
		"1x1x1x100000000,1x2x1x100000000"
	};
	static const struct line one[] = {
		{ .run = 100 * USEC_PER_SEC, .size = 2, .memory = 1 * MB }
	};
	struct sim_result r;

	(void)state;
	for (int i = 0; i < 2; i++) {
		run_table(one, 1, machine[i], "system=0,switch=0", "spread",
			  &r);
		assert_int_equal(r.record[0].end, 200 * USEC_PER_SEC);
		sim_result_clear(&r);
	}
}

/*
 * One of two hosts is in use all the time: each is half a process from the
 * mean.
 */
static void skew_is_a_mean_over_time(void **state)
{
	static const struct line one[] = {
		{ .run = 100 * USEC_PER_SEC, .home = 1, .memory = 1 * MB }
	};
	struct sim_result r;

	(void)state;
	run_table(one, 1, "2x1x1x100000000", "system=0", "g-loadsharing", &r);
	assert_true(fabs(r.averages.skew - 0.5) < 1e-9);
	sim_result_clear(&r);
}

/* The second is on its way, far from home, until 100: the first has the processor for
 * itself until then, and half of it for the 50 s that are left of its work. */
static void what_stands_still_takes_nothing(void **state)
{
	static const struct line two[] = {
		{ .run = 150 * USEC_PER_SEC, .home = 1, .memory = 1 * MB },
		{ .run = 50 * USEC_PER_SEC, .home = 2, .memory = 1 * MB },
	};
	struct sim_result r;

	(void)state;
	run_table(two, 2, "1x1x1x100000000", "system=0,switch=0,remote=100",
		  "g-loadsharing", &r);
	assert_int_equal(r.record[0].end, 200 * USEC_PER_SEC);
	assert_int_equal(r.record[1].end, 200 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/*
 * The owner of the first host comes at 10, and the rank there is frozen: its other rank, on
 * the second host, takes nothing of it either, and the job that it shared it with goes on
 * alone until it ends.
 */
static void who_is_frozen_takes_nothing(void **state)
{
	static const struct line two[] = {
		{ .run = 50 * USEC_PER_SEC, .size = 2, .memory = 1 * MB },
		{ .run = 100 * USEC_PER_SEC, .home = 2, .memory = 1 * MB },
	};
	struct activity a = read_activity(ACTIVITY_HEAD "10,h1,owner,here\n"
							"150,h1,owner,away\n");
	struct sim_config c = { .policy = "g-loadsharing",
				.activity = &a,
				.terms = &test_terms };
	struct sim_result r;

	set_term("on-return", "freeze");
	run_with(two, 2, "2x1x1x100000000", "system=0,switch=0,remote=0", c,
		 &r);
	assert_int_equal(r.record[1].end, 105 * USEC_PER_SEC);
	assert_true(r.split[0].frozen > 100 * USEC_PER_SEC);
	sim_result_clear(&r);
	activity_clear(&a);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_alone_pages_alone),
		cmocka_unit_test(phases_begin_when_their_work_is_done),
		cmocka_unit_test(who_begins_anew_begins_with_the_first_phase),
		cmocka_unit_test(no_microsecond_counts_twice),
		cmocka_unit_test(a_neighbour_that_grows),
		cmocka_unit_test(the_slowest_rank_sets_the_pace),
		cmocka_unit_test(skew_is_a_mean_over_time),
		cmocka_unit_test(what_stands_still_takes_nothing),
		cmocka_unit_test_setup_teardown(who_is_frozen_takes_nothing,
						begin_terms, end_terms),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
