/* test_owners.c - owners who come and go: schedules worked by hand */
#include <errno.h>
#include <math.h>
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
#include "sim/engine/testing.h"
#include "sim/workload/script.h"

#define HEAD ACTIVITY_HEAD

/* The owner's programs take half of the host's core from 100 to 200. */
static void load_slows_who_is_there(void **state)
{
	static const struct row one[] = { { 0, 300, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_owned("spread", "1x1", HEAD "100,h1,load,1\n200,h1,load,0\n",
		  (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.record[0].end, 350 * USEC_PER_SEC);
	check_split(&r, 1, 0, 350, 0, 0, 0);
	sim_result_clear(&r);
}

/*
 * A host takes no guests while its owner is there, nor for a minute after that.
 */
static void a_host_is_closed_until_it_is_quiet(void **state)
{
	static const struct row one[] = { { 10, 100, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_owned("fcfs", "1x1",
		  HEAD
		  "5,h1,owner,here\n30,h1,keyboard,busy\n40,h1,owner,away\n"
		  "50,h1,keyboard,idle\n",
		  (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.record[0].start, 110 * USEC_PER_SEC);
	check_split(&r, 1, 100, 100, 0, 0, 0);
	assert_int_equal(r.owners.returns, 1);
	assert_int_equal(r.owners.disturbed, 0);
	sim_result_clear(&r);
}

/* Note the times of the only host; the last ones at each instant count. */
static void note_times(void *data, const struct view *view,
		       const struct event *e)
{
	usec_t *leave_by = data;

	(void)e;
	leave_by[view->now / (10 * USEC_PER_SEC)] = view->hosts[0].leave_by;
}

/*
 * Of the owner's deadline and that of a drain the earlier one counts, while
 * both hold.
 */
static void first_of_both(void **state)
{
	static const struct row one[] = { { 0, 300, 1, 1, 0 } };
	static const usec_t wanted[] = { 150, 150, 140, 150 };
	char events[] = "110 drain 0 500\n120 drain 0 140\n130 undrain 0\n";
	usec_t by[100] = { 0 };
	const struct sim_observer watch = { .event = note_times, .data = by };
	struct sim_script script;
	struct sim_result r;

	(void)state;
	set_term("give-back", "50");
	if (script_parse(events, strlen(events), "test", &script, NULL) < 0)
		fail();
	run_owned("fcfs", "1x1", HEAD "100,h1,owner,here\n200,h1,owner,away\n",
		  (struct sim_config){ .script = &script, .observer = &watch },
		  one, 1, &r);
	for (int i = 0; i < 4; i++)
		assert_int_equal(by[10 + i], wanted[i] * USEC_PER_SEC);
	sim_result_clear(&r);
	script_clear(&script);
}

/* A guest that stays delays its owner for 100 s, by half. */
static void what_an_owner_bears(void **state)
{
	static const struct row one[] = { { 0, 1000, 1, 1, 0 } };
	static const char script[] = HEAD "100,h1,owner,here\n100,h1,load,1\n"
					  "200,h1,owner,away\n200,h1,load,0\n";
	struct sim_result r;

	(void)state;
	run_owned("fcfs", "1x1", script,
		  (struct sim_config){ .no_terms = true }, one, 1, &r);
	assert_int_equal(r.owners.returns, 1);
	assert_int_equal(r.owners.disturbed, 1);
	assert_int_equal(r.owners.disturbed_most, 1);
	assert_int_equal(r.owners.given_back, 1);
	assert_int_equal(r.owners.give_back_most, 100 * USEC_PER_SEC);
	assert_true(fabs(r.owners.beside - 100) < 1e-9);
	assert_true(fabs(r.owners.waited - 50) < 1e-9);
	sim_result_clear(&r);
}

/* That there are two of them makes it no longer. */
static void time_beside_guests_is_the_owners(void **state)
{
	static const struct row one[] = { { 0, 1000, 2, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_owned("fcfs", "1x1x2",
		  HEAD "100,h1,owner,here\n200,h1,owner,away\n",
		  (struct sim_config){ .no_terms = true }, one, 1, &r);
	assert_true(fabs(r.owners.beside - 100) < 1e-9);
	sim_result_clear(&r);
}

/* The guest stays for 100 s after one return and for 50 s after the other. */
static void the_longest_time_is_told(void **state)
{
	static const struct row one[] = { { 0, 1000, 1, 1, 0 } };
	static const char script[] =
		HEAD "100,h1,owner,here\n200,h1,owner,away\n"
		     "300,h1,owner,here\n350,h1,owner,away\n";
	struct sim_result r;

	(void)state;
	run_owned("fcfs", "1x1", script,
		  (struct sim_config){ .no_terms = true }, one, 1, &r);
	assert_int_equal(r.owners.given_back, 2);
	assert_int_equal(r.owners.give_back_most, 100 * USEC_PER_SEC);
	assert_true(fabs(r.owners.give_back - 150) < 1e-9);
	sim_result_clear(&r);
}

/*
 * Two programs of the owner on one core wait for each other as well: for 100 s
 * each has a third where it had a half.
 */
static void an_owner_waits_for_itself(void **state)
{
	static const struct row one[] = { { 0, 1000, 1, 1, 0 } };
	static const char script[] = HEAD "100,h1,owner,here\n100,h1,load,2\n"
					  "200,h1,owner,away\n200,h1,load,0\n";
	struct sim_result r;

	(void)state;
	run_owned("fcfs", "1x1", script,
		  (struct sim_config){ .no_terms = true }, one, 1, &r);
	assert_true(fabs(r.owners.waited - 200. / 3) < 1e-9);
	sim_result_clear(&r);
	/* The same if the guest stays to the end. */
	run_owned("fcfs", "1x1", HEAD "100,h1,owner,here\n100,h1,load,2\n",
		  (struct sim_config){ .no_terms = true }, one, 1, &r);
	assert_true(fabs(r.owners.beside - 2700) < 1e-6);
	sim_result_clear(&r);
}

/* On two cores a program and a guest have one each, two and two share them. */
static void cores_are_shared(void **state)
{
	static const struct row one[] = { { 0, 1000, 1, 1, 0 } };
	static const struct row two[] = { { 0, 1000, 2, 1, 0 } };
	static const char light[] = HEAD "100,h1,owner,here\n100,h1,load,1\n"
					 "200,h1,owner,away\n200,h1,load,0\n";
	static const char heavy[] = HEAD "100,h1,owner,here\n100,h1,load,2\n"
					 "200,h1,owner,away\n200,h1,load,0\n";
	struct sim_result r;

	(void)state;
	run_owned("fcfs", "1x1x2", light,
		  (struct sim_config){ .no_terms = true }, one, 1, &r);
	assert_true(r.owners.waited == 0);
	sim_result_clear(&r);
	run_owned("fcfs", "1x1x2", heavy,
		  (struct sim_config){ .no_terms = true }, two, 1, &r);
	assert_true(fabs(r.owners.waited - 100) < 1e-9);
	sim_result_clear(&r);
}

/* The owner is disturbed twice on the first day, once on the second. */
static void the_worst_day_is_told(void **state)
{
	static const struct row one[] = { { 0, 200000, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_owned("fcfs", "1x1",
		  HEAD "100,h1,owner,here\n200,h1,owner,away\n"
		       "300,h1,owner,here\n400,h1,owner,away\n"
		       "90000,h1,owner,here\n90100,h1,owner,away\n",
		  (struct sim_config){ .no_terms = true }, one, 1, &r);
	assert_int_equal(r.owners.disturbed, 3);
	assert_int_equal(r.owners.disturbed_most, 2);
	sim_result_clear(&r);
}

/*
 * A guest that came and went before the owner, or moved there and ended, took
 * memory and cache.
 */
static void who_is_gone_has_disturbed(void **state)
{
	static const struct row two[] = { { 0, 100, 1, 1, 0 },
					  { 0, 1000, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_owned("spread", "2x1x1",
		  HEAD "200,h1,owner,here\n300,h1,owner,away\n",
		  (struct sim_config){ 0 }, two, 2, &r);
	assert_int_equal(r.owners.disturbed, 1);
	sim_result_clear(&r);
	/* The first job moves from h1 to h3. */
	run_owned("spread", "3x1x1",
		  HEAD "0,h1,load,0.1\n0,h2,load,0.1\n0,h3,load,0.1\n"
		       "50,h1,owner,here\n60,h1,owner,away\n"
		       "200,h3,owner,here\n300,h3,owner,away\n",
		  (struct sim_config){ 0 }, two, 2, &r);
	assert_int_equal(r.record[0].moves, 1);
	assert_int_equal(r.owners.returns, 2);
	assert_int_equal(r.owners.disturbed, 2);
	sim_result_clear(&r);
}

/*
 * Quiet time begins with the last sign of use: here the owner, when a key was
 * touched.
 */
static void quiet_since_the_last_that_was_there(void **state)
{
	static const struct row one[] = { { 10, 100, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_owned("fcfs", "1x1",
		  HEAD
		  "5,h1,owner,here\n10,h1,keyboard,busy\n30,h1,keyboard,idle\n"
		  "50,h1,owner,away\n",
		  (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.record[0].start, 110 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/* Half a core of two is a quarter of each. */
static void load_is_that_of_a_core(void **state)
{
	static const struct row one[] = { { 10, 100, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	set_term("load", "0.3");
	run_owned("fcfs", "1x1x2", HEAD "0,h1,load,0.5\n500,h1,load,0\n",
		  (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.record[0].start, 10 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/*
 * A guest that has no other host stands still at once, and one that has is
 * gone.
 */
static void an_owner_who_is_given_way_bears_nothing(void **state)
{
	static const struct row one[] = { { 0, 1000, 1, 1, 0 } };
	static const char script[] = HEAD "100,h1,owner,here\n100,h1,load,1\n"
					  "200,h1,owner,away\n200,h1,load,0\n";
	static const char *const machine[] = { "1x1", "2x1x1" };

	(void)state;
	set_term("disturb", "1000");
	set_term("give-back", "1d"); /* guests that stand still have not left */
	for (int i = 0; i < 2; i++) {
		struct sim_result r;

		run_owned("spread", machine[i], script,
			  (struct sim_config){ 0 }, one, 1, &r);
		assert_int_equal(r.owners.returns, 1);
		assert_int_equal(r.owners.given_back, 1);
		assert_int_equal(r.owners.give_back_most, 0);
		assert_true(r.owners.beside == 0 && r.owners.waited == 0);
		check_split(&r, 1, 0, 1000, 0, i ? 0 : 100, 0);
		assert_int_equal(r.record[0].moves, i);
		sim_result_clear(&r);
	}
}

/* Little load from 10 on, and then less: quiet for a minute at 70. */
static void less_load_is_no_news_to_harvest(void **state)
{
	static const struct row one[] = { { 0, 300, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_owned("harvest", "1x1",
		  HEAD "0,h1,load,1\n10,h1,load,0.1\n50,h1,load,0.05\n",
		  (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.record[0].start, 70 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/*
 * The host's terms let the guest stay: nobody but harvest resumes what harvest
 * froze.
 */
static void harvest_gives_way_to_load(void **state)
{
	static const struct row one[] = { { 0, 300, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_owned("harvest:recruit=5", "1x1",
		  HEAD "100,h1,load,1\n150,h1,load,2\n200,h1,load,0\n",
		  (struct sim_config){ 0 }, one, 1, &r);
	check_split(&r, 1, 5, 300, 0, 100, 0);
	sim_result_clear(&r);
}

/*
 * The owner of h1, who is user 7, comes while one job of user 7 and one of user
 * 8 run.
 */
#define OWN_RETURN                                                          \
	HEAD "0,h1,own,7\n50,h1,owner,here\n60,h1,owner,away\n70,h1,owner," \
	     "here\n400,h1,owner,away\n"

static void an_owners_job_is_no_guest_at_home(void **state)
{
	static const char *const all[] = { "stint", "dynamite", "dynamic-sed",
					   "harvest:recruit=1", "spread" };
	static const struct row own[] = { { 0, 300, 1, 7, 0 } };
	static const struct row other[] = { { 0, 300, 1, 8, 0 } };
	struct sim_result r;

	(void)state;
	set_term("quiet", "0");
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		run_owned(all[i], "1x1", OWN_RETURN, (struct sim_config){ 0 },
			  own, 1, &r);
		/* harvest waits until a host has been quiet for a second. */
		if (r.owners.disturbed || r.split[0].frozen ||
		    r.split[0].queue > USEC_PER_SEC ||
		    r.split[0].run != 300 * USEC_PER_SEC)
			fail_msg("%s: the owner's own job is a guest", all[i]);
		assert_int_equal(r.owners.returns, 2);
		sim_result_clear(&r);
		run_owned(all[i], "1x1", OWN_RETURN, (struct sim_config){ 0 },
			  other, 1, &r);
		assert_int_equal(r.owners.disturbed, 2);
		assert_true(r.record[0].end > 600 * USEC_PER_SEC);
		sim_result_clear(&r);
	}
}

/*
 * The job may start there while guests may not, unless the policy is told not
 * to do that.
 */
static void an_owners_job_starts_at_home(void **state)
{
	static const struct row both[] = { { 10, 50, 1, 8, 0 },
					   { 10, 50, 1, 7, 0 } };
	static const struct row own[] = { { 10, 50, 1, 7, 0 } };
	struct sim_result r;

	(void)state;
	run_owned("stint", "1x1",
		  HEAD "0,h1,own,7\n0,h1,owner,here\n100,h1,owner,"
		       "away\n",
		  (struct sim_config){ 0 }, own, 1, &r);
	assert_int_equal(r.record[0].start, 10 * USEC_PER_SEC);
	sim_result_clear(&r);
	run_owned("stint:oversubscribe=no", "1x1",
		  HEAD "0,h1,own,7\n0,h1,owner,here\n100,h1,owner,away\n",
		  (struct sim_config){ 0 }, own, 1, &r);
	assert_int_equal(r.record[0].start, 10 * USEC_PER_SEC);
	sim_result_clear(&r);
	run_owned("stint:home=no", "1x1",
		  HEAD "0,h1,own,7\n0,h1,owner,here\n100,h1,owner,away\n",
		  (struct sim_config){ 0 }, own, 1, &r);
	assert_int_equal(r.record[0].start, 160 * USEC_PER_SEC);
	sim_result_clear(&r);
	/* The jobs start one after the other, in the order of the queue. */
	run_owned("stint", "1x1",
		  HEAD "0,h1,own,7\n0,h1,owner,here\n100,h1,owner,away\n",
		  (struct sim_config){ 0 }, both, 2, &r);
	assert_int_equal(r.record[0].start, 160 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/* Its owner is back before the guest goes on: this time there is nobody to wait for. */
static void who_stands_still_is_waited_for_once(void **state)
{
	static const struct row one[] = { { 0, 1000, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	set_term("disturb", "1000");
	set_term("give-back", "1d");
	run_owned("spread", "1x1",
		  HEAD
		  "100,h1,owner,here\n200,h1,owner,away\n200,h1,owner,here\n"
		  "300,h1,owner,away\n",
		  (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.owners.returns, 2);
	assert_int_equal(r.owners.disturbed, 1);
	assert_int_equal(r.owners.given_back, 1);
	sim_result_clear(&r);
}

/* A host that its owner keeps busy for good opens to nobody; one that is open for an hour
 * a week does. */
static void who_never_can_start_is_told(void **state)
{
	static const struct row one[] = { { 10, 100, 1, 1, 0 } };
	struct activity a = read_activity(HEAD "0,h1,load,1\n");
	struct workload *w;
	struct sim_config c = { .policy = "fcfs",
				.activity = &a,
				.terms = &test_terms };
	struct sim_result r;
	struct error err;

	(void)state;
	set_term("load", "0.3");
	w = make_workload("poisson", 1, 0.5, 1, NULL);
	c.workload = w;
	assert_int_equal(sim_run(&c, &r, &err), -EDEADLK);
	assert_non_null(strstr(err.text, "1 of 1 hosts stay down, drained or"));
	workload_destroy(w);
	activity_clear(&a);
	set_term("hours", "sun 3-4");
	run_owned("fcfs", "1x1", HEAD "0,h1,load,0.1\n",
		  (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.record[0].start, (6 * 24 + 3) * 3600 * USEC_PER_SEC);
	sim_result_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(load_slows_who_is_there,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(
			a_host_is_closed_until_it_is_quiet, begin_terms,
			end_terms),
		cmocka_unit_test_setup_teardown(first_of_both, begin_terms,
						end_terms),
		cmocka_unit_test_setup_teardown(what_an_owner_bears,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(
			time_beside_guests_is_the_owners, begin_terms,
			end_terms),
		cmocka_unit_test_setup_teardown(the_longest_time_is_told,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(an_owner_waits_for_itself,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(cores_are_shared, begin_terms,
						end_terms),
		cmocka_unit_test_setup_teardown(the_worst_day_is_told,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(who_is_gone_has_disturbed,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(
			quiet_since_the_last_that_was_there, begin_terms,
			end_terms),
		cmocka_unit_test_setup_teardown(load_is_that_of_a_core,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(
			an_owner_who_is_given_way_bears_nothing, begin_terms,
			end_terms),
		cmocka_unit_test_setup_teardown(less_load_is_no_news_to_harvest,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(harvest_gives_way_to_load,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(
			an_owners_job_is_no_guest_at_home, begin_terms,
			end_terms),
		cmocka_unit_test_setup_teardown(an_owners_job_starts_at_home,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(
			who_stands_still_is_waited_for_once, begin_terms,
			end_terms),
		cmocka_unit_test_setup_teardown(who_never_can_start_is_told,
						begin_terms, end_terms),
	};

	return cmocka_run_group_tests_name("owners", tests, NULL, NULL);
}
