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

#define HEAD "time,host,what,value\n"

/*
 * How often a process moves that begins on the fast host. No host is in its
 * delay class but this one, as the other one is four times as slow.
 */
static unsigned moves(const char *policy, const char *script)
{
	static const struct row one[] = { { 0, 60, 1, 1, 0 } };
	struct sim_config c = { .costs = { 0 } };
	struct owner_terms terms;
	struct sim_result r;
	struct activity a;
	struct error err;
	char *text = strdup(script);
	unsigned n;

	if (activity_parse(text, strlen(text), "test", &a, &err) < 0)
		fail_msg("%s", err.text);
	owner_terms_init(&terms);
	terms.load = LOAD_ANY;
	c.activity = &a;
	c.terms = &terms;
	simulate_list(policy, "1x1,1x4", c, one, 1, &r);
	n = r.record[0].moves;
	sim_result_clear(&r);
	owner_terms_clear(&terms);
	activity_clear(&a);
	free(text);
	return n;
}

/* (5.8): the delay must fall by more than the host's own factor, which is 1. */
static void without_users_a_gain_has_to_be_large(void **state)
{
	(void)state;
	assert_int_equal(
		moves("dynamic-sed:every=10,c1=2", HEAD "5,h1,load,3.5\n"), 0);
	assert_int_equal(
		moves("dynamic-sed:every=10,c1=2", HEAD "5,h1,load,4.5\n"), 1);
}

/*
 * A look at which the process is no candidate lowers its counter by one: 1, 2,
 * 1, 2 of 3.
 */
static void the_count_falls(void **state)
{
	(void)state;
	assert_int_equal(moves("dynamic-sed:every=10,c1=3",
			       HEAD "5,h1,load,9\n25,h1,load,0\n"
				    "35,h1,load,9\n45,h1,load,0\n"),
			 0);
	assert_int_equal(
		moves("dynamic-sed:every=10,c1=3", HEAD "5,h1,load,9\n"), 1);
}

/*
 * If there are users fewer looks are enough, and any host without users that is
 * not slower than d_max is good enough.
 */
static void users_drive_it_away(void **state)
{
	(void)state;
	assert_int_equal(
		moves("dynamic-sed:every=10,c1=50,c2=2", HEAD "5,h1,users,1\n"),
		1);
	assert_int_equal(moves("dynamic-sed:every=10,c1=50,c2=2",
			       HEAD "5,h1,users,1\n5,h2,users,1\n"),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_users_a_gain_has_to_be_large),
		cmocka_unit_test(the_count_falls),
		cmocka_unit_test(users_drive_it_away),
	};

	return cmocka_run_group_tests_name("dynamic", tests, NULL, NULL);
}
