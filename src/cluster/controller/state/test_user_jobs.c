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

#include "cluster/controller/state/job.h"
#include "cluster/controller/state/user_jobs.h"
#include "core/scratch.h"
#include "core/xalloc.h"

static char path[SCRATCH_MAX + 16];
static struct ctl ctl;

static void begin(void)
{
	struct error err;

	memset(&ctl, 0, sizeof(ctl));
	TAILQ_INIT(&ctl.jobs.list);
	TAILQ_INIT(&ctl.jobs.ended);
	assert_int_equal(store_open(path, &ctl.store, &err), 0);
	ctl_jobs_read(&ctl);
}

static void end(void)
{
	while (!TAILQ_EMPTY(&ctl.jobs.list))
		ctl_job_destroy(TAILQ_FIRST(&ctl.jobs.list));
	assert_null(ctl.jobs.by_user);
	assert_true(TAILQ_EMPTY(&ctl.jobs.ended));
	assert_int_equal(ctl.jobs.nr_ended, 0);
	store_close(ctl.store);
}

static int setup(void **state)
{
	char dir[SCRATCH_MAX];

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/state", dir);
	begin();
	return 0;
}

static int teardown(void **state)
{
	end();
	return 0;
}

static struct ctl_job *job_of(uint64_t id, const char *user, uint32_t ranks)
{
	Control__Submit *s = xmalloc(sizeof(*s));
	struct ctl_job *job;

	control__submit__init(s);
	s->user = xstrdup(user);
	s->argv = xcalloc(1, sizeof(*s->argv));
	s->argv[s->n_argv++] = xstrdup("true");
	s->ranks = ranks;
	job = ctl_job_create(&ctl, id, s);
	ctl_job_store(job);
	return job;
}

/* Of that user there are so many jobs and ranks that are not over, and that are. */
static void has(const char *user, int jobs, int ranks, int over, int ranks_over)
{
	const struct ctl_user_jobs *u = ctl_user_jobs_find(&ctl, user);

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
	return TAILQ_FIRST(&ctl.jobs.ended)->id;
}

static void jobs_come_and_go(void **state)
{
	struct ctl_job *one = job_of(1, "ada", 2), *two = job_of(2, "ada", 3);

	assert_null(ctl_user_jobs_find(&ctl, "bob"));
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
	assert_null(ctl_user_jobs_find(&ctl, "ada"));
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
	begin();
	has("eve", 1, 4, 2, 3);
	assert_int_equal(ended_first(), 5);
	assert_int_equal(ctl.jobs.nr_ended, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_come_and_go),
		cmocka_unit_test(also_after_a_restart),
	};

	return cmocka_run_group_tests_name("user_jobs", tests, setup, teardown);
}
