/* test_owned.c - what is told of jobs' time and of owners, by hand */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/report/owned.h"

static double figure(const json_t *j, const char *object, const char *name)
{
	const json_t *v = json_object_get(json_object_get(j, object), name);

	assert_true(json_is_number(v));
	return json_number_value(v);
}

/* The first of four is of the warm-up, and the last never ended. */
static void means_are_of_jobs_that_count(void **state)
{
	struct sim_record record[4] = {
		{ .end = 1 }, { .end = 1 }, { .end = 1 }, { .end = -1 }
	};
	struct sim_split split[4] = {
		{ .queue = 9 * USEC_PER_SEC, .run = 9 * USEC_PER_SEC },
		{ .queue = 1 * USEC_PER_SEC, .run = 2 * USEC_PER_SEC },
		{ .still = 4 * USEC_PER_SEC, .run = 6 * USEC_PER_SEC },
		{ .lost = 8 * USEC_PER_SEC }
	};
	const struct sim_result r = {
		.record = record, .split = split, .nr = 4, .nr_warmup = 1
	};
	json_t *j = json_object();

	(void)state;
	owned_json(&r, j);
	assert_true(figure(j, "split", "queue") == 0.5);
	assert_true(figure(j, "split", "run") == 4);
	assert_true(figure(j, "split", "still") == 2);
	assert_true(figure(j, "split", "lost") == 0);
	json_decref(j);
}

/* Each figure of the text, where no two are equal. */
static void what_is_told_in_words(void **state)
{
	struct sim_record record = { .end = 1 };
	struct sim_split split = { .queue = 1 * USEC_PER_SEC,
				   .run = 20 * USEC_PER_SEC,
				   .still = 3 * USEC_PER_SEC,
				   .frozen = 4 * USEC_PER_SEC,
				   .lost = 5 * USEC_PER_SEC,
				   .cpu = 11 * USEC_PER_SEC,
				   .page = 7 * USEC_PER_SEC };
	struct sim_result r = {
		.record = &record,
		.split = &split,
		.nr = 1,
		.memory = true,
		.averages = { .idle_memory = 6e6, .skew = 0.25 },
		.owners = { .returns = 8,
			    .disturbed = 6,
			    .disturbed_most = 3,
			    .given_back = 4,
			    .give_back = 10,
			    .give_back_most = 9 * USEC_PER_SEC,
			    .beside = 12,
			    .waited = 13,
			    .refill = 14 },
	};
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	owned_print(&r, f);
	fclose(f);
	assert_string_equal(
		text,
		"\na job waits 1.00 s, runs 20.00 s, stands still 3.00 s, is "
		"frozen 4.00 s, loses 5.00 s\n"
		"while it runs, it computes 11.00 s, pages 7.00 s and waits for "
		"others 2.00 s\n"
		"memory: 6 MB idle on average, hosts' jobs differ by 0.25 "
		"(standard deviation)\n"
		"owners: 8 returns, 6 disturbed (most in a day: 3), guests gone "
		"after 2.50 s on average, 9.00 s at most\n"
		"        12 s beside running guests, their programs waited 13 s "
		"for them,\n"
		"        and their memory comes back in 1.75 s a return\n");
	free(text);
}

/* ... and for programs. */
static void what_is_told_to_programs(void **state)
{
	struct sim_record record = { .end = 1 };
	struct sim_split split = { .frozen = 4 * USEC_PER_SEC,
				   .cpu = 11 * USEC_PER_SEC,
				   .page = 7 * USEC_PER_SEC };
	const struct sim_result r = {
		.record = &record,
		.split = &split,
		.nr = 1,
		.memory = true,
		.averages = { .idle_memory = 6e6, .skew = 0.25 },
		.owners = { .returns = 8,
			    .disturbed = 6,
			    .disturbed_most = 3,
			    .given_back = 4,
			    .give_back = 10,
			    .give_back_most = 9 * USEC_PER_SEC,
			    .beside = 12,
			    .waited = 13,
			    .refill = 14 },
	};
	json_t *j = json_object();

	(void)state;
	owned_json(&r, j);
	assert_true(figure(j, "split", "frozen") == 4);
	assert_true(figure(j, "memory", "cpu") == 11);
	assert_true(figure(j, "memory", "page") == 7);
	assert_true(figure(j, "memory", "idle") == 6e6);
	assert_true(figure(j, "memory", "skew") == 0.25);
	assert_true(figure(j, "owners", "returns") == 8);
	assert_true(figure(j, "owners", "disturbed") == 6);
	assert_true(figure(j, "owners", "disturbed_most") == 3);
	assert_true(figure(j, "owners", "given_back") == 4);
	assert_true(figure(j, "owners", "give_back") == 10);
	assert_true(figure(j, "owners", "give_back_most") == 9);
	assert_true(figure(j, "owners", "beside") == 12);
	assert_true(figure(j, "owners", "waited") == 13);
	assert_true(figure(j, "owners", "refill") == 14);
	json_decref(j);
}

static void a_line_for_each_owner(void **state)
{
	char name[] = "lab7";
	struct sim_owner owner = { .name = name,
				   .bore = { .returns = 5,
					     .disturbed = 3,
					     .disturbed_most = 2,
					     .given_back = 1,
					     .give_back = 0.5,
					     .give_back_most = 250000,
					     .beside = 4,
					     .waited = 3.25,
					     .refill = 1.5 } };
	const struct sim_result r = { .owner = &owner,
				      .nr_owners = 1,
				      .seed = 9 };
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	owned_csv(&r, f);
	fclose(f);
	assert_string_equal(
		text,
		"host,returns,disturbed,disturbed_most,given_back,give_back,"
		"give_back_most,beside,waited,refill,seed,version\n"
		"lab7,5,3,2,1,0.500000,0.250000,4.000000,3.250000,"
		"1.500000,9," STINT_VERSION "\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_are_of_jobs_that_count),
		cmocka_unit_test(what_is_told_in_words),
		cmocka_unit_test(what_is_told_to_programs),
		cmocka_unit_test(a_line_for_each_owner),
	};

	return cmocka_run_group_tests_name("owned", tests, NULL, NULL);
}
