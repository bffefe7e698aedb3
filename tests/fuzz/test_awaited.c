/*
 * test_awaited.c - a rank that has ended well, and others that wait for it in a
 * barrier: the job fails, whichever is heard first
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "three.h"

#include "cluster/controller/state/job.h"

/* Two ranks, on h1 and h2. */
static const struct ctl_job *begin(struct ctl *ctl)
{
	all_come(-1, -1);
	submit(2, "h1", "h2");
	actors_rank = 0;
	actor_keeper_starts(h1);
	actors_rank = 1;
	actor_keeper_starts(h2);
	assert_int_equal(job_of(ctl, 1)->state, STATE(RUNNING));
	return job_of(ctl, 1);
}

/* A piece of its fence, or the last one. */
static void fence(uint32_t rank, uint64_t generation, uint64_t seq, bool more)
{
	Keeper__PmiFence f = KEEPER__PMI_FENCE__INIT;

	f.generation = generation;
	f.more = more;
	actors_rank = rank;
	actor_keeper(rank ? h2 : h1, 0, seq, 0, KEEPER__EVENT__BODY_PMI_FENCE,
		     &f);
}

static void end_well(uint32_t rank, uint64_t seq)
{
	Keeper__Exited exited = KEEPER__EXITED__INIT;

	actors_rank = rank;
	actor_keeper(rank ? h2 : h1, 0, seq, 0, KEEPER__EVENT__BODY_EXITED,
		     &exited);
}

static void failed_of(const struct ctl_job *job, int rank)
{
	assert_int_equal(job->exit, 1);
	assert_int_equal(job->bad_rank, rank);
	assert_non_null(strstr(job->why, "others wait for it"));
	assert_int_equal(job->state, STATE(ENDING));
	assert_in_range(ASKED(KILL), 1, 2);
}

static bool end_then_fence(void *ctl)
{
	const struct ctl_job *job = begin(ctl);

	end_well(1, 2);
	assert_int_equal(job->exit, 0);
	fence(0, 0, 2, true);
	assert_int_equal(job->exit, 0);
	fence(0, 0, 3, false);
	failed_of(job, 1);
	return false;
}

static bool fence_then_end(void *ctl)
{
	const struct ctl_job *job = begin(ctl);

	fence(1, 0, 2, false);
	end_well(0, 2);
	failed_of(job, 0);
	return false;
}

/* The controller that heard of its end is started again, and then its peer comes. */
static bool end_alone(void *ctl)
{
	begin(ctl);
	end_well(1, 2);
	return false;
}

static bool then_fence(void *ctl)
{
	actors_rank = 0;
	all_come(0, -1);
	actor_keeper_hello(h1, 0, KEEPER__STATE__RUNNING, 0);
	fence(0, 0, 2, false);
	failed_of(job_of(ctl, 1), 1);
	return false;
}

/* One that is through says it again, after the other has ended: nobody waits. */
static bool through(void *ctl)
{
	const struct ctl_job *job = begin(ctl);

	fence(0, 0, 2, false);
	fence(1, 0, 2, false);
	end_well(1, 3);
	fence(0, 0, 3, false);
	end_well(0, 4);
	assert_int_equal(job->exit, 0);
	assert_int_equal(job->state, STATE(DONE));
	return false;
}

static void who_has_ended_first(void **state)
{
	actors_run(end_then_fence, NULL);
}

static void who_is_waited_for_ends(void **state)
{
	actors_run(fence_then_end, NULL);
}

static void who_ended_before_a_restart(void **state)
{
	actors_run(end_alone, NULL);
	actors_run(then_fence, NULL);
}

static void who_was_through_ends(void **state)
{
	actors_run(through, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_has_ended_first),
		TEST(who_is_waited_for_ends),
		TEST(who_ended_before_a_restart),
		TEST(who_was_through_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
