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
		cmocka_unit_test(a_line_for_each_owner),
	};

	return cmocka_run_group_tests_name("owned", tests, NULL, NULL);
}
