/* test_reservations.c - no policy runs jobs on reserved processors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/policies.h"
#include "sim/laws/laws.h"

static void every_policy(void **state)
{
	const struct policy_ops *p;
	struct error err;

	(void)state;
	for (size_t i = 0; (p = policy_nth(i)); i++)
		if (law_find("reserved")->check(p->name, &err) < 0)
			fail_msg("%s: %s", p->name, err.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_policy),
	};

	return cmocka_run_group_tests_name("reservations", tests, NULL, NULL);
}
