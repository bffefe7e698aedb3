/* test_borrow.c - gang slices on hosts that are lent: schedules worked by hand */
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

static void run_policy(const char *policy, const char *machine,
		       const char *script, struct sim_config config,
		       const struct row *row, int64_t nr,
		       struct sim_result *ret)
{
	struct owner_terms terms;
	struct activity a;
	struct error err;
	char *text = strdup(script);

	if (activity_parse(text, strlen(text), "test", &a, &err) < 0)
		fail_msg("%s", err.text);
	owner_terms_init(&terms);
	terms.quiet = 60 * USEC_PER_SEC;
	terms.load = LOAD_ANY;
	terms.give_back = USEC_PER_DAY; /* standing still is not leaving */
	config.activity = &a;
	config.terms = &terms;
	simulate_list(policy, machine, config, row, nr, ret);
	owner_terms_clear(&terms);
	activity_clear(&a);
	free(text);
}

static void run_borrow(const char *machine, const char *script,
		       struct sim_config config, const struct row *row,
		       int64_t nr, struct sim_result *ret)
{
	run_policy("borrow:slice=10", machine, script, config, row, nr, ret);
}

static void ends(const struct sim_result *r, int job, int second)
{
	assert_int_equal(r->record[job - 1].end, second * USEC_PER_SEC);
}

/*
 * Jobs 1 and 2 take turns, beside job 3, which needs a host that neither has;
 * once it is alone, job 2 runs without a break.
 */
static void turns(void **state)
{
	static const struct row rows[] = { { 0, 20, 2, 1, 0 },
					   { 0, 30, 2, 1, 0 },
					   { 0, 15, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	simulate_list("borrow:slice=10", "3x1", (struct sim_config){ 0 }, rows,
		      3, &r);
	assert_int_equal(r.record[0].start, 0);
	assert_int_equal(r.record[1].start, 10 * USEC_PER_SEC);
	assert_int_equal(r.record[2].start, 0);
	ends(&r, 1, 30);
	ends(&r, 2, 50);
	ends(&r, 3, 15);
	sim_result_clear(&r);
}

/* The owner of h1 comes at 5: the rank goes to h3, and its job stands still. */
static void who_is_wanted_back_moves(void **state)
{
	static const struct row one[] = { { 0, 20, 2, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_borrow(
		"3x1", HEAD "5,h1,owner,here\n",
		(struct sim_config){ .costs = { .migrate = 3 * USEC_PER_SEC } },
		one, 1, &r);
	ends(&r, 1, 23);
	assert_int_equal(r.record[0].moves, 1);
	assert_int_equal(r.owners.disturbed, 1);
	assert_int_equal(r.split[0].still, 3 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/* h1 is drained at 15, for the first job and a second that waits for its turn alike. */
static void who_is_on_a_drained_host_moves(void **state)
{
	static const struct row rows[] = { { 0, 20, 2, 1, 0 },
					   { 0, 20, 2, 1, 0 } };
	char events[] = "15 drain 0\n";
	struct sim_script script;
	struct sim_result r;

	(void)state;
	if (script_parse(events, strlen(events), "test", &script, NULL) < 0)
		fail();
	run_borrow("3x1", HEAD "100,h1,users,1\n",
		   (struct sim_config){ .script = &script }, rows, 2, &r);
	for (int i = 0; i < 2; i++)
		assert_int_equal(r.record[i].moves, 1);
	ends(&r, 1, 30);
	ends(&r, 2, 40);
	sim_result_clear(&r);
	script_clear(&script);
}

/*
 * There is no other host: the job has no turn until the owner has been away for
 * a minute.
 */
static void who_finds_no_host_waits(void **state)
{
	static const struct row one[] = { { 0, 20, 2, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_borrow("2x1", HEAD "5,h1,owner,here\n25,h1,owner,away\n",
		   (struct sim_config){ 0 }, one, 1, &r);
	/* The rank may stay where it is as soon as the host is quiet. */
	ends(&r, 1, 40);
	assert_int_equal(r.record[0].moves, 0);
	assert_int_equal(r.split[0].frozen, 20 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/*
 * Both jobs are on h2, whose owner comes at 65, in the turn of job 1. Their
 * ranks go to h3, which is open by then, and move for 12 s. With `aside` job
 * 1's moves go on while job 2 has its turn, from 70 on; else 7 s of them are
 * left for job 1's next turn. Those of job 2 begin outside of its turn, and are
 * over at 77 either way.
 */
static void moves_go_on_aside(void **state)
{
	static const struct row rows[] = { { 0, 60, 1, 1, 0 },
					   { 0, 60, 1, 1, 0 } };
	static const int end[2][2] = { { 139, 137 }, { 125, 132 } };
	struct sim_result r;

	(void)state;
	for (int aside = 0; aside < 2; aside++) {
		struct sim_config c = { .costs = { .migrate = 12 * USEC_PER_SEC,
						   .aside = aside } };

		run_borrow("3x1",
			   HEAD
			   "0,h1,owner,here\n0,h3,owner,here\n2,h3,owner,away\n"
			   "65,h2,owner,here\n",
			   c, rows, 2, &r);
		ends(&r, 1, end[aside][0]);
		ends(&r, 2, end[aside][1]);
		sim_result_clear(&r);
	}
}

/*
 * h1 to h3 are quiet from 10, 0 and 20 on. The second job comes at 100, when
 * the first one has h2. `longest` puts it there as well, and both take turns;
 * else it has h1 to itself.
 */
static void who_was_quiet_for_longest_is_chosen(void **state)
{
	static const struct row rows[] = { { 90, 100, 1, 1, 0 },
					   { 100, 30, 1, 1, 0 } };
	static const char *const policy[] = {
		"borrow:slice=10,choose=quiet", "borrow:slice=10,choose=longest"
	};
	static const int end[] = { 130, 150 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sim_result r;

		run_policy(policy[i], "3x1",
			   HEAD "0,h1,owner,here\n0,h3,owner,here\n"
				"10,h1,owner,away\n20,h3,owner,away\n",
			   (struct sim_config){ 0 }, rows, 2, &r);
		ends(&r, 2, end[i]);
		sim_result_clear(&r);
	}
}

/* The hosts that are disturbed most: the third of these is reported. */
static void the_third_is_told(void **state)
{
	static const struct row one[] = { { 0, 1000, 4, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_borrow("4x1",
		   HEAD "10,h1,owner,here\n20,h1,owner,away\n30,h1,owner,here\n"
			"40,h1,owner,away\n50,h2,owner,here\n60,h2,owner,away\n"
			"70,h3,owner,here\n80,h3,owner,away\n90,h2,owner,here\n"
			"100,h2,owner,away\n",
		   (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.owners.disturbed_most, 2);
	assert_int_equal(r.owners.disturbed_third, 1);
	sim_result_clear(&r);
}

/* h1 to h3 are quiet from 10, 0 and 20 on: the guest is where the second's owner comes. */
static void of_two_the_one_quiet_for_longer_is_taken(void **state)
{
	static const struct row one[] = { { 90, 100, 1, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_policy("borrow:slice=10,choose=quiet", "3x1",
		   HEAD "0,h1,owner,here\n0,h3,owner,here\n"
			"10,h1,owner,away\n20,h3,owner,away\n"
			"120,h2,owner,here\n",
		   (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.owners.disturbed, 1);
	assert_int_equal(r.record[0].moves, 1);
	sim_result_clear(&r);
}

/*
 * Three jobs take turns on the first four hosts when the first owner comes back at 75: of the
 * two that are open since 65 one gets two of their ranks, and the sixth, whose owner comes at
 * 135, one alone.
 */
static void who_leaves_goes_where_fewest_are(void **state)
{
	static const struct row rows[] = { { 0, 200, 4, 1, 0 },
					   { 0, 200, 4, 1, 0 },
					   { 0, 200, 4, 1, 0 } };
	struct sim_result r;

	(void)state;
	run_borrow("6x1",
		   HEAD "0,h1,load,0\n0,h2,load,0\n0,h3,load,0\n0,h4,load,0\n"
			"0,h5,owner,here\n0,h6,owner,here\n5,h5,owner,away\n"
			"5,h6,owner,away\n75,h1,owner,here\n135,h6,owner,here\n"
			"140,h6,owner,away\n",
		   (struct sim_config){ 0 }, rows, 3, &r);
	assert_int_equal(
		r.record[0].moves + r.record[1].moves + r.record[2].moves, 4);
	sim_result_clear(&r);
}

/* ---- which hosts ---- */

static void see_start(void *data, const struct view *view,
		      const struct event *e)
{
	uint32_t *at = data;

	(void)view;
	for (uint32_t i = 0; e->type == EVENT_START && i < e->n; i++)
		at[e->job->id - 1] = at[e->job->id - 1] * 10 + 1 + e->hosts[i];
}

/* Where the jobs start, a digit a host. */
static void check_hosts(const char *policy, const char *script,
			const struct row *row, const uint32_t *wanted)
{
	uint32_t at[2] = { 0, 0 };
	const struct sim_observer watch = { .event = see_start, .data = at };
	struct sim_result r;

	run_policy(policy, "5x1", script,
		   (struct sim_config){ .observer = &watch }, row, 2, &r);
	sim_result_clear(&r);
	for (int i = 0; i < 2; i++)
		if (at[i] != wanted[i])
			fail_msg("%s: job %d starts on %u, not %u", policy,
				 i + 1, at[i], wanted[i]);
}

/* Of hosts that are alike the first; else those that were quiet for longest, or the first. */
static void of_hosts_alike_the_first(void **state)
{
	static const struct row rows[] = { { 300, 20, 2, 1, 0 },
					   { 310, 20, 2, 2, 0 } };
	static const char quiet[] = HEAD "0,h5,load,0\n";
	static const char left[] =
		HEAD "0,h1,users,1\n1,h2,owner,here\n20,h2,owner,away\n"
		     "30,h1,owner,here\n40,h1,owner,away\n";

	(void)state;
	check_hosts("borrow:slice=10", quiet, rows, (uint32_t[]){ 12, 34 });
	check_hosts("borrow:slice=10", left, rows, (uint32_t[]){ 12, 34 });
	check_hosts("borrow:slice=10,choose=quiet", quiet, rows,
		    (uint32_t[]){ 12, 34 });
	check_hosts("borrow:slice=10,choose=quiet", left, rows,
		    (uint32_t[]){ 34, 52 });
	/* However many ranks it has: both jobs take turns there. */
	check_hosts("borrow:slice=10,choose=longest", quiet, rows,
		    (uint32_t[]){ 12, 12 });
	check_hosts("borrow:slice=10,choose=longest", left, rows,
		    (uint32_t[]){ 34, 34 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns),
		cmocka_unit_test(who_is_wanted_back_moves),
		cmocka_unit_test(who_is_on_a_drained_host_moves),
		cmocka_unit_test(who_finds_no_host_waits),
		cmocka_unit_test(moves_go_on_aside),
		cmocka_unit_test(who_was_quiet_for_longest_is_chosen),
		cmocka_unit_test(the_third_is_told),
		cmocka_unit_test(of_two_the_one_quiet_for_longer_is_taken),
		cmocka_unit_test(who_leaves_goes_where_fewest_are),
		cmocka_unit_test(of_hosts_alike_the_first),
	};

	return cmocka_run_group_tests_name("borrow", tests, NULL, NULL);
}
