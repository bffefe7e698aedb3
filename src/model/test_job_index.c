/* test_job_index.c - a view's jobs are found by their ids, whatever becomes of them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/event.h"

static void apply(struct view *v, enum event_type type, usec_t at,
		  struct job *j, uint32_t n)
{
	struct event e = { .type = type, .at = at, .job = j, .n = n };

	model_apply(v, &e);
}

static struct job *arrive(struct view *v, int64_t id)
{
	struct job *j = view_job_create(v);

	j->id = id;
	j->size = j->min_size = 1;
	apply(v, EVENT_ARRIVE, v->now, j, 0);
	return j;
}

static void check_found(const struct view *v, struct job *const *job, int64_t n)
{
	for (int64_t id = 0; id < n; id++)
		assert_ptr_equal(view_find_job(v, id), job[id]);
	assert_null(view_find_job(v, n));
	assert_null(view_find_job(v, -1));
}

/*
 * Also jobs that come after the first look-up, or that are in a slot which
 * another job had.
 */
static void jobs_by_id(void **state)
{
	enum { JOBS = 1000 };
	struct job *job[JOBS] = { 0 };
	struct view v;

	(void)state;
	view_init(&v, JOBS);
	assert_null(view_find_job(&v, 0));
	for (int64_t id = 0; id < JOBS; id += 2)
		job[id] = arrive(&v, id);
	check_found(&v, job, JOBS);
	for (int64_t id = 0; id < JOBS; id += 4) {
		apply(&v, EVENT_START, id, job[id], 1);
		if (id % 8) {
			apply(&v, EVENT_REQUEUE, id, job[id], 0);
			continue;
		}
		apply(&v, EVENT_END, id, job[id], 0);
		view_job_destroy(&v, job[id]);
		job[id] = NULL;
	}
	check_found(&v, job, JOBS);
	for (int64_t id = 1; id < JOBS; id += 2)
		job[id] = arrive(&v, id);
	check_found(&v, job, JOBS);
	view_clear(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_by_id),
	};

	return cmocka_run_group_tests_name("job_index", tests, NULL, NULL);
}
