/* test_reservations.c - no policy runs jobs on reserved processors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/policies.h"
#include "sim/engine/testing.h"
#include "sim/laws/laws.h"
#include "sim/workload/script.h"

static void every_policy(void **state)
{
	const struct policy_ops *p;
	struct error err;

	(void)state;
	for (size_t i = 0; (p = policy_nth(i)); i++)
		if (law_find("reserved")->check(p->name, &err) < 0)
			fail_msg("%s: %s", p->name, err.text);
}

static void count_booked(void *data, const struct view *view,
			 const struct event *event)
{
	unsigned *most = data, n = 0;
	const struct host *h;

	for_each_host (h, view)
		n += h->booked > 0;
	*most = n > *most ? n : *most;
}

/* The most hosts that are held at any time. */
static unsigned most_booked(const char *events)
{
	unsigned most = 0;
	const struct sim_observer watch = { .event = count_booked,
					    .data = &most };
	struct sim_script script;
	struct sim_config c = { .policy = "pvm",
				.script = &script,
				.observer = &watch };
	struct sim_result r;
	char *text = strdup(events);

	if (script_parse(text, strlen(text), "test", &script, NULL) < 0)
		fail();
	free(text);
	c.workload = make_workload("poisson", 8, 0.3, 100, NULL);
	simulate(&c, &r);
	workload_destroy(c.workload);
	sim_result_clear(&r);
	script_clear(&script);
	return most;
}

/*
 * Who puts several ranks on a core holds whole hosts: the same ones where one reservation
 * ends when, or before, the other begins, whichever was made first.
 */
static void one_host_for_reservations_one_after_the_other(void **state)
{
	(void)state;
	assert_int_equal(most_booked("50 reserve 1 1000 2000\n"
				     "51 reserve 1 2000 3000\n"),
			 1);
	assert_int_equal(most_booked("50 reserve 1 2000 3000\n"
				     "51 reserve 1 1000 2000\n"),
			 1);
	assert_int_equal(most_booked("50 reserve 1 1000 2001\n"
				     "51 reserve 1 2000 3000\n"),
			 2);
	assert_int_equal(most_booked("50 reserve 1 2000 3000\n"
				     "51 reserve 1 1000 2001\n"),
			 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_policy),
		cmocka_unit_test(one_host_for_reservations_one_after_the_other),
	};

	return cmocka_run_group_tests_name("reservations", tests, NULL, NULL);
}
