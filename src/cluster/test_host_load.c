/* test_host_load.c - what an agent tells of its host, and where users come from
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cluster/host_load.h"

static uint32_t present;

static void sense_fake(uint32_t *users, usec_t *idle)
{
	*users = present;
	*idle = present ? 7 * USEC_PER_SEC : USEC_MAX;
}

/* The source of users can be replaced, and is asked each time. */
static void owner_is_replaceable(void **state)
{
	static const struct owner_ops fake = { .sense = sense_fake };
	struct host_load *l = host_load_create();
	struct host_sample s;

	host_load_set_owner(l, &fake);
	host_load_sample(l, &s);
	assert_int_equal(s.users, 0);
	present = 2;
	host_load_sample(l, &s);
	assert_int_equal(s.users, 2);
	assert_int_equal(s.idle, 7 * USEC_PER_SEC);
	host_load_destroy(l);
}

/* The very first sample has numbers: hosts are placed by it at once. */
static void first_sample_is_whole(void **state)
{
	struct host_load *l = host_load_create();
	struct host_sample s;

	host_load_sample(l, &s);
	assert_true(s.memory_free > 0);
	assert_true(s.memory_free <= host_memory());
	assert_true(s.load >= 0 && s.load == s.runnable);
	host_load_destroy(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owner_is_replaceable),
		cmocka_unit_test(first_sample_is_whole),
	};

	return cmocka_run_group_tests_name("host_load", tests, NULL, NULL);
}
