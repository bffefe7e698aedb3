/* test_institute.c - the institute's workstations, its people and their long jobs */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/hosts/sed_state.h"
#include "sim/reproduce/institute_run.h"

enum { DAYS = 4, DRAWS = 20 };

/* Table 5.1: three hosts of factor 1, three of 2, eight between and 14 of 4. */
static void idle_hosts_offer_forty_nodes(void **state)
{
	struct host hosts[INSTITUTE_HOSTS];
	double alpha[INSTITUTE_HOSTS];
	struct sed sed;
	int a[8];

	(void)state;
	institute_hosts(hosts);
	for (int i = 0; i < INSTITUTE_HOSTS; i++)
		alpha[i] = hosts[i].speed;
	sed_init(&sed, SED2, alpha, INSTITUTE_HOSTS);
	sed_availability(&sed, a);
	assert_int_equal(a[1], 3);
	assert_int_equal(a[2], 3 * 2 + 3);
	assert_int_equal(a[3], 3 * 3 + 3 + 3 + 5);
	assert_int_equal(a[4], 3 * 4 + 3 * 2 + 3 + 5 + 14);
	sed_clear(&sed);
}

/*
 * The mean number of users at that hour, over all hosts; none has more than
 * i_max.
 */
static double users_at(const struct activity *a, int hour)
{
	double now[INSTITUTE_HOSTS] = { 0 }, sum = 0;
	size_t i = 0;

	for (int day = 0; day < DAYS; day++) {
		usec_t at = (day * 24 + hour) * (usec_t)3600 * USEC_PER_SEC;

		for (; i < a->nr && a->change[i].at <= at; i++)
			if (a->change[i].what == ACTIVITY_USERS)
				now[a->change[i].host] = a->change[i].value;
		for (int h = 0; h < INSTITUTE_HOSTS; h++) {
			assert_true(now[h] >= 0 && now[h] <= 10);
			/* The host "athena" has one seat. */
			assert_true(strcmp(a->host[h].name, "athena") != 0 ||
				    now[h] <= 1);
			sum += now[h] / DAYS;
		}
	}
	return sum;
}

/* Figure 5.2. */
static void people_come_by_day(void **state)
{
	double night = 0, day = 0;

	(void)state;
	for (int i = 0; i < DRAWS; i++) {
		struct activity a;

		institute_draw(&institute_law, DAYS, 1, i, &a);
		night += users_at(&a, 6);
		day += users_at(&a, 15);
		activity_clear(&a);
	}
	assert_true(day > 1.5 * night);
	assert_true(night > 0); /* sessions that stay open */
}

static void the_same_seed_is_the_same_days(void **state)
{
	struct activity a, b, c;

	(void)state;
	institute_draw(&institute_law, DAYS, 1, 3, &a);
	institute_draw(&institute_law, DAYS, 1, 3, &b);
	institute_draw(&institute_law, DAYS, 2, 3, &c);
	assert_int_equal(a.nr, b.nr);
	for (size_t i = 0; i < a.nr; i++) {
		assert_int_equal(a.change[i].at, b.change[i].at);
		assert_true(a.change[i].value == b.change[i].value);
	}
	assert_true(a.nr != c.nr ||
		    a.change[a.nr / 2].at != c.change[a.nr / 2].at);
	activity_clear(&a);
	activity_clear(&b);
	activity_clear(&c);
}

/* With nobody there nothing moves, and jobs are promised the slowest class. */
static void an_empty_institute_disturbs_nobody(void **state)
{
	struct institute_setup s = { .law = institute_law,
				     .policy = "dynamic-sed-1997:share=1",
				     .seed = 1 };
	struct institute_result job[INSTITUTE_JOBS];

	(void)state;
	s.law.taken = s.law.tasks = 0;
	assert_int_equal(institute_run(&s, 0, job, NULL), 0);
	assert_true(job[JOB_GREEDY].size == 40 && job[JOB_70].size == 28 &&
		    job[JOB_50].size == 20);
	assert_true(job[JOB_GREEDY].promised == 4);
	for (int j = 0; j < INSTITUTE_JOBS; j++) {
		assert_true(job[j].moves == 0 && job[j].moves_most == 0);
		assert_true(job[j].delay >= 1 && job[j].delay <= 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_hosts_offer_forty_nodes),
		cmocka_unit_test(people_come_by_day),
		cmocka_unit_test(the_same_seed_is_the_same_days),
		cmocka_unit_test(an_empty_institute_disturbs_nobody),
	};

	return cmocka_run_group_tests_name("sim/institute", tests, NULL, NULL);
}
