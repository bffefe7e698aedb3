/*
 * test_anew.c - a job begins anew: nothing of its life before is left, and why it
 * failed is why it ends
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include "three.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/controller/job/job.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/rank.h"

#define HOUR (3600 * USEC_PER_SEC)

/* Nothing of a life is left in the next but what it is to be. */
static bool forget_it(void *ctl)
{
	struct ctl_job *job;
	struct ctl_rank *r;

	all_come(-1, -1);
	submit(2, "h1", "h2");
	job = job_of(ctl, 1);
	r = &job->ranks[0];
	job->nr = job->spec->started_ranks = 1;
	job->spec->warned = job->spec->requeuing = job->limit_met = true;
	ctl_job_set_reason(job, ENDED(EXIT_CODE), "");
	assert_int_equal(job->reason, ENDED(REASON_NONE)); /* no end yet */
	job->spec->requeuing = false;
	ctl_job_set_reason(job, ENDED(EXIT_CODE), "bob");
	job->exit = job->cause = 1;
	ctl_job_set_reason(job, ENDED(TIME_LIMIT), "");
	assert_int_equal(job->reason, ENDED(EXIT_CODE)); /* the first */
	job->cause_at = r->frozen_since = ctl_now();
	r->starts = 2;
	r->inherited = r->aborted = r->lost = r->refused = true;
	ctl_job_set_limit(job, HOUR);
	assert_non_null(job->limiter);
	ctl_job_again(job);
	assert_int_equal(job->state, STATE(WAITING));
	assert_int_equal(job->nr, 2);
	assert_false(job->spec->warned || job->spec->started_ranks);
	assert_false(job->limit_met || job->cause || job->cause_at);
	assert_int_equal(job->reason, ENDED(REASON_NONE));
	assert_string_equal(job->by, "");
	assert_null(job->limiter);
	assert_false(r->inherited || r->aborted || r->lost || r->refused);
	assert_false(r->starts || r->frozen_since || r->host);
	return false;
}

static void a_new_life_is_new(void **state)
{
	actors_run(forget_it, NULL);
}

/* The sixteenth loss is the last. */
static bool lose_it(void *ctl)
{
	struct ctl_job *job;

	all_come(-1, -1);
	submit_one("h1", 0, 0);
	actor_keeper_starts(h1);
	job = job_of(ctl, 1);
	job->spec->requeues = step ? 16 : 15;
	ctl_rank_lost(&job->ranks[0], "it is gone");
	if (step)
		assert_int_equal(job->state, STATE(DONE));
	else
		assert_true(job->state == STATE(WAITING) ||
			    job->spec->requeuing);
	return false;
}

static void a_job_that_kills_its_hosts_ends(void **state)
{
	actors_run(lose_it, NULL);
	actors_begin();
	step = 1;
	actors_run(lose_it, NULL);
}

static bool fail_it(void *ctl)
{
	struct ctl_job *job;

	all_come(-1, -1);
	submit(2, "h1", "h2");
	actor_keeper_starts(h1);
	job = job_of(ctl, 1);
	ctl_job_fail(job, 0, 3, "rank %d failed", 0);
	assert_int_equal(job->bad_rank, 0);
	ctl_job_stop(job, "told to");
	assert_string_equal(job->why, "rank 0 failed");
	return false;
}

static void why_it_failed_is_why_it_ends(void **state)
{
	actors_run(fail_it, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_life_is_new),
		TEST(a_job_that_kills_its_hosts_ends),
		TEST(why_it_failed_is_why_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
