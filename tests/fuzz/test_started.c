/* test_started.c - that a rank has started is heard with what comes soon after it, or alone */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "three.h"

/* The settings are actors_run()'s. */
static void wait_for(struct ctl *ctl, usec_t most)
{
	((struct controller_conf *)ctl->conf)->started_waits = most;
}

static bool is_starting(struct ctl *ctl)
{
	return rank_of(ctl)->state == STATE(STARTING);
}

static void says(uint32_t pid)
{
	Keeper__Started started = KEEPER__STARTED__INIT;

	started.pid = pid;
	actor_keeper(h1, 0, 1, 0, KEEPER__EVENT__BODY_STARTED, &started);
}

/* The rank is at h1, and has said that it has started. */
static void says_started(struct ctl *ctl, usec_t most)
{
	all_come(-1, -1);
	wait_for(ctl, most);
	submit(1, "h1", "h2");
	actor_keeper_hello(h1, 0, KEEPER__STATE__EMPTY, 0);
	says(77);
	assert_true(is_starting(ctl));
	/* What reads its input is not kept waiting for it. */
	assert_true(job_of(ctl, 1)->input.known);
}

static bool ends_soon(void *ctx)
{
	Keeper__Exited exited = KEEPER__EXITED__INIT;

	says_started(ctx, USEC_PER_HOUR);
	exited.code = 3;
	assert_int_equal(ASKED(ACK), 0);
	actor_keeper(h1, 0, 2, 0, KEEPER__EVENT__BODY_EXITED, &exited);
	assert_int_equal(job_of(ctx, 1)->state, STATE(DONE));
	assert_int_equal(job_of(ctx, 1)->exit, 3);
	assert_int_equal(rank_of(ctx)->pid, 77); /* both were heard, */
	assert_int_equal(ASKED(ACK), 1); /* ... and acknowledged at once */
	return false;
}

static bool goes_on(void *ctx)
{
	if (!step++)
		says_started(ctx, USEC_PER_MSEC);
	return not_yet(rank_of(ctx)->state == STATE(RUNNING));
}

/* Its keeper dies: the rank had begun, so it is not started again. */
static bool keeper_dies(void *ctx)
{
	says_started(ctx, USEC_PER_HOUR);
	lacks(h1, 0, 0, false);
	assert_true(rank_of(ctx)->lost);
	assert_int_equal(rank_of(ctx)->epoch, 0);
	return false;
}

/* What was not acknowledged comes again, and counts once. */
static bool agent_dies(void *ctx)
{
	says_started(ctx, USEC_PER_HOUR);
	fake_hang_up(h1);
	h1 = actor_greet("host/h1", 0);
	actor_keeper_hello(h1, 0, KEEPER__STATE__RUNNING, 0);
	wait_for(ctx, 0);
	says(77);
	assert_int_equal(rank_of(ctx)->state, STATE(RUNNING));
	return false;
}

/* Its agent goes, and comes again without the keeper: the rank had begun all the same. */
static bool both_die(void *ctx)
{
	says_started(ctx, USEC_PER_HOUR);
	fake_hang_up(h1);
	h1 = actor_greet("host/h1", -1);
	assert_true(rank_of(ctx)->lost);
	assert_int_equal(rank_of(ctx)->epoch, 0);
	return false;
}

static void before_the_hosts_death(void **state)
{
	actors_run(both_die, NULL);
}

static void with_the_end(void **state)
{
	actors_run(ends_soon, NULL);
}

static void after_a_while(void **state)
{
	actors_run(goes_on, NULL);
}

static void before_the_keepers_death(void **state)
{
	actors_run(keeper_dies, NULL);
}

static void again_by_the_next_agent(void **state)
{
	actors_run(agent_dies, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(with_the_end),
		TEST(after_a_while),
		TEST(before_the_keepers_death),
		TEST(again_by_the_next_agent),
		TEST(before_the_hosts_death),
	};

	return cmocka_run_group_tests_name("started", tests, NULL, NULL);
}
