/* test_dynamic.c - Dynamic-SED by hand: when a process is chosen, and where it goes
 * (Schnor 1997 section 5.3) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/activity.h"
#include "model/terms.h"
#include "sim/engine/test_list.h"
#include "sim/workload/script.h"

#define HEAD "time,host,what,value\n"

/* How the nr-th process fares of those that come. */
static struct sim_record run_rows(const char *policy, const char *machine,
				  const char *script, struct sim_config c,
				  const struct row *row, int64_t nr)
{
	struct owner_terms terms;
	struct sim_result r;
	struct activity a;
	struct error err;
	char *text = strdup(script);
	struct sim_record ret;

	if (activity_parse(text, strlen(text), "test", &a, &err) < 0)
		fail_msg("%s", err.text);
	owner_terms_init(&terms);
	terms.load = LOAD_ANY;
	c.activity = &a;
	c.terms = &terms;
	simulate_list(policy, machine, c, row, nr, &r);
	ret = r.record[nr - 1];
	sim_result_clear(&r);
	owner_terms_clear(&terms);
	activity_clear(&a);
	free(text);
	return ret;
}

/* How a process fares that comes at 10 and needs a minute. */
static struct sim_record run_with(const char *policy, const char *machine,
				  const char *script, struct sim_config c)
{
	static const struct row one[] = { { 10, 60, 1, 1, 0 } };

	return run_rows(policy, machine, script, c, one, 1);
}

/* The same of one that needs so much memory. */
static struct sim_record run(const char *policy, const char *machine,
			     const char *script, uint64_t memory)
{
	return run_with(policy, machine, script,
			(struct sim_config){ .rank_memory = memory });
}

/* Moves of a process that begins on the fast host; nobody is in its delay class but
 * it, as the other host is four times as slow. */
static unsigned moves(const char *policy, const char *script)
{
	return run(policy, "1x1,1x4", script, 0).moves;
}

/* (5.8): the delay must fall by more than the host's own factor, which is 1. */
static void without_users_a_gain_has_to_be_large(void **state)
{
	(void)state;
	assert_int_equal(
		moves("dynamic-sed:every=10,c1=2", HEAD "15,h1,load,3.5\n"), 0);
	assert_int_equal(
		moves("dynamic-sed:every=10,c1=2", HEAD "15,h1,load,4.5\n"), 1);
}

/*
 * The third, on the slow host, is delayed beyond its class, the fourth; on a fast one it
 * would not be, but who is there was promised the first.  Where nobody is it moves.
 */
static void who_is_there_keeps_what_it_was_promised(void **state)
{
	static const struct row rows[] = { { 10, 500, 1, 1, 0 },
					   { 10, 500, 1, 1, 0 },
					   { 11, 60, 1, 1, 0 } };
	static const struct row left[] = { { 10, 500, 1, 1, 0 },
					   { 10, 20, 1, 1, 0 },
					   { 11, 60, 1, 1, 0 } };
	static const char policy[] = "dynamic-sed:every=10,c1=2";
	static const char script[] =
		HEAD "0,h1,load,0\n0,h2,load,0\n15,h3,load,0.3\n";

	(void)state;
	assert_int_equal(run_rows(policy, "2x1,1x4", script,
				  (struct sim_config){ 0 }, rows, 3)
				 .moves,
			 0);
	assert_int_equal(run_rows(policy, "2x1,1x4", script,
				  (struct sim_config){ 0 }, left, 3)
				 .moves,
			 1);
}

/*
 * A look at which the process is no candidate lowers its counter by one: 1, 2,
 * 1, 2 of 3; and by no more: 1, 2, 1, 2, 3, at which it goes; it comes back later.
 */
static void the_count_falls(void **state)
{
	(void)state;
	assert_int_equal(moves("dynamic-sed:every=10,c1=3",
			       HEAD "15,h1,load,9\n35,h1,load,0\n"
				    "45,h1,load,9\n55,h1,load,0\n"),
			 0);
	assert_int_equal(moves("dynamic-sed:every=10,c1=3",
			       HEAD "15,h1,load,9\n35,h1,load,0\n"
				    "45,h1,load,9\n65,h1,load,0\n"),
			 2);
	assert_int_equal(
		moves("dynamic-sed:every=10,c1=3", HEAD "15,h1,load,9\n"), 1);
}

/*
 * If there are users fewer looks are enough, and any host without users that is
 * not slower than d_max is good enough.
 */
static void users_drive_it_away(void **state)
{
	(void)state;
	assert_int_equal(moves("dynamic-sed:every=10,c1=50,c2=2",
			       HEAD "15,h1,users,1\n"),
			 1);
	assert_int_equal(moves("dynamic-sed:every=10,c1=50,c2=2",
			       HEAD "15,h1,users,1\n15,h2,users,1\n"),
			 0);
}

/*
 * It has left users at the third look, at 40; where it is then they come, too, and three looks
 * later it has ended.
 */
static void who_has_moved_is_counted_anew(void **state)
{
	(void)state;
	assert_int_equal(run("dynamic-sed:every=10,c1=50,c2=3", "3x1",
			     HEAD "15,h1,users,1\n45,h2,users,1\n", 0)
				 .moves,
			 1);
	assert_int_equal(run("dynamic-sed:every=10,c1=50,c2=2", "3x1",
			     HEAD "15,h1,users,1\n35,h2,users,1\n", 0)
				 .moves,
			 2);
}

static void count_moves(void *data, const struct view *view,
			const struct plan *plan)
{
	unsigned *moves = data;

	for (size_t i = 0; i < plan->nr; i++)
		*moves += plan->entry[i].type == PLAN_MIGRATE;
}

/* Its move away from users begins at the first look, at 20, and takes until 55: nobody looks at it
 * meanwhile, and where it is then there are none. */
static void who_is_under_way_is_not_looked_at(void **state)
{
	unsigned planned = 0;
	const struct sim_observer watch = { .plan = count_moves,
					    .data = &planned };
	const struct sim_config c = { .rank_memory = 35000000,
				      .costs = { .link = 1000000 },
				      .observer = &watch };
	struct sim_record r;

	(void)state;
	r = run_with("dynamic-sed:every=10,c1=50,c2=1", "3x1",
		     HEAD "15,h1,users,1\n", c);
	assert_int_equal(planned, 1);
	assert_int_equal(r.end, (70 + 35) * USEC_PER_SEC);
}

/* Its owner's programs leave less than 256 MiB of a GiB, or more. */
static void short_of_memory_it_leaves(void **state)
{
	static const char policy[] = "dynamic-sed:every=10,c1=2";

	(void)state;
	assert_int_equal(
		run(policy, "2x1x1x1G", HEAD "15,h1,memory,700M\n", 0).moves,
		0);
	assert_int_equal(
		run(policy, "2x1x1x1G", HEAD "15,h1,memory,800M\n", 0).moves,
		1);
}

/* It leaves users at 30, with 20 of its 60 s done: not for the host of factor 4, that has
 * too little memory for it, but for that of 5; for the former if it needs less. */
static void away_from_users_memory_comes_first(void **state)
{
	static const char policy[] = "dynamic-sed:every=10,c2=2";
	static const char machine[] = "1x1x1x2G,1x4x1x300M,1x5x1x2G";
	static const char script[] = HEAD "15,h1,users,1\n";

	(void)state;
	assert_int_equal(run(policy, machine, script, 500000000).end,
			 (30 + 40 * 5) * USEC_PER_SEC);
	assert_int_equal(run(policy, machine, script, 1000000).end,
			 (30 + 40 * 4) * USEC_PER_SEC);
}

/* A user's host counts as one with half a process more: 1.5 against 1.25; where nothing is
 * held back it is the faster one. */
static void load_is_held_back_for_users(void **state)
{
	static const char script[] = HEAD "5,h1,users,1\n";

	(void)state;
	assert_int_equal(
		run("dynamic-sed:users=3", "1x1,1x1.25", script, 0).end,
		85 * USEC_PER_SEC);
	assert_int_equal(run("dynamic-sed:users=3,load-reserv=0", "1x1,1x1.25",
			     script, 0)
				 .end,
			 70 * USEC_PER_SEC);
}

/* Of hosts without users the least delayed one, not the first. */
static void away_from_users_to_the_fastest(void **state)
{
	(void)state;
	assert_int_equal(run("dynamic-sed:every=10,c2=2", "1x1,1x3,1x2",
			     HEAD "15,h1,users,1\n", 0)
				 .end,
			 (30 + 40 * 2) * USEC_PER_SEC);
}

/* A user's host with 600 MiB free keeps 256 MiB and 512 MiB for its users. */
static void memory_is_held_back_for_users(void **state)
{
	static const char machine[] = "1x1x1x1G,1x2x1x1G";
	static const char script[] = HEAD "5,h1,memory,424M\n";
	static const char users[] = HEAD "5,h1,memory,424M\n5,h1,users,1\n";

	(void)state;
	assert_int_equal(run("dynamic-sed:users=3", machine, script, 0).end,
			 70 * USEC_PER_SEC);
	assert_int_equal(run("dynamic-sed:users=3", machine, users, 0).end,
			 130 * USEC_PER_SEC);
	assert_int_equal(
		run("dynamic-sed:users=3,mem-reserv=0", machine, users, 0).end,
		70 * USEC_PER_SEC);
}

/* Class 1 reaches up to a delay of 1.5. */
static void within_its_class_it_stays(void **state)
{
	static const char policy[] = "dynamic-sed:every=10,c1=2";

	(void)state;
	assert_int_equal(run(policy, "2x1", HEAD "15,h1,load,0.4\n", 0).moves,
			 0);
	assert_int_equal(run(policy, "2x1", HEAD "15,h1,load,0.6\n", 0).moves,
			 1);
}

/* The other host has 300 MB: 256 MiB are left besides what it needs, or not. */
static void memory_is_left_in_its_class(void **state)
{
	static const char policy[] = "dynamic-sed:every=10,c1=2";
	static const char script[] =
		HEAD "0,h1,load,0\n5,h2,memory,700M\n15,h1,load,0.6\n";

	(void)state;
	assert_int_equal(run(policy, "2x1x1x1G", script, 100 << 20).moves, 0);
	assert_int_equal(run(policy, "2x1x1x1G", script, 20 << 20).moves, 1);
}

/*
 * The first is on its way from h1 to h2 from 30 to 65.  The second, which comes at 40, begins
 * on h1, which delays it by 2.6 until the first has left, and by 1.6 then.
 */
static void who_is_under_way_counts_where_it_goes(void **state)
{
	static const struct row two[] = { { 10, 60, 1, 1, 0 },
					  { 40, 60, 1, 1, 0 } };
	const struct sim_config c = { .rank_memory = 35000000,
				      .costs = { .link = 1000000 } };

	(void)state;
	assert_int_equal(run_rows("dynamic-sed:every=10,c1=2", "2x1,1x2",
				  HEAD "15,h1,load,0.6\n", c, two, 2)
				 .end,
			 (usec_t)((65 + (60 - 25 / 2.6) * 1.6) * USEC_PER_SEC));
}

/*
 * The same, but where the first would go fails at 50: it is on h1 from 65 on as before, and
 * the second, which comes at 67, begins on h3, which delays it less.
 */
static void who_could_not_go_counts_where_it_is(void **state)
{
	static const struct row two[] = { { 10, 60, 1, 1, 0 },
					  { 67, 60, 1, 1, 0 } };
	char events[] = "50 down 1\n";
	struct sim_config c = { .rank_memory = 35000000,
				.costs = { .link = 1000000 } };
	struct sim_script script;

	(void)state;
	assert_int_equal(
		script_parse(events, strlen(events), "test", &script, NULL), 0);
	c.script = &script;
	assert_int_equal(run_rows("dynamic-sed:every=10,c1=2", "2x1,1x2",
				  HEAD "15,h1,load,0.6\n", c, two, 2)
				 .end,
			 (67 + 2 * 60) * USEC_PER_SEC);
	script_clear(&script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_users_a_gain_has_to_be_large),
		cmocka_unit_test(who_is_there_keeps_what_it_was_promised),
		cmocka_unit_test(the_count_falls),
		cmocka_unit_test(users_drive_it_away),
		cmocka_unit_test(who_has_moved_is_counted_anew),
		cmocka_unit_test(who_is_under_way_is_not_looked_at),
		cmocka_unit_test(short_of_memory_it_leaves),
		cmocka_unit_test(away_from_users_memory_comes_first),
		cmocka_unit_test(load_is_held_back_for_users),
		cmocka_unit_test(away_from_users_to_the_fastest),
		cmocka_unit_test(memory_is_held_back_for_users),
		cmocka_unit_test(who_is_under_way_counts_where_it_goes),
		cmocka_unit_test(who_could_not_go_counts_where_it_is),
		cmocka_unit_test(within_its_class_it_stays),
		cmocka_unit_test(memory_is_left_in_its_class),
	};

	return cmocka_run_group_tests_name("dynamic", tests, NULL, NULL);
}
