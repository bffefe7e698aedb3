/* test_renewed.c - what policies save is all that they remember */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "policy/policies.h"
#include "sim/laws/laws.h"

static void check_renewed(const char *policy)
{
	struct error err;

	if (law_find("saved")->check(policy, &err) < 0)
		fail_msg("%s: %s", policy, err.text);
}

/* A policy that is made anew from what it saved goes on as it would have. */
static void what_is_saved_is_all(void **state)
{
	/* Parameters with which policies remember more than by default. */
	static const char *const more[] = {
		"pvm:start=next",
		"conservative:replan=50",
		"backfill:depth=3",
		"loadleveler:reserve=30,defer=20",
		"ls:maxprio=40",
		"multifactor:half-life=500,fit=block",
		"lst:slice=50",
		"matrix:slice=50",
		"sed2:eager=1",
		"nqs:age=100",
		"conservative:slots=kinds",
		"conservative:slots=kinds,replan=50",
		"backfill:depth=3,slots=kinds"
	};
	const struct policy_ops *p;

	(void)state;
	for (size_t i = 0; (p = policy_nth(i)); i++)
		check_renewed(p->name);
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		check_renewed(more[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_saved_is_all),
	};

	return cmocka_run_group_tests_name("renewed", tests, NULL, NULL);
}
