/*
 * test_rules.c - what a host, a migration, a resize and a reservation do to
 * jobs, and what is measured of them, on schedules worked by hand
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/engine/test_list.h"
#include "sim/engine/testing.h"
#include "sim/report/summary.h"

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-6 * fabs(want) + 1e-9))
		fail_msg("%.9g is not %.9g", got, want);
}

static void check_end(const struct sim_result *r, int job, double want)
{
	near((double)r->record[job - 1].end / USEC_PER_SEC, want);
}

/* A job goes at the rate of its slowest process, 1 / (alpha (load + k)). */
static void the_slowest_process_sets_the_rate(void **state)
{
	static const struct row one[] = { { 0, 100, 2, 1, 0 } };
	static const struct row two[] = { { 0, 100, 2, 1, 0 },
					  { 100, 100, 2, 1, 0 } };
	struct sim_result r;

	(void)state;
	simulate_list("pvm", "1x1,1x4", (struct sim_config){ 0 }, one, 1, &r);
	check_end(&r, 1, 400);
	sim_result_clear(&r);
	/*
	 * At 100 a quarter is done. Then both run at an eighth: the 75 that the
	 * first has left take 600. By then the second has done 75, and its last
	 * 25 take 100.
	 */
	simulate_list("pvm", "1x1,1x4", (struct sim_config){ 0 }, two, 2, &r);
	check_end(&r, 1, 700);
	check_end(&r, 2, 800);
	sim_result_clear(&r);
}

/* A pool of tasks has no slowest process: the rates of the hosts add up. */
static void a_pool_of_tasks_uses_what_each_host_gives(void **state)
{
	static const struct row one[] = { { 0, 100, 2, 1, 0 } };
	static const struct row two[] = { { 0, 100, 2, 1, 0 },
					  { 100, 100, 2, 1, 0 } };
	const struct sim_config pool = { .pool = true };
	struct sim_result r;

	(void)state;
	/* 200 seconds of work at a rate of 1 + 1/4. */
	simulate_list("pvm", "1x1,1x4", pool, one, 1, &r);
	check_end(&r, 1, 160);
	sim_result_clear(&r);
	/*
	 * At 100 the first has 75 left, and both get half of all: until 220.
	 * Then the second has 125 left.
	 */
	simulate_list("pvm", "1x1,1x4", pool, two, 2, &r);
	check_end(&r, 1, 220);
	check_end(&r, 2, 320);
	sim_result_clear(&r);
}

/*
 * SED: two jobs of two processes on two fast and two slow hosts. At 100 the
 * first one ends; the second has done (100 - 1) / 4 of its 1000 s and moves to
 * the fast hosts.
 */
static void a_migration_costs_a_standstill(void **state)
{
	static const struct row rows[] = { { 0, 100, 2, 1, 0 },
					   { 1, 1000, 2, 1, 0 } };
	const struct sim_config paid = {
		.costs = { .migrate = 10 * USEC_PER_SEC,
			   .migrate_rank = 12700 * USEC_PER_MSEC }
	};
	struct sim_result r;

	(void)state;
	simulate_list("sed2", "2x1,2x4", paid, rows, 2, &r);
	check_end(&r, 2, 100 + 10 + 2 * 12.7 + 1000 - 24.75);
	near(r.record[1].stood_secs, (float)(10 + 2 * 12.7));
	assert_int_equal(r.migrations, 2);
	assert_int_equal(r.migration_events, 1);
	sim_result_clear(&r);
	simulate_list("sed2", "2x1,2x4", (struct sim_config){ 0 }, rows, 2, &r);
	check_end(&r, 2, 1075.25);
	sim_result_clear(&r);
	simulate_list("sed2:migrate=no", "2x1,2x4", paid, rows, 2, &r);
	check_end(&r, 2, 4001);
	assert_int_equal(r.migrations, 0);
	sim_result_clear(&r);
}

/*
 * SED's queue is first come, first served: a small job does not pass a large
 * one.
 */
static void sed_keeps_the_order(void **state)
{
	static const struct row rows[] = {
		{ 0, 100, 2, 1, 0 },
		{ 1, 100, 4, 1, 0 },
		{ 2, 10, 1, 1, 0 },
	};

	(void)state;
	CHECK("sed1", "4x1", rows, 0, 100, 200);
}

/*
 * LST: the time for a migration is taken from the slice of the job that
 * migrates.
 */
static void a_migration_shortens_the_slice(void **state)
{
	/*
	 * The conflict in the text: see policy/hosts/test_gang.c. Job 2 runs in
	 * the first slot of 1800 s, and again from 3600 on, migrated.
	 */
	static const struct row rows[] = {
		{ 0, 3600, 4, 1, 0 },
		{ 0, 3600, 2, 1, 0 },
		{ 1, 9000, 4, 1, 0 },
	};
	const struct sim_config paid = {
		.costs = { .migrate = 10 * USEC_PER_SEC,
			   .migrate_rank = 12700 * USEC_PER_MSEC }
	};
	struct sim_result r;

	(void)state;
	simulate_list("lst", "8x1", (struct sim_config){ 0 }, rows, 3, &r);
	check_end(&r, 1, 3600);
	check_end(&r, 2, 5400);
	assert_int_equal(r.migrations, 2);
	sim_result_clear(&r);
	simulate_list("lst", "8x1", paid, rows, 3, &r);
	check_end(&r, 2, 5400 + 10 + 2 * 12.7);
	sim_result_clear(&r);
}

/* A change of allocation costs C once, on the new number of processors. */
static void a_resize_costs_c(void **state)
{
	/*
	 * DFCFS on 4 processors: job 2 gets 1 of 4, and 3 more at 10, when it
	 * has done 10 of its 48 processor seconds; the other 38 take 9.5 s on
	 * 4.
	 */
	static const struct row rows[] = { { 0, 10, 3, 1, 1 },
					   { 0, 12, 4, 1, 1 } };
	const struct sim_config paid = { .costs.resize = USEC_PER_SEC };
	struct sim_result r;

	(void)state;
	simulate_list("dfcfs", "4", (struct sim_config){ 0 }, rows, 2, &r);
	check_end(&r, 2, 19.5);
	sim_result_clear(&r);
	simulate_list("dfcfs", "4", paid, rows, 2, &r);
	check_end(&r, 2, 20.5);
	assert_int_equal(r.record[1].resizes, 1);
	sim_result_clear(&r);
}

/*
 * FCFSUF on 4 processors: job 1 has 3 until 10; job 2 is folded to 1 until 36;
 * job 3, the last to come, starts at 20 on two of the three idle ones. Averages
 * are over 0 to 20: until 10 all processors are used, then one, while three are
 * asked for.
 */
static void what_is_measured(void **state)
{
	static const struct row rows[] = {
		{ 0, 10, 3, 1, 1 },
		{ 0, 12, 3, 1, 1 },
		{ 20, 30, 2, 1, 1 },
	};
	struct sim_result r;
	struct summary s;

	(void)state;
	simulate_list("fcfsuf", "4", (struct sim_config){ 0 }, rows, 3, &r);
	check_end(&r, 1, 10);
	check_end(&r, 2, 36);
	check_end(&r, 3, 50);
	/* S_e = P_a / min(P, P_d): 4/4, then 1/3. */
	near(r.averages.effectiveness, (10 + 10. / 3) / 20);
	/* (P_da - P_a) / P while processors idle: none, then 2/4. */
	near(r.averages.fragmentation, 10 * 0.5 / 20);
	near(r.averages.utilization, (40 + 10) / 80.);
	near(r.averages.jobs, (2 * 10 + 10) / 20.);
	near(r.averages.queue_length, 0);
	summary_make(&r, &s);
	near(s.makespan, 50);
	near(s.folding, (1 + 3 + 1) / 3.);
	near(s.utilization, (30 + 36 + 60) / 200.);
	near(s.response.mean, (10 + 36 + 30) / 3.);
	near(s.wait.mean, 0);
	/* Compared with run times on all processors asked for: 1, 3, 1. */
	near(s.slowdown.mean, 5. / 3);
	/* The same values, as no run is shorter than 10 s. */
	near(s.bounded_slowdown.mean, 5. / 3);
	/* Fairness: size 1 (no job), 2, and 3 to 4. */
	assert_int_equal(s.nr_classes, 3);
	near(s.size_class[1].response, 30);
	near(s.size_class[2].response, 23);
	sim_result_clear(&r);
}

/* PVM on two hosts: jobs 1 and 2 share both until 20, twenty seconds later one is used. */
static void a_processor_that_is_shared_counts_once(void **state)
{
	static const struct row rows[] = { { 0, 10, 2, 1, 0 },
					   { 0, 10, 2, 1, 0 },
					   { 40, 10, 1, 1, 0 } };
	struct sim_result r;
	struct summary s;

	(void)state;
	simulate_list("pvm", "2x1", (struct sim_config){ 0 }, rows, 3, &r);
	check_end(&r, 1, 20);
	check_end(&r, 2, 20);
	check_end(&r, 3, 50);
	near(r.busy, 2 * 20 + 10);
	summary_make(&r, &s);
	near(s.utilization, 50 / 100.);
	near(r.averages.utilization, 40 / 80.);
	sim_result_clear(&r);
}

/* A run of 2 s that waits 18 s: slowdown 10; bounded at 10 s it is 2. */
static void slowdown_is_bounded_at_ten_seconds(void **state)
{
	static const struct row rows[] = { { 0, 20, 1, 1, 0 },
					   { 2, 2, 1, 1, 0 } };
	struct sim_result r;
	struct summary s;

	(void)state;
	simulate_list("fcfs", "1", (struct sim_config){ 0 }, rows, 2, &r);
	summary_make(&r, &s);
	near(s.slowdown.max, 10);
	near(s.bounded_slowdown.max, 2);
	near(s.bounded_slowdown.min, 1);
	sim_result_clear(&r);
}

/*
 * Backfilling by depth. Job 2 can start at 10 and leaves one processor; job 3
 * needs all four and can start at 20; job 4 is long and fits that one. With one
 * reservation job 4 starts now, and job 3 waits for it; with two it may not
 * start.
 */
static void reservations(void **state)
{
	static const struct row rows[] = {
		{ 0, 10, 3, 1, 0 },
		{ 0, 10, 3, 1, 0 },
		{ 0, 10, 4, 1, 0 },
		{ 0, 30, 1, 1, 0 },
	};
	static const struct row head[] = {
		{ 0, 10, 3, 1, 0 },
		{ 0, 10, 4, 1, 0 },
		{ 0, 30, 1, 1, 0 },
	};

	(void)state;
	CHECK("fcfs", "4", rows, 0, 10, 20, 30);
	CHECK("easy", "4", rows, 0, 10, 30, 0);
	CHECK("backfill:depth=1", "4", rows, 0, 10, 30, 0);
	CHECK("backfill:depth=2", "4", rows, 0, 10, 20, 30);
	CHECK("conservative", "4", rows, 0, 10, 20, 30);
	CHECK("conservative:slots=kinds", "4", rows, 0, 10, 20, 30);
	/*
	 * Without reservations a long small job delays even the first in the
	 * queue.
	 */
	CHECK("backfill:depth=0", "4", head, 0, 30, 0);
	CHECK("backfill:depth=1", "4", head, 0, 10, 20);
}

/*
 * On hosts half as fast as estimates are for, job 1, which should have ended at 10, is
 * believed at 12 to run until 24: so there is room for job 3 before job 2, which has the
 * reservation.  At 16 it would not be done by then.
 */
static void who_outruns_its_estimate_lasts_as_long_again(void **state)
{
	static const char *const policy[] = { "conservative", "backfill",
					      "conservative:slots=kinds" };
	static const struct row rows[] = {
		{ 0, 10, 3, 1, 0 },
		{ 1, 10, 4, 1, 0 },
		{ 12, 12, 1, 1, 0 },
	};
	static const struct row longer[] = {
		{ 0, 10, 3, 1, 0 },
		{ 1, 10, 4, 1, 0 },
		{ 12, 13, 1, 1, 0 },
	};

	(void)state;
	for (int i = 0; i < 3; i++) {
		CHECK(policy[i], "4x2", rows, 0, 36, 12);
		CHECK(policy[i], "4x2", longer, 0, 20, 40);
	}
}

/*
 * A job that outlives the shadow time uses up processors that EASY's head
 * leaves over.
 */
static void extra_is_used_up(void **state)
{
	/*
	 * Job 2 starts at 10 and leaves two processors; jobs 3 and 4 take one
	 * each, and job 5 finds none left; job 6 ends just in time, job 7 a
	 * second too late.
	 */
	static const struct row rows[] = {
		{ 0, 10, 4, 1, 0 }, { 1, 10, 6, 1, 0 }, { 1, 50, 1, 1, 0 },
		{ 1, 50, 1, 1, 0 }, { 1, 50, 1, 1, 0 }, { 1, 9, 1, 1, 0 },
		{ 1, 10, 1, 1, 0 },
	};

	(void)state;
	CHECK("easy", "8", rows, 0, 10, 1, 1, 20, 1, 20);
}

/* How often jobs are to begin anew, and do. */
struct anew {
	unsigned planned, done;
};

static void see_anew(void *data, const struct view *view, const struct event *e)
{
	(void)view;
	((struct anew *)data)->done += e->type == EVENT_REQUEUE;
}

static void see_anew_planned(void *data, const struct view *view,
			     const struct plan *plan)
{
	(void)view;
	for (size_t i = 0; i < plan->nr; i++)
		((struct anew *)data)->planned +=
			plan->entry[i].type == PLAN_REQUEUE;
}

/*
 * Both owners come back at 10, and both jobs begin anew at once: at 20, when one owner leaves,
 * the first of them does, and at 30 the other one.
 */
static void both_begin_anew(void **state)
{
	static const struct row two[] = { { 0, 100, 1, 1, 0 },
					  { 0, 100, 1, 1, 0 } };
	struct anew anew = { 0, 0 };
	const struct sim_observer watch = { see_anew, see_anew_planned, &anew };
	struct sim_result r;

	(void)state;
	test_terms.quiet = 0;
	run_owned("stint:leave=anew,oversubscribe=no,gain=100", "2x1",
		  ACTIVITY_HEAD "10,h1,owner,here\n10,h2,owner,here\n"
				"20,h2,owner,away\n30,h1,owner,away\n",
		  (struct sim_config){ .requeue = true, .observer = &watch },
		  two, 2, &r);
	check_end(&r, 1, 120);
	check_end(&r, 2, 130);
	assert_int_equal(anew.planned, 2);
	assert_int_equal(anew.done, 2);
	sim_result_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_slowest_process_sets_the_rate),
		cmocka_unit_test(a_pool_of_tasks_uses_what_each_host_gives),
		cmocka_unit_test(a_migration_costs_a_standstill),
		cmocka_unit_test(sed_keeps_the_order),
		cmocka_unit_test(a_migration_shortens_the_slice),
		cmocka_unit_test(a_resize_costs_c),
		cmocka_unit_test(what_is_measured),
		cmocka_unit_test(a_processor_that_is_shared_counts_once),
		cmocka_unit_test(slowdown_is_bounded_at_ten_seconds),
		cmocka_unit_test(reservations),
		cmocka_unit_test(who_outruns_its_estimate_lasts_as_long_again),
		cmocka_unit_test(extra_is_used_up),
		cmocka_unit_test_setup_teardown(both_begin_anew, begin_terms,
						end_terms),
	};

	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
