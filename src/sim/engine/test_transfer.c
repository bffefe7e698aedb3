/* test_transfer.c - moves that take their time: schedules worked by hand */
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

/* 100 MB at 10 MB/s take ten seconds; each move costs two more. */
static const struct sim_costs slow = { .migrate = 3 * USEC_PER_SEC,
				       .migrate_rank = 2 * USEC_PER_SEC,
				       .link = 10000000 };

/* Nobody who has moved is on a host that is down. */
static void check_landed(void *data, const struct view *view,
			 const struct event *e)
{
	(void)data;
	if (e->type == EVENT_MIGRATE)
		assert_true(view->hosts[e->job->hosts[e->rank]].up);
}

static void run_on(const char *policy, const char *machine, const char *events,
		   struct sim_costs costs, const struct row *row, int64_t nr,
		   struct sim_result *ret)
{
	const struct sim_observer watch = { .event = check_landed };
	struct sim_config c = { .costs = costs,
				.rank_memory = 100000000,
				.observer = &watch };
	struct sim_script script;
	char *text = strdup(events);

	assert_int_equal(
		script_parse(text, strlen(text), "test", &script, NULL), 0);
	c.script = &script;
	simulate_list(policy, machine, c, row, nr, ret);
	script_clear(&script);
	free(text);
}

static void run_drained(const char *events, struct sim_costs costs,
			const struct row *row, int64_t nr,
			struct sim_result *ret)
{
	run_on("spread", "2x1x2", events, costs, row, nr, ret);
}

static void a_move_takes_its_time(void **state)
{
	static const struct row two[] = { { 0, 100, 1, 1, 0 },
					  { 0, 100, 1, 1, 0 } };
	struct sim_costs pre = slow;
	struct sim_result r;

	(void)state;
	/*
	 * The two ranks were on different hosts; the first one leaves, and
	 * stands still for 12 s.
	 */
	run_drained("50 drain 0\n", slow, two, 2, &r);
	assert_int_equal(r.record[0].end, 112 * USEC_PER_SEC);
	assert_int_equal(r.record[1].end, 100 * USEC_PER_SEC);
	check_split(&r, 1, 0, 100, 12, 0, 0);
	assert_int_equal(r.record[0].moves, 1);
	sim_result_clear(&r);
	pre.precopy = true;
	run_drained("50 drain 0\n", pre, two, 2, &r);
	check_split(&r, 1, 0, 100, 3, 0, 0);
	sim_result_clear(&r);
}

/* Beside an owner a rank stands still for the last 0.3 s of its copy as well. */
static void an_owner_is_in_nobodys_way(void **state)
{
	static const struct row two[] = { { 0, 100, 1, 1, 0 },
					  { 0, 100, 1, 1, 0 } };
	char text[] = "time,host,what,value\n0,a,owner,away\n"
		      "0,b,owner,away\n50,a,owner,here\n";
	struct sim_config c = { .costs = slow, .rank_memory = 100000000 };
	struct owner_terms terms;
	struct sim_result r;
	struct activity a;

	(void)state;
	assert_int_equal(activity_parse(text, strlen(text), "test", &a, NULL),
			 0);
	owner_terms_init(&terms);
	terms.quiet = 0;
	c.costs.precopy = true;
	c.activity = &a;
	c.terms = &terms;
	simulate_list("spread", "2x1x2", c, two, 2, &r);
	assert_int_equal(r.record[0].moves, 1);
	assert_int_equal(r.record[0].end, 103300 * USEC_PER_MSEC);
	assert_int_equal(r.record[1].end, 100 * USEC_PER_SEC);
	sim_result_clear(&r);
	/* A copy that is shorter: all of it. */
	c.rank_memory = 1000000;
	simulate_list("spread", "2x1x2", c, two, 2, &r);
	assert_int_equal(r.record[0].end, 103100 * USEC_PER_MSEC);
	sim_result_clear(&r);
	owner_terms_clear(&terms);
	activity_clear(&a);
}

/*
 * Moves that are over at once: two ranks leave at one instant, which costs 3 s for the
 * whole and 2 s for each of them.
 */
static void ranks_that_leave_together_pay_once(void **state)
{
	static const struct row one[] = { { 0, 100, 4, 1, 0 } };
	struct sim_costs at_once = slow;
	struct sim_result r;

	(void)state;
	at_once.link = 0;
	run_on("spread", "2x1x4", "50 drain 0\n", at_once, one, 1, &r);
	assert_int_equal(r.record[0].moves, 2);
	assert_int_equal(r.migration_events, 1);
	assert_int_equal(r.record[0].end, 107 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/* A link carries one move after the other. */
static void a_link_carries_one_at_a_time(void **state)
{
	static const struct row one[] = { { 0, 100, 4, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_drained("50 drain 0\n", slow, one, 1, &r);
	/*
	 * Two ranks move, for 24 s; then four ranks share two cores: the 26 s
	 * that are left of 50 run at half the rate.
	 */
	check_split(&r, 1, 0, 150, 24, 0, 0);
	assert_int_equal(r.record[0].moves, 2);
	sim_result_clear(&r);
}

/*
 * A host goes, and there is time for one of two ranks on it: that of the job
 * that came later, but would lose the work of three processors. The other job
 * begins anew.
 */
static void the_most_valuable_leaves_first(void **state)
{
	static const char *const policies[] = { "spread", "stint", "fcfs",
						"dynamite" };
	static const struct row two[] = { { 0, 300, 1, 1, 0 },
					  { 10, 300, 3, 1, 0 } };
	struct sim_result r;

	(void)state;
	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
		run_on(policies[i], "2x1x4", "60 drain 0 80\n80 down 0\n", slow,
		       two, 2, &r);
		assert_int_equal(r.record[1].moves, 1);
		check_split(&r, 2, 0, 300, 12, 0, 0);
		assert_int_equal(r.record[0].moves, 0);
		assert_true(r.split[0].lost > 0);
		sim_result_clear(&r);
	}
}

/*
 * The destination fails: the rank stays where it was, and the policy is told
 * so.
 */
static void a_move_to_a_host_that_fails(void **state)
{
	static const struct row one[] = { { 0, 100, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_drained("50 drain 0\n55 down 1\n56 undrain 0\n", slow, one, 1, &r);
	assert_int_equal(r.record[0].moves, 0);
	check_split(&r, 1, 0, 100, 12, 0, 0);
	sim_result_clear(&r);
}

/* Two leave their hosts at once for the third, whose link has one after the other. */
static void a_destination_takes_one_at_a_time(void **state)
{
	static const struct row two[] = { { 0, 100, 1, 1, 0 },
					  { 0, 100, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_on("spread", "3x1x2", "50 drain 0\n50 drain 1\n", slow, two, 2, &r);
	assert_int_equal(r.record[0].moves + r.record[1].moves, 2);
	check_split(&r, 1, 0, 100, 12, 0, 0);
	check_split(&r, 2, 0, 100, 24, 0, 0);
	sim_result_clear(&r);
}

/* Two ranks of a job have links of their own, both here and there. */
static void ranks_move_beside_each_other(void **state)
{
	static const struct row one[] = { { 0, 100, 2, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_on("spread", "4x1x1", "50 drain 0\n50 drain 1\n", slow, one, 1, &r);
	assert_int_equal(r.record[0].moves, 2);
	check_split(&r, 1, 0, 100, 12, 0, 0);
	sim_result_clear(&r);
}

static void note_leave_by(void *data, const struct view *view,
			  const struct event *e)
{
	usec_t *by = data;

	if (e->type == EVENT_HOST && view->hosts[0].drain)
		*by = view->hosts[0].leave_by;
}

/* A host that is drained may be given another time to be left by, and then none. */
static void a_drain_has_another_time(void **state)
{
	static const struct row one[] = { { 0, 200, 1, 1, 0 } };
	static const char *const events[] = {
		"50 drain 0 300\n60 drain 0 120\n",
		"50 drain 0 300\n60 drain 0\n"
	};
	static const usec_t wanted[] = { 120 * USEC_PER_SEC, 0 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		usec_t by = -1;
		const struct sim_observer watch = { .event = note_leave_by,
						    .data = &by };
		struct sim_config c = { .observer = &watch };
		struct sim_script script;
		struct sim_result r;
		char *text = strdup(events[i]);

		assert_int_equal(
			script_parse(text, strlen(text), "test", &script, NULL),
			0);
		c.script = &script;
		simulate_list("spread", "2x1x2", c, one, 1, &r);
		assert_int_equal(by, wanted[i]);
		script_clear(&script);
		sim_result_clear(&r);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_move_takes_its_time),
		cmocka_unit_test(an_owner_is_in_nobodys_way),
		cmocka_unit_test(ranks_that_leave_together_pay_once),
		cmocka_unit_test(a_link_carries_one_at_a_time),
		cmocka_unit_test(the_most_valuable_leaves_first),
		cmocka_unit_test(a_move_to_a_host_that_fails),
		cmocka_unit_test(a_destination_takes_one_at_a_time),
		cmocka_unit_test(ranks_move_beside_each_other),
		cmocka_unit_test(a_drain_has_another_time),
	};

	return cmocka_run_group_tests_name("transfer", tests, NULL, NULL);
}
