/* test_refill.c - what counts as a return, and the memory that owners then find changed */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/engine/test_list.h"
#include "sim/engine/test_needs.h"
#include "sim/engine/testing.h"

#define HEAD ACTIVITY_HEAD

/* Seconds until memory was back, with a guest of so many seconds and of 4000 KiB; another
 * one comes at 450. */
static double refill_of(const char *machine, const char *script, int seconds,
			struct sim_config config, int user)
{
	const struct row two[] = { { 0, seconds, 1, user, 0 },
				   { 450, 10, 1, user, 0 } };
	struct sim_result r;
	double refill;

	config.no_terms = true;
	config.rank_memory = 1000 * 4096;
	run_owned("fcfs", machine, script, config, two, 2, &r);
	assert_string_equal(r.owner[0].name, "h1");
	assert_true(r.owner[0].bore.refill == r.owners.refill);
	refill = r.owners.refill;
	sim_result_clear(&r);
	return refill;
}

/*
 * A thousand pages of 10 ms each come back after a return if a guest had them meanwhile,
 * whether it is still there or not; no more than the host has.
 */
static void memory_comes_back(void **state)
{
	static const char script[] =
		HEAD "100,h1,owner,here\n200,h1,owner,away\n"
		     "300,h1,owner,here\n400,h1,owner,away\n";
	const struct sim_config plain = { 0 };

	(void)state;
	assert_true(fabs(refill_of("1x1", script, 50, plain, 0) - 10) < 1e-9);
	assert_true(fabs(refill_of("1x1", script, 1000, plain, 0) - 20) < 1e-9);
	assert_true(fabs(refill_of("1x1x1x2M", script, 50, plain, 0) - 5.12) <
		    1e-9);
	assert_true(refill_of("1x1", HEAD "100,h1,owner,here\n", 200, plain,
			      0) > 9);
	/* While the owner is there a guest comes: that it was asked. */
	assert_true(refill_of("1x1",
			      HEAD "0,h1,owner,here\n500,h1,owner,away\n", 300,
			      plain, 0) == 0);
	/* His own jobs take nothing from an owner. */
	assert_true(refill_of("1x1", HEAD "0,h1,own,3\n100,h1,owner,here\n", 50,
			      plain, 3) == 0);
}

/*
 * Two guests and a job of the owner share the host; by the return all of them have gone, one
 * after the other.
 */
static void the_most_that_guests_had(void **state)
{
	static const struct row jobs[] = { { 0, 50, 1, 4, 0 },
					   { 0, 80, 1, 4, 0 },
					   { 0, 60, 1, 3, 0 },
					   { 450, 10, 1, 4, 0 } };
	struct sim_result r;

	(void)state;
	run_owned("spread", "1x1",
		  HEAD "0,h1,own,3\n400,h1,owner,here\n440,h1,owner,away\n",
		  (struct sim_config){ .no_terms = true,
				       .rank_memory = 1000 * 4096 },
		  jobs, 4, &r);
	assert_true(fabs(r.owners.refill - 20) < 1e-9);
	sim_result_clear(&r);
}

/*
 * Where hosts page, it is what the job needs by then, not more than a host has, at what a
 * fault costs there: half of 4096 pages, and all.
 */
static void memory_comes_back_by_paging(void **state)
{
	struct workload_phases *ph =
		calloc(1, sizeof(*ph) + 2 * sizeof(ph->phase[0]));
	struct activity a =
		read_activity(HEAD "60,h1,owner,here\n80,h1,owner,away\n"
				   "250,h1,owner,here\n260,h1,owner,away\n");
	struct sim_config c = { .policy = "g-loadsharing",
				.activity = &a,
				.terms = &test_terms,
				.no_terms = true };
	struct line one = { .run = 200 * USEC_PER_SEC, .home = 1 };
	struct sim_result r;

	(void)state;
	ph->nr = 2;
	ph->phase[0] = (struct workload_phase){ 0, 2048 * 8192 };
	ph->phase[1] = (struct workload_phase){ 0.5, 4096 * 8192 };
	one.phases = ph;
	run_with((struct line[]){ one,
				  { .submit = 300 * USEC_PER_SEC,
				    .run = USEC_PER_SEC,
				    .home = 1 } },
		 2, "1x1x1x128M", "fault=0.02,page=8192", c, &r);
	assert_true(fabs(r.owners.refill - 0.02 * (2048 + 4096)) < 1e-9);
	sim_result_clear(&r);
	activity_clear(&a);
	free(ph);
}

/* Who is there at the beginning has not come back; at the same instant one may have left. */
static void who_is_there_has_not_returned(void **state)
{
	static const struct row one[] = { { 0, 100, 1, 0, 0 } };
	static const struct {
		const char *script;
		unsigned returns;
	} is[] = {
		{ HEAD "0,h1,owner,here\n", 0 },
		{ HEAD "0,h1,keyboard,busy\n0,h2,load,1\n", 0 },
		{ HEAD "0,h1,owner,here\n10,h1,owner,away\n", 0 },
		{ HEAD "0,h1,owner,here\n10,h1,owner,away\n"
		       "20,h1,owner,here\n",
		  1 },
		{ HEAD "0,h1,owner,here\n0,h1,owner,away\n"
		       "0.5,h2,owner,here\n",
		  1 },
		{ HEAD "1,h1,owner,here\n", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(*is); i++) {
		struct sim_result r;

		run_owned("fcfs", "3x1", is[i].script,
			  (struct sim_config){ .no_terms = true }, one, 1, &r);
		assert_int_equal(r.owners.returns, is[i].returns);
		sim_result_clear(&r);
	}
}

/*
 * Hosts whose owners are there at the beginning are closed; one whose owner leaves then has
 * to be quiet for as long as any.
 */
static void who_is_there_is_asked(void **state)
{
	static const struct row one[] = { { 0, 10, 1, 0, 0 } };
	struct sim_result r;

	(void)state;
	test_terms.quiet = 60 * USEC_PER_SEC;
	run_owned("stint", "1x1", HEAD "0,h1,owner,here\n30,h1,owner,away\n",
		  (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.end, 100 * USEC_PER_SEC);
	sim_result_clear(&r);
	run_owned("stint", "1x1", HEAD "0,h1,owner,here\n0,h1,owner,away\n",
		  (struct sim_config){ 0 }, one, 1, &r);
	assert_int_equal(r.end, 70 * USEC_PER_SEC);
	sim_result_clear(&r);
}

/* What all owners bear together is what each does, the longest and the worst of any. */
static void all_bear_what_each_does(void **state)
{
	static const struct row rows[] = { { 0, 500, 3, 0, 0 },
					   { 5, 300, 1, 0, 0 },
					   { 900, 10, 1, 0, 0 } };
	struct sim_owners sum = { 0 };
	struct sim_result r;

	(void)state;
	run_owned("spread", "3x1",
		  HEAD "100,h1,owner,here\n100,h1,load,1\n120,h2,owner,here\n"
		       "150,h2,owner,away\n160,h3,owner,here\n"
		       "200,h1,load,0\n200,h1,owner,away\n"
		       "300,h3,owner,away\n350,h2,owner,here\n"
		       "360,h2,owner,away\n420,h1,owner,here\n",
		  (struct sim_config){ .no_terms = true,
				       .rank_memory = 1000 * 4096 },
		  rows, 3, &r);
	for (uint32_t i = 0; i < r.nr_owners; i++) {
		const struct sim_owners *one = &r.owner[i].bore;

		assert_true(one->returns && one->refill > 0);
		sum.returns += one->returns;
		sum.disturbed += one->disturbed;
		sum.given_back += one->given_back;
		sum.give_back += one->give_back;
		sum.beside += one->beside;
		sum.waited += one->waited;
		sum.refill += one->refill;
		assert_true(one->give_back_most <= r.owners.give_back_most);
		assert_true(one->disturbed_most <= r.owners.disturbed_most);
	}
	assert_int_equal(r.nr_owners, 3);
	assert_int_equal(r.owners.returns, sum.returns);
	assert_int_equal(r.owners.disturbed, sum.disturbed);
	assert_int_equal(r.owners.given_back, sum.given_back);
	assert_true(fabs(r.owners.give_back - sum.give_back) < 1e-9);
	assert_true(fabs(r.owners.beside - sum.beside) < 1e-9);
	assert_true(fabs(r.owners.waited - sum.waited) < 1e-9);
	assert_true(fabs(r.owners.refill - sum.refill) < 1e-9);
	assert_true(sum.beside > 0 && sum.waited > 0);
	sim_result_clear(&r);
}

/*
 * Its owner comes while its own jobs take turns there: whichever runs and whichever does not,
 * nobody is in the owner's way.
 */
static void own_jobs_disturb_nobody(void **state)
{
	static const struct row rows[] = { { 0, 100, 1, 0, 0 },
					   { 0, 100, 1, 0, 0 },
					   { 0, 100, 1, 0, 0 } };
	static const char *const policies[] = { "matrix:slice=10",
						"lst:slice=10",
						"borrow:slice=10" };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct sim_result r;

		run_owned(policies[i], "1x1",
			  HEAD
			  "0,h1,own,0\n15,h1,owner,here\n95,h1,owner,away\n"
			  "205,h1,owner,here\n220,h1,owner,away\n",
			  (struct sim_config){ 0 }, rows, 3, &r);
		assert_int_equal(r.owners.returns, 2);
		assert_int_equal(r.owners.disturbed, 0);
		assert_int_equal(r.owners.given_back, 0);
		assert_true(r.owners.beside <= 0);
		for (int k = 0; k < 3; k++)
			assert_true(r.record[k].end > 0);
		sim_result_clear(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_comes_back, begin_terms,
						end_terms),
		cmocka_unit_test_setup_teardown(who_is_there_has_not_returned,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(all_bear_what_each_does,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(own_jobs_disturb_nobody,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(who_is_there_is_asked,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(the_most_that_guests_had,
						begin_terms, end_terms),
		cmocka_unit_test_setup_teardown(memory_comes_back_by_paging,
						begin_terms, end_terms),
	};

	return cmocka_run_group_tests_name("refill", tests, NULL, NULL);
}
