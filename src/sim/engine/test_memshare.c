/* test_memshare.c - the policies that mind memory, by hand (Chen 2002) */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/xalloc.h"
#include "sim/engine/test_needs.h"
#include "sim/engine/testing.h"
#include "sim/workload/script.h"

/* At home there is no memory for both: the larger one leaves after it has settled,
 * and is on its way for 0.1 s + 8 * 80 MB / 10 Mbit/s. */
static void the_largest_that_fits_leaves(void **state)
{
	static const struct line two[] = {
		{ .run = 100 * USEC_PER_SEC, .home = 1, .memory = 80 * MB },
		{ .run = 100 * USEC_PER_SEC, .home = 1, .memory = 70 * MB },
		{ .run = 90 * USEC_PER_SEC, .home = 2, .memory = 5 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(two, 3, "2x1x1x100000000", "g-loadsharing:settle=30",
			&r);
	assert_string_equal(text, "0 start job 1 with 1 on 0\n"
				  "0 start job 2 with 1 on 0\n"
				  "0 start job 3 with 1 on 1\n"
				  "30 migrate job 1 rank 0 to 1\n");
	/* Who is on its way takes nothing of where it goes. */
	assert_int_equal(r.record[2].end, 90 * USEC_PER_SEC);
	assert_int_equal(r.split[0].still, 64100 * USEC_PER_MSEC);
	assert_int_equal(r.split[1].still, 0);
	assert_true(r.split[0].page > r.split[1].page);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(sum_of(&r.split[i]), r.record[i].end);
	free(text);
	sim_result_clear(&r);
}

/* 85 MB find no place, 70 just that which 30 leave. */
static void who_just_fits_leaves(void **state)
{
	static const struct line jobs[] = {
		{ .run = 100 * USEC_PER_SEC, .home = 1, .memory = 85 * MB },
		{ .run = 100 * USEC_PER_SEC, .home = 1, .memory = 70 * MB },
		{ .run = 100 * USEC_PER_SEC, .home = 1, .memory = 60 * MB },
		{ .run = 90 * USEC_PER_SEC, .home = 2, .memory = 30 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(jobs, 4, "2x1x1x100000000", "g-loadsharing:settle=30",
			&r);
	assert_non_null(strstr(text, "30 migrate job 2 rank 0 to 1\n"));
	free(text);
	sim_result_clear(&r);
}

/* Submitted at no host: with as few processes the one with the most memory. */
static void the_place_has_the_most_memory(void **state)
{
	static const struct line one[] = {
		{ .run = 10 * USEC_PER_SEC, .memory = 50 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(one, 1,
			"1x1x1x100000000,1x1x1x300000000,1x1x1x200000000",
			"g-loadsharing", &r);
	assert_string_equal(text, "0 start job 1 with 1 on 1\n");
	free(text);
	sim_result_clear(&r);
}

/*
 * 70 and 65 MB page, and nothing fits into 60 or 50, of hosts with 100.  The host
 * with fewer processes is held back till its process ends; what comes meanwhile
 * goes elsewhere.  The largest moves there, and it is let go when that ends.
 */
static void a_host_is_held_back_for_the_largest(void **state)
{
	static const struct line jobs[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 70 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 65 * MB },
		{ .run = 150 * USEC_PER_SEC, .home = 2, .memory = 40 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 45 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 5 * MB },
		{ .submit = 100 * USEC_PER_SEC,
		  .run = 10 * USEC_PER_SEC,
		  .home = 2,
		  .memory = 1 * MB },
	};
	struct sim_result r;
	char *text, *wanted;

	(void)state;
	text = plans_of(jobs, 6, "3x1x1x100000000",
			"v-reconfiguration:settle=30", &r);
	wanted = xasprintf("0 start job 1 with 1 on 0\n"
			   "0 start job 2 with 1 on 0\n"
			   "0 start job 3 with 1 on 1\n"
			   "0 start job 4 with 1 on 2\n"
			   "0 start job 5 with 1 on 2\n"
			   "30 reserve 1\n"
			   "100 start job 6 with 1 on 2\n"
			   "150 migrate job 1 rank 0 to 1\n"
			   "%" PRId64 " release 1\n",
			   r.record[0].end / USEC_PER_SEC);
	assert_string_equal(text, wanted);
	free(wanted);
	free(text);
	sim_result_clear(&r);
}

/* ... also where it needs more than all of that host: no place is better. */
static void an_empty_host_is_ready_for_any(void **state)
{
	static const struct line jobs[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 105 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 65 * MB },
		{ .run = 150 * USEC_PER_SEC, .home = 2, .memory = 40 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 45 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 5 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(jobs, 5, "3x1x1x100000000",
			"v-reconfiguration:settle=30", &r);
	assert_non_null(strstr(text, "\n30 reserve 1\n"
				     "150 migrate job 1 rank 0 to 1\n"));
	free(text);
	sim_result_clear(&r);
}

/* At the instant at which a host is held back it takes nobody any more, either. */
static void who_comes_just_then_goes_elsewhere(void **state)
{
	static const struct line jobs[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 70 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 65 * MB },
		{ .run = 150 * USEC_PER_SEC, .home = 2, .memory = 40 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 45 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 5 * MB },
		{ .submit = 30 * USEC_PER_SEC,
		  .run = 10 * USEC_PER_SEC,
		  .home = 2,
		  .memory = 1 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(jobs, 6, "3x1x1x100000000",
			"v-reconfiguration:settle=30", &r);
	assert_non_null(strstr(text, "\n30 reserve 1\n"
				     "30 start job 6 with 1 on 2\n"));
	free(text);
	sim_result_clear(&r);
}

/* What both would like to have, 60 MB of the 90 on the third host, one of them gets. */
static void idle_memory_is_given_once(void **state)
{
	static const struct line jobs[] = {
		{ .run = 100 * USEC_PER_SEC, .home = 1, .memory = 60 * MB },
		{ .run = 100 * USEC_PER_SEC, .home = 1, .memory = 60 * MB },
		{ .run = 100 * USEC_PER_SEC, .home = 2, .memory = 60 * MB },
		{ .run = 100 * USEC_PER_SEC, .home = 2, .memory = 60 * MB },
		{ .run = 100 * USEC_PER_SEC, .home = 3, .memory = 10 * MB },
	};
	struct sim_result r;
	char *text, *first;

	(void)state;
	text = plans_of(jobs, 5, "3x1x1x100000000", "g-loadsharing:settle=30",
			&r);
	first = strstr(text, "\n30 migrate job 1 rank 0 to 2\n");
	assert_non_null(first);
	assert_null(strstr(first + 1, "\n30 migrate"));
	free(text);
	sim_result_clear(&r);
}

/* It moves as soon as it has settled, though another one, younger and smaller, has not. */
static void the_first_to_settle_wakes(void **state)
{
	static const struct line jobs[] = {
		{ .run = 100 * USEC_PER_SEC, .home = 1, .memory = 80 * MB },
		{ .submit = 10 * USEC_PER_SEC,
		  .run = 100 * USEC_PER_SEC,
		  .home = 1,
		  .memory = 70 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(jobs, 2, "2x1x1x100000000", "g-loadsharing:settle=30",
			&r);
	assert_string_equal(text, "0 start job 1 with 1 on 0\n"
				  "10 start job 2 with 1 on 0\n"
				  "30 migrate job 1 rank 0 to 1\n");
	free(text);
	sim_result_clear(&r);
}

/*
 * The second host has one process, which alone pages there; of the others, with two each, the
 * first is held back.
 */
static void who_pages_is_not_held_back(void **state)
{
	static const struct line jobs[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 70 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 65 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 2, .memory = 105 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 20 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 20 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 4, .memory = 20 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 4, .memory = 20 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(jobs, 7, "4x1x1x100000000",
			"v-reconfiguration:settle=30", &r);
	assert_non_null(strstr(text, "\n30 reserve 2\n"));
	free(text);
	sim_result_clear(&r);
}

/* The host that is held back stays occupied. */
static void who_waits_too_long_lets_it_go(void **state)
{
	static const struct line jobs[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 70 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 65 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 2, .memory = 40 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 45 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 5 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(jobs, 5, "3x1x1x100000000",
			"v-reconfiguration:settle=30,patience=50", &r);
	assert_non_null(strstr(text, "\n30 reserve 1\n80 release 1\n"));
	free(text);
	sim_result_clear(&r);
}

/*
 * The second host is empty from 85 on.  That it was held back for 35 s by 95 does not matter any
 * more: on the fourth, which pages from 65 on, nobody has settled before 100.
 */
static void an_empty_host_is_waited_for(void **state)
{
	static const struct line jobs[] = {
		{ .run = 8 * USEC_PER_SEC, .home = 1, .memory = 70 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 65 * MB },
		{ .run = 85 * USEC_PER_SEC, .home = 2, .memory = 40 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 45 * MB },
		{ .run = 5000 * USEC_PER_SEC, .home = 3, .memory = 5 * MB },
		{ .submit = 40 * USEC_PER_SEC,
		  .run = 5000 * USEC_PER_SEC,
		  .home = 4,
		  .memory = 55 * MB },
		{ .submit = 65 * USEC_PER_SEC,
		  .run = 5000 * USEC_PER_SEC,
		  .home = 4,
		  .memory = 70 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(jobs, 7, "4x1x1x100000000",
			"v-reconfiguration:settle=60,patience=35", &r);
	assert_non_null(strstr(text, "\n60 reserve 1\n"
				     "65 start job 7 with 1 on 3\n"
				     "100 migrate job 6 rank 0 to 1\n"));
	free(text);
	sim_result_clear(&r);
}

/*
 * Processes by host: 2, 1 and 2; the second is held back from 30 on until the first of
 * 1 and 2 has ended, as then nothing pages any more.
 */
static void skew_is_of_hosts_that_take_jobs(void **state)
{
	static const struct line jobs[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 70 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 65 * MB },
		{ .run = 20000 * USEC_PER_SEC, .home = 2, .memory = 40 * MB },
		{ .run = 20000 * USEC_PER_SEC, .home = 3, .memory = 45 * MB },
		{ .run = 20000 * USEC_PER_SEC, .home = 3, .memory = 5 * MB },
	};
	struct sim_result r;
	double first, last, area;
	char *text;

	(void)state;
	text = plans_of(jobs, 5, "3x1x1x100000000",
			"v-reconfiguration:settle=30,patience=1000000", &r);
	assert_non_null(strstr(text, "\n30 reserve 1\n"));
	first = fmin(r.record[0].end, r.record[1].end) / USEC_PER_SEC;
	last = fmax(r.record[0].end, r.record[1].end) / USEC_PER_SEC;
	/* 2 1 2; 2 - 2; 1 1 2; 0 1 2; 0 0 2 */
	area = 30 * sqrt(2. / 9) + (last - first) * sqrt(2. / 9) +
	       (20000 - last) * sqrt(6. / 9) + 20000 * sqrt(8. / 9);
	assert_int_equal(r.record[4].end, 40000 * USEC_PER_SEC);
	assert_true(fabs(r.averages.skew - area / 40000) < 1e-6);
	free(text);
	sim_result_clear(&r);
}

/* It pages, but all that is idle is no more than one host has: 5 of 100. */
static void little_idle_memory_is_not_worth_a_host(void **state)
{
	static const struct line jobs[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 70 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 65 * MB },
		{ .run = 9000 * USEC_PER_SEC, .home = 2, .memory = 95 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(jobs, 3, "2x1x1x100000000",
			"v-reconfiguration:settle=30", &r);
	assert_string_equal(text, "0 start job 1 with 1 on 0\n"
				  "0 start job 2 with 1 on 0\n"
				  "0 start job 3 with 1 on 1\n");
	free(text);
	sim_result_clear(&r);
}

/*
 * 40 + 39 + 38 + 37 page, and no host has 37 idle; the second is ready at 150.  With the
 * largest there the first still pages, and 39 fit beside 40; then it pages no more.
 */
static void others_follow_as_far_as_they_fit(void **state)
{
	static const struct line jobs[] = {
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 40 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 39 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 38 * MB },
		{ .run = 1000 * USEC_PER_SEC, .home = 1, .memory = 37 * MB },
		{ .run = 150 * USEC_PER_SEC, .home = 2, .memory = 70 * MB },
		{ .run = 9000 * USEC_PER_SEC, .home = 3, .memory = 32 * MB },
		{ .run = 9000 * USEC_PER_SEC, .home = 3, .memory = 32 * MB },
		{ .run = 9000 * USEC_PER_SEC, .home = 4, .memory = 32 * MB },
		{ .run = 9000 * USEC_PER_SEC, .home = 4, .memory = 32 * MB },
		{ .run = 9000 * USEC_PER_SEC, .home = 5, .memory = 32 * MB },
		{ .run = 9000 * USEC_PER_SEC, .home = 5, .memory = 32 * MB },
	};
	struct sim_result r;
	char *text;

	(void)state;
	text = plans_of(jobs, 11, "5x1x1x100000000",
			"v-reconfiguration:settle=30", &r);
	assert_non_null(strstr(text, "\n30 reserve 1\n"
				     "150 migrate job 1 rank 0 to 1\n"
				     "150 migrate job 2 rank 0 to 1\n"));
	assert_null(strstr(text, "migrate job 3"));
	free(text);
	sim_result_clear(&r);
}

/* Its home is drained: it begins elsewhere, and at once. */
static void hosts_that_are_drained_take_nobody(void **state)
{
	static const struct line one[] = { { .submit = 10 * USEC_PER_SEC,
					     .run = 100 * USEC_PER_SEC,
					     .home = 1,
					     .memory = 1 * MB } };
	static const char *const policy[] = { "g-loadsharing",
					      "v-reconfiguration" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		char events[] = "5 drain 0\n";
		struct sim_script script;
		struct sim_result r;

		assert_int_equal(script_parse(events, strlen(events), "test",
					      &script, NULL),
				 0);
		run_with(one, 1, "2x1x1x100000000",
			 "system=0,switch=0,remote=7",
			 (struct sim_config){ .policy = policy[i],
					      .script = &script },
			 &r);
		assert_int_equal(r.record[0].start, 10 * USEC_PER_SEC);
		assert_int_equal(r.record[0].end, 117 * USEC_PER_SEC);
		sim_result_clear(&r);
		script_clear(&script);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_that_fits_leaves),
		cmocka_unit_test(who_just_fits_leaves),
		cmocka_unit_test(the_place_has_the_most_memory),
		cmocka_unit_test(a_host_is_held_back_for_the_largest),
		cmocka_unit_test(an_empty_host_is_ready_for_any),
		cmocka_unit_test(who_comes_just_then_goes_elsewhere),
		cmocka_unit_test(idle_memory_is_given_once),
		cmocka_unit_test(the_first_to_settle_wakes),
		cmocka_unit_test(who_pages_is_not_held_back),
		cmocka_unit_test(who_waits_too_long_lets_it_go),
		cmocka_unit_test(an_empty_host_is_waited_for),
		cmocka_unit_test(skew_is_of_hosts_that_take_jobs),
		cmocka_unit_test(little_idle_memory_is_not_worth_a_host),
		cmocka_unit_test(others_follow_as_far_as_they_fit),
		cmocka_unit_test(hosts_that_are_drained_take_nobody),
	};

	return cmocka_run_group_tests_name("memshare", tests, NULL, NULL);
}
