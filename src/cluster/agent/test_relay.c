/* test_relay.c - the keepers of a host are found by rank and epoch */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cluster/agent/priv.h"

static const struct agent_conf conf = { .run_dir = (char *)"/nonexistent" };
static struct agent agent = { .conf = &conf };

static Control__KeeperName named(const char *job, uint32_t rank, uint64_t epoch)
{
	Control__KeeperName name = CONTROL__KEEPER_NAME__INIT;

	name.job = (char *)job;
	name.rank = rank;
	name.epoch = epoch;
	return name;
}

static struct relay *find(const char *job, uint32_t rank, uint64_t epoch)
{
	Control__KeeperName name = named(job, rank, epoch);

	return relay_find(&agent, &name);
}

static bool older_lives(const char *job, uint32_t rank, uint64_t epoch)
{
	Control__KeeperName name = named(job, rank, epoch);

	return relay_older_lives(&agent, &name);
}

static int setup(void **state)
{
	TAILQ_INIT(&agent.relays);
	return 0;
}

static int teardown(void **state)
{
	relays_destroy(&agent);
	assert_null(agent.kin);
	return 0;
}

static void each_is_found(void **state)
{
	struct relay *a = relay_create(&agent, "1", 11, 3),
		     *b = relay_create(&agent, "11", 1, 3),
		     *c = relay_create(&agent, "1", 11, 5);

	assert_ptr_equal(find("1", 11, 3), a);
	assert_ptr_equal(find("11", 1, 3), b);
	assert_ptr_equal(find("1", 11, 5), c);
	assert_null(find("1", 11, 4));
	assert_null(find("1", 1, 3));
	relay_destroy(a);
	assert_null(find("1", 11, 3));
	assert_ptr_equal(find("1", 11, 5), c);
	relay_destroy(c);
	assert_null(find("1", 11, 5));
	assert_ptr_equal(find("11", 1, 3), b);
}

/* Only a keeper of the same rank is the predecessor. */
static void the_one_before(void **state)
{
	struct relay *before = relay_create(&agent, "1", 2, 3);

	relay_create(&agent, "1", 2, 7);
	relay_create(&agent, "1", 3, 1);
	assert_true(older_lives("1", 2, 7));
	assert_true(older_lives("1", 2, 4));
	assert_false(older_lives("1", 2, 3));
	assert_false(older_lives("2", 2, 7));
	relay_destroy(before);
	assert_false(older_lives("1", 2, 7));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_is_found),
		TEST(the_one_before),
	};

	return cmocka_run_group_tests_name("relay", tests, NULL, NULL);
}
