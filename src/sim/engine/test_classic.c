/*
 * test_classic.c - what today's and the older systems do, on schedules worked
 * by hand: SJF, LXF, WFP, NQS, multifactor, LoadLeveler, DQS, PVM
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/engine/test_list.h"

static void shortest_first(void **state)
{
	static const struct row rows[] = {
		{ 0, 100, 4, 1 }, /* fills the machine */
		{ 1, 50, 4, 1 },
		{ 2, 10, 4, 1 },
		{ 3, 20, 2, 1 },
	};
	static const struct row blocked[] = {
		{ 0, 100, 3, 1 },
		{ 1, 10, 2, 1 }, /* shortest, does not fit */
		{ 2, 50, 1, 1 }, /* fits, ends before job 2 can start */
		{ 3, 200, 1, 1 },
	};

	CHECK("sjf", "4", rows, 0, 130, 100, 110);
	CHECK("sjf", "4", blocked, 0, 100, 100, 100);
	CHECK("sjf:fit=skip", "4", blocked, 0, 100, 2, 52);
	CHECK("sjf:fit=easy", "4", blocked, 0, 100, 2, 52);
}

/* At 100: LXF (99+50)/50 = 2.98 and (90+10)/10 = 10; the other job at 110. */
static void expansion_and_wfp(void **state)
{
	static const struct row rows[] = {
		{ 0, 100, 4, 1 },
		{ 1, 50, 4, 1 },
		{ 10, 10, 4, 1 },
		{ 99, 1, 4, 1 }, /* LXF 2 */
	};
	/* WFP: (99/50)^3 * 4 = 31, and (90/40)^3 = 11.4 with size 1 */
	static const struct row sizes[] = {
		{ 0, 100, 4, 1 },
		{ 1, 50, 4, 1 },
		{ 10, 40, 1, 1 },
	};

	CHECK("lxf:fit=block", "4", rows, 0, 111, 100, 110);
	CHECK("wfp:fit=block", "4", sizes, 0, 100, 150);
}

/*
 * Priorities of NQS: job 2 is long (10), job 3 short (12). With age=36 an hour
 * (0.01 a second) and block=12, job 2 blocks after 200 s of waiting.
 */
static void queues_age_and_block(void **state)
{
	static const struct row rows[] = {
		{ 0, 100, 2, 1 },   { 1, 40000, 4, 1 }, /* long, needs all */
		{ 2, 300, 2, 1 },   /* short, starts before job 2 */
		{ 101, 300, 2, 1 }, /* short, too */
		{ 250, 300, 2, 1 }, /* job 2 has 12.49 by now and blocks */
	};

	CHECK("nqs:age=36,block=12", "4", rows, 0, 401, 2, 101, 40401);
	CHECK("nqs:age=0", "4", rows, 0, 602, 2, 101, 302);
}

/* User 1 has used the machine, so user 2 goes first. */
static void fair_share(void **state)
{
	static const struct row rows[] = {
		{ 0, 100, 4, 1 },
		{ 1, 10, 4, 1 },
		{ 2, 10, 4, 2 },
	};

	CHECK("multifactor:fit=block", "4", rows, 0, 110, 100);
	CHECK("multifactor:fair=0,fit=block", "4", rows, 0, 100, 110);
}

/*
 * Job 2 holds the 2 idle processors from 1 to 301 and is deferred until 601;
 * then job 1 still runs, so it holds none... job 3 gets its turn at 301.
 */
static void held_then_deferred(void **state)
{
	static const struct row rows[] = {
		{ 0, 1000, 2, 1 },
		{ 1, 10, 4, 1 },
		{ 2, 500, 2, 1 },
	};
	static const struct row in_time[] = {
		{ 0, 100, 2, 1 },
		{ 1, 10, 4, 1 },
		{ 2, 500, 2, 1 },
	};

	CHECK("loadleveler", "4", rows, 0, 1201, 301);
	CHECK("loadleveler", "4", in_time, 0, 100, 110);
}

/*
 * Job 2 holds idle processors from 1 to 101 and comes back at 601; job 3 holds
 * them from 101 to 201 and comes back at 701. The timer that is asked for later
 * is due first.
 */
static void instants_in_their_order(void **state)
{
	static const struct row rows[] = {
		{ 0, 650, 2, 1 },
		{ 1, 10, 4, 1 },
		{ 2, 10, 3, 1 },
		{ 3, 100, 2, 1 },
	};

	CHECK("loadleveler:reserve=100,defer=500", "4", rows, 0, 650, 701, 201);
}

/* DQS puts at most two processes on a host; PVM puts more there. */
static void mappings(void **state)
{
	static const struct row rows[] = {
		{ 0, 10, 2, 1 },
		{ 0, 10, 2, 1 },
	};

	CHECK("dqs", "2x1", rows, 0, 10);
	CHECK("dqs:slots=2", "2x1", rows, 0, 0);
	CHECK("dqs:by=sequence", "2x1", rows, 0, 10);
	CHECK("pvm", "2x1", rows, 0, 0);
	CHECK("pvm:start=next", "3x1", rows, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shortest_first),
		cmocka_unit_test(expansion_and_wfp),
		cmocka_unit_test(queues_age_and_block),
		cmocka_unit_test(fair_share),
		cmocka_unit_test(held_then_deferred),
		cmocka_unit_test(instants_in_their_order),
		cmocka_unit_test(mappings),
	};

	return cmocka_run_group_tests_name("classic", tests, NULL, NULL);
}
