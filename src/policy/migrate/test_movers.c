/*
 * test_movers.c - stint and dynamite by hand, pass by pass: for how long a job is thought to
 * run, how many moves it may make, who is on its way
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "policy/policies.h"

#include "policy/migrate/test_pass.h" /* its view and plan are global */

static struct policy *decider;

static int movers_begin(void **state)
{
	decider = NULL;
	return pass_begin(state);
}

static int movers_end(void **state)
{
	policy_destroy(decider);
	return pass_end(state);
}

static void make_policy(const char *spec)
{
	struct error err;

	if (policy_create(spec, 1, &view, &decider, &err) < 0)
		fail_msg("%s", err.text);
}

static void pass_at(int second)
{
	view.now = second * SEC;
	plan_reset(&plan, &view);
	policy_decide(decider, &view, &plan);
}

/* Is there a move in the last plan? */
static bool moves(void)
{
	for (size_t i = 0; i < plan.nr; i++)
		if (plan.entry[i].type == PLAN_MIGRATE)
			return true;
	return false;
}

/* A job of one rank on the first host begins at 50, and is thought to run for 100 s. */
static void one_of_100_s(void)
{
	const uint32_t on = 0;
	struct job *j = pass_arrive(1, 1);

	j->estimate = 100 * SEC;
	model_apply(&view, &(struct event){ .type = EVENT_START,
					    .at = view.now,
					    .job = j,
					    .n = 1,
					    .hosts = &on });
}

/*
 * At 1000 load comes to its host.  By its estimate it should be over; as it is not, it is
 * taken to run for as long again as it has run, and moves.
 */
static void who_outlives_its_estimate_moves(void **state)
{
	(void)state;
	make_policy("stint");
	one_of_100_s();
	pass_at(60);
	assert_false(moves());
	host[0].load = 8;
	pass_at(1000);
	pass_at(1100);
	assert_true(moves());
}

/* Two seconds before its estimate is over nothing is worth a move. */
static void who_ends_soon_stays(void **state)
{
	(void)state;
	make_policy("stint:fixed=60,still=5");
	one_of_100_s();
	host[0].load = 8;
	pass_at(148);
	pass_at(149);
	assert_false(moves());
}

/* What the policy remembers of its only job: how many moves it may make. */
static double budget(void)
{
	double budget = -1;
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	decider->ops->save(decider, &view, f);
	fclose(f);
	text[n - 1] = '\0';
	assert_int_equal(
		sscanf(strrchr(text, '\n') + 1, "%*d %*d %lg", &budget), 1);
	free(text);
	return budget;
}

/* It has none left at 60; with one a minute and rank four ranks have four at 120. */
static void each_rank_may_move_so_often(void **state)
{
	static const uint32_t on[] = { 0, 0, 1, 2 };
	static const char left[] = "0 10 0.1\n1 -1 0 60000000\n";
	struct error err;

	(void)state;
	make_policy("stint:moves=60,fixed=1000,still=10");
	pass_runs(1, 4, on);
	host[0].load = host[1].load = host[2].load = 8;
	view.now = 60 * SEC;
	if (decider->ops->load(decider, &view, left, &err) < 0)
		fail_msg("%s", err.text);
	pass_at(120);
	assert_false(moves());
	assert_true(budget() > 3.999 && budget() < 4.001);
	/* No more than 4 and 2 a rank. */
	pass_at(3600);
	assert_true(budget() <= 12);
}

/*
 * Three ranks on two cores are too many, 1.5 a core of 1.2, and two are not: while the first is on
 * its way nobody else leaves.
 */
static void who_is_on_its_way_is_gone(void **state)
{
	static const uint32_t on[] = { 0, 0, 0 };

	(void)state;
	make_policy("dynamite:every=5");
	pass_runs(1, 3, on);
	pass_at(50);
	pass_check_plan("wake 55;");
	pass_at(55);
	assert_true(moves());
	pass_at(60);
	pass_check_plan("wake 65;");
}

/* The same, but at 57 it is known to have stayed: at 60 there still are three. */
static void who_could_not_go_is_there(void **state)
{
	static const uint32_t on[] = { 0, 0, 0 };
	struct event e = { .type = EVENT_MIGRATE, .at = 57 * SEC, .host = 0 };

	(void)state;
	make_policy("dynamite:every=5");
	e.job = pass_runs(1, 3, on);
	pass_at(50);
	pass_at(55);
	assert_int_equal(plan.entry[0].type, PLAN_MIGRATE);
	e.rank = plan.entry[0].ranks[0];
	view.now = e.at;
	policy_event(decider, &view, &e);
	pass_at(60);
	assert_true(moves());
}

/*
 * There is one other host, and a move there fails at 1101: it is looked at again when the
 * driver would try it again.
 */
static void where_a_move_failed_none_goes_for_a_while(void **state)
{
	struct event e = { .type = EVENT_MIGRATE, .at = 1101 * SEC };

	(void)state;
	make_policy("stint");
	one_of_100_s();
	for (int h = 2; h < HOSTS; h++)
		host[h].up = false;
	host[0].load = 8;
	pass_at(1000);
	pass_at(1100);
	pass_check_plan("migrate job 1 rank 0 to 1;");
	e.job = plan.entry[0].job;
	view.now = e.at;
	policy_event(decider, &view, &e);
	pass_at(1102);
	pass_check_plan("wake 1112;");
	pass_at(1111);
	pass_check_plan("wake 1112;");
	pass_at(1112);
	pass_at(1212);
	pass_check_plan("migrate job 1 rank 0 to 1;");
}

/*
 * Only both ranks together make the job faster, 4.5 times for what is taken to be 100 s more: that
 * is worth two moves of 30 s, and not two of 50.
 */
static void two_moves_cost_twice(void **state)
{
	static const uint32_t on[] = { 0, 1 };

	(void)state;
	make_policy("stint:fixed=0,still=50");
	pass_runs(1, 2, on);
	host[0].load = host[1].load = 8;
	pass_at(150);
	assert_int_equal(plan.nr, 0);
	policy_destroy(decider);
	make_policy("stint:fixed=0,still=30");
	pass_at(150);
	assert_int_equal(plan.nr, 1); /* when it has lasted for long enough */
	assert_int_equal(plan.entry[0].type, PLAN_WAKE);
	/* Of 3.5 of 4.5 s that are saved two moves take 30 each, and a bit. */
	assert_in_range(plan.entry[0].at, (150 + 77) * SEC, (150 + 78) * SEC);
}

/* Both ranks have to move; where there is one move left for them, neither does. */
static void who_has_no_moves_left_stays(void **state)
{
	static const char *const left[] = { "0 0 0\n1 -1 1.5 50000000\n",
					    "0 0 0\n1 -1 2.5 50000000\n" };
	static const uint32_t on[] = { 0, 1 };

	(void)state;
	pass_runs(1, 2, on);
	host[0].load = host[1].load = 8;
	for (int i = 0; i < 2; i++) {
		struct error err;

		make_policy("stint:fixed=0,still=0,moves=0");
		if (decider->ops->load(decider, &view, left[i], &err) < 0)
			fail_msg("%s", err.text);
		pass_at(150);
		pass_at(160);
		assert_int_equal(moves(), i);
		assert_true(budget() == (i ? 0.5 : 1.5));
		if (!i)
			policy_destroy(decider);
	}
}

/* 100 MB each need 4 s beside another one that leaves the same host, and 2 s alone. */
/* In milliseconds. */
static int last(const struct job *j)
{
	return (int)(flights_last(&flights, j) * 1000 + .5);
}

static void who_leaves_together_shares_the_link(void **state)
{
	struct job *j = pass_runs(1, 2, (uint32_t[]){ 2, 2 });
	struct event over = {
		.type = EVENT_MIGRATE, .job = j, .rank = 0, .host = 3
	};
	bool seen;

	(void)state;
	j->memory = 100 * MB;
	plan_reset(&plan, &view);
	plan_migrate(&plan, j, 0, 3, (struct because){ .reason = NULL });
	plan_migrate(&plan, j, 1, 4, (struct because){ .reason = NULL });
	flights_note(&flights, &plan, 0);
	assert_int_equal(flights_from(&flights, 2), 2);
	view.now += 4 * SEC;
	over.at = view.now;
	flights_event(&flights, &view, &over);
	assert_int_equal(
		(int)(flights_last_from(&flights, j, 2, &seen) * 1000 + .5),
		2000);
	assert_true(seen);
	assert_int_equal(flights_from(&flights, 2), 1);
	assert_int_equal(last(j), 2000);
}

static void moves_seen(struct job *j, uint32_t rank,
		       const struct rank_seen *seen)
{
	const struct event e = { .type = EVENT_MIGRATE,
				 .at = view.now,
				 .job = j,
				 .rank = rank,
				 .host = j->hosts[rank],
				 .seen = *seen };

	model_apply(&view, &e);
}

static int still(const struct job *j)
{
	return (int)(flights_still(&flights, j) * 1000 + .5);
}

/*
 * 100 MB at 100 MB a second, of a rank that writes: what it writes meanwhile is sent again, at
 * most six times as much.  It stands still as it did, and where that is not known as its
 * engine had expected.
 */
static void what_a_rank_writes_is_sent_again(void **state)
{
	struct job *j = pass_runs(1, 2, (uint32_t[]){ 2, 2 });
	int fixed, learnt;

	(void)state;
	j->memory = 100 * MB;
	fixed = last(j) - 1000;
	learnt = still(j);
	moves_seen(j, 0, &(struct rank_seen){ .predicted = SEC });
	assert_int_equal(last(j), fixed + 1000);
	assert_int_equal(still(j), 1000);
	moves_seen(j, 1, &(struct rank_seen){ .stood = 2 * SEC });
	assert_int_equal(still(j), 2000);
	moves_seen(j, 0,
		   &(struct rank_seen){ .stood = SEC / 2,
					.written = 100 * MB,
					.written_in = 2 * SEC });
	assert_int_equal(last(j), fixed + 2000);
	moves_seen(j, 0, &(struct rank_seen){ .stood = SEC / 4 });
	assert_int_equal(last(j), fixed + 2000); /* as it was seen before */
	moves_seen(j, 1,
		   &(struct rank_seen){ .stood = SEC / 4,
					.written = 900 * MB,
					.written_in = SEC });
	assert_int_equal(last(j), fixed + 6000);
	assert_int_equal(still(j), 250);
	/* It begins anew, and is another. */
	model_apply(&view, &(struct event){ .type = EVENT_REQUEUE,
					    .at = view.now,
					    .job = j });
	assert_int_equal(last(j), fixed + 1000);
	assert_int_equal(still(j), learnt);
}

/* A move of that rank to host 3 is planned, and over in that time. */
static void moves_in(struct job *j, uint32_t rank, usec_t time)
{
	struct event over = {
		.type = EVENT_MIGRATE, .job = j, .rank = rank, .host = 3
	};

	plan_reset(&plan, &view);
	plan_migrate(&plan, j, rank, 3, (struct because){ .reason = NULL });
	flights_note(&flights, &plan, 0);
	view.now += time;
	over.at = view.now;
	flights_event(&flights, &view, &over);
}

/*
 * Whatever its memory and what it writes would make expected: a job's moves take as long as
 * its moves did, the newest counting three tenths; those of others do not.
 */
static void moves_last_as_the_job_s_did(void **state)
{
	struct job *j = pass_runs(1, 2, (uint32_t[]){ 2, 2 });
	struct job *other = pass_runs(2, 1, (uint32_t[]){ 4 });
	int others;

	(void)state;
	j->memory = other->memory = 1000 * MB;
	others = last(other) - 1000 * flights.fixed;
	moves_in(j, 0, 2 * SEC);
	assert_int_equal(last(j), 2000);
	moves_in(j, 1, 1 * SEC);
	assert_int_equal(last(j), 1700);
	j->memory *= 2;
	assert_int_equal(last(j), 3400);
	j->memory /= 4;
	assert_int_equal(last(j), 1700);
	j->memory *= 2;
	assert_int_equal(last(other) - 1000 * flights.fixed, others);
	flights_event(&flights, &view,
		      &(struct event){ .type = EVENT_END, .job = j });
	assert_int_equal(last(j) - 1000 * flights.fixed, others);
}

/* A policy's text, read by the next controller; how long the job's moves took is in it. */
static int last_loaded(const struct job *j, const char *text)
{
	struct flights loaded = { .rate = flights.rate };
	int r = flights_load(&loaded, &view, &text);

	if (!r)
		r = (int)(flights_last(&loaded, j) * 1000 + .5);
	flights_clear(&loaded);
	return r;
}

static void how_long_a_job_s_moves_took_is_saved(void **state)
{
	struct job *j = pass_runs(1, 1, (uint32_t[]){ 2 });
	char *saved;
	size_t size;
	FILE *f = open_memstream(&saved, &size);

	(void)state;
	j->memory = 100 * MB;
	moves_in(j, 0, 7 * SEC);
	flights_save(&flights, f);
	fclose(f);
	assert_int_equal(last_loaded(j, saved), 7000);
	free(saved);
	/* One of before that was kept has none; of a job that has gone it is dropped. */
	assert_int_equal(last_loaded(j, "0 1 1\n"), 2000);
	assert_int_equal(last_loaded(j, "0 1 1\ntook 99 5 1\n"), 2000);
	assert_int_equal(last_loaded(j, "0 1 1\ntook 1 -1 1\n"), -EINVAL);
	assert_int_equal(last_loaded(j, "0 1 1\ntook 1 1 0\n"), -EINVAL);
}

#define MOVERS_TEST(fn) \
	cmocka_unit_test_setup_teardown(fn, movers_begin, movers_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MOVERS_TEST(who_outlives_its_estimate_moves),
		MOVERS_TEST(who_ends_soon_stays),
		MOVERS_TEST(each_rank_may_move_so_often),
		MOVERS_TEST(who_is_on_its_way_is_gone),
		MOVERS_TEST(who_could_not_go_is_there),
		MOVERS_TEST(where_a_move_failed_none_goes_for_a_while),
		MOVERS_TEST(two_moves_cost_twice),
		MOVERS_TEST(who_has_no_moves_left_stays),
		MOVERS_TEST(who_leaves_together_shares_the_link),
		MOVERS_TEST(what_a_rank_writes_is_sent_again),
		MOVERS_TEST(moves_last_as_the_job_s_did),
		MOVERS_TEST(how_long_a_job_s_moves_took_is_saved),
	};

	return cmocka_run_group_tests_name("movers", tests, NULL, NULL);
}
