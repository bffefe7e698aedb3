/*
 * test_user_jobs.c - what each user has of jobs is counted, also by a controller that
 * was started anew
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/controller/state/find.h"
#include "cluster/controller/state/job.h"
#include "cluster/controller/state/test_ctl.h"
#include "cluster/controller/state/user_jobs.h"
#include "core/xalloc.h"

static void end(void)
{
	test_ctl_end();
	assert_null(test_ctl.jobs.by_user);
	assert_true(TAILQ_EMPTY(&test_ctl.jobs.ended));
	assert_int_equal(test_ctl.jobs.nr_ended, 0);
}

static int teardown(void **state)
{
	end();
	return 0;
}

static struct ctl_job *job_of(uint64_t id, const char *user, uint32_t ranks)
{
	struct ctl_job *job =
		ctl_job_create(&test_ctl, id, test_ctl_submit(user, ranks));

	ctl_job_store(job);
	return job;
}

/* Of that user there are so many jobs and ranks that are not over, and that are. */
static void has(const char *user, int jobs, int ranks, int over, int ranks_over)
{
	const struct ctl_user_jobs *u = ctl_user_jobs_find(&test_ctl, user);

	assert_non_null(u);
	assert_string_equal(u->user, user);
	assert_int_equal(u->jobs, jobs);
	assert_int_equal(u->ranks, ranks);
	assert_true(u->bytes >= jobs && (jobs || !u->bytes));
	assert_int_equal(u->over, over);
	assert_int_equal(u->ranks_over, ranks_over);
}

static uint64_t ended_first(void)
{
	return TAILQ_FIRST(&test_ctl.jobs.ended)->id;
}

static void jobs_come_and_go(void **state)
{
	struct ctl_job *one = job_of(1, "ada", 2), *two = job_of(2, "ada", 3);

	assert_null(ctl_user_jobs_find(&test_ctl, "bob"));
	job_of(3, "bob", 1);
	has("ada", 2, 5, 0, 0);
	ctl_job_set_state(two, STATE(DONE));
	has("ada", 1, 2, 1, 3);
	ctl_job_set_state(one, STATE(DONE));
	assert_int_equal(ended_first(), 2);
	ctl_job_forget(two);
	has("ada", 0, 0, 1, 2);
	assert_int_equal(ended_first(), 1);
	has("bob", 1, 1, 0, 0);
	ctl_job_forget(one);
	assert_null(ctl_user_jobs_find(&test_ctl, "ada"));
}

/* What an update changes of its size is not counted for ever. */
static void sizes_change(void **state)
{
	struct ctl_job *job = job_of(1, "ada", 1);
	int64_t before;

	job_of(2, "ada", 1);
	before = ctl_user_jobs_find(&test_ctl, "ada")->bytes;
	message_set_text(&job->spec->name, xstrdup("a longer name"));
	ctl_user_jobs_resize(job, ctl_job_size(job->spec));
	assert_in_range(ctl_user_jobs_find(&test_ctl, "ada")->bytes,
			before + 13, before + 20);
	ctl_job_set_state(job, STATE(DONE));
	ctl_job_set_state(ctl_job_find(&test_ctl, 2), STATE(DONE));
	has("ada", 0, 0, 2, 2);
}

static void also_after_a_restart(void **state)
{
	struct ctl_job *late = job_of(4, "eve", 1),
		       *first = job_of(5, "eve", 2);

	job_of(6, "eve", 4);
	ctl_job_set_state(first, STATE(DONE));
	ctl_job_set_state(late, STATE(DONE));
	late->end = first->end + 1; /* the clock may not have told them apart */
	ctl_job_store(late);
	end();
	test_ctl_begin();
	has("eve", 1, 4, 2, 3);
	assert_int_equal(ended_first(), 5);
	assert_int_equal(test_ctl.jobs.nr_ended, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_come_and_go),
		cmocka_unit_test(also_after_a_restart),
		cmocka_unit_test(sizes_change),
	};

	return cmocka_run_group_tests_name("user_jobs", tests, test_ctl_setup,
					   teardown);
}
