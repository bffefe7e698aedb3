/*
 * test_expect.c - the predicted start of a job (policy/expect.h) is that of the
 * simulator
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/expect.h"
#include "sim/engine/test_list.h"

enum { JOBS = 60, PROCS = 8 };

static struct job *arrive(struct view *v, int64_t id, const struct row *r)
{
	struct job *j = view_job_create(v);
	struct event e = { .type = EVENT_ARRIVE, .at = v->now, .job = j };

	j->id = id;
	j->size = j->min_size = (uint32_t)r->size;
	j->submit = r->submit * USEC_PER_SEC;
	j->estimate = r->run * USEC_PER_SEC;
	j->user = r->user;
	model_apply(v, &e);
	return j;
}

static void start(struct view *v, struct job *j)
{
	struct event e = {
		.type = EVENT_START, .at = v->now, .job = j, .n = j->size
	};

	model_apply(v, &e);
}

/*
 * All jobs come at once, so that nothing happens later that was not foreseen.
 */
static void try_policy(const char *spec, const struct row *rows)
{
	const struct expect x = { .spec = spec, .seed = 1, .most = 1000 };
	struct sim_result result;
	struct view v;
	struct job *j;

	simulate_list(spec, "8", (struct sim_config){ .seed = 1 }, rows, JOBS,
		      &result);
	view_init(&v, PROCS);
	for (int i = 0; i < JOBS; i++)
		arrive(&v, i + 1, &rows[i]);
	for_each_waiting(j, &v) if (policy_expect(&x, &v, j) !=
				    result.record[j->id - 1].start)
		fail_msg("%s: job %d is to start at %g, and starts at %g", spec,
			 (int)j->id, usec_to_seconds(policy_expect(&x, &v, j)),
			 usec_to_seconds(result.record[j->id - 1].start));
	view_clear(&v);
	sim_result_clear(&result);
}

static void as_simulated(void **state)
{
	struct random_stream random;
	struct row rows[JOBS];
	int tried = 0;

	random_init(&random, 7, "rows", 0);
	for (int i = 0; i < JOBS; i++)
		rows[i] = (struct row){
			.run = 1 + (int)random_below(&random, 500),
			.size = 1 + (int)random_below(&random, PROCS),
			.user = (int)random_below(&random, 3)
		};
	for (size_t i = 0; policy_nth(i); i++)
		if (!(policy_nth(i)->flags &
		      (POLICY_HOSTS | POLICY_FOLDS | POLICY_RESIZES |
		       POLICY_SLICES))) {
			try_policy(policy_nth(i)->name, rows);
			tried++;
		}
	assert_true(tried >= 6);
}

static usec_t half_a_minute(const struct job *job)
{
	return job->id == 1 ? 30 * USEC_PER_SEC : 0;
}

static void from_the_middle(void **state)
{
	static const struct row first = { 0, 100, 4, 1 },
				second = { 1, 50, 4, 1 }, open = { 2, 0, 4, 1 },
				last = { 3, 5, 4, 1 };
	struct expect x = { .spec = "fcfs", .seed = 1, .most = 100 };
	struct job *j, *next, *late;
	struct view v;

	view_init(&v, 4);
	j = arrive(&v, 1, &first);
	start(&v, j);
	v.now = 40 * USEC_PER_SEC;
	next = arrive(&v, 2, &second);
	late = arrive(&v, 3, &open);
	assert_true(policy_expect(&x, &v, next) == 100 * USEC_PER_SEC);
	assert_true(policy_expect(&x, &v, late) == 150 * USEC_PER_SEC);
	/*
	 * If a running job's end is not known, nothing is predicted for the
	 * jobs behind it.
	 */
	assert_true(policy_expect(&x, &v, arrive(&v, 4, &last)) == USEC_MAX);
	/*
	 * The job has run for longer than its estimate: as long again is
	 * assumed.
	 */
	v.now = 120 * USEC_PER_SEC;
	assert_true(policy_expect(&x, &v, next) == 220 * USEC_PER_SEC);
	/* The job's time limit is over, so it is about to end. */
	x.limit = half_a_minute;
	assert_true(policy_expect(&x, &v, next) == v.now + 1);
	/* The view has not been changed. */
	assert_true(v.nr_waiting == 3 && v.nr_running == 1 &&
		    next->state == JOB_WAITING && j->n == 4);
	x.most = 3;
	assert_true(policy_expect(&x, &v, next) == USEC_MAX);
	view_clear(&v);
}

/* The list of what a job's ranks send each other stays the view's own. */
static void with_talk(void **state)
{
	static const struct row first = { 0, 100, 2, 1 },
				second = { 1, 50, 4, 1 };
	struct job_talk talk = { .a = 0, .b = 1, .bytes = 1e6 };
	struct expect x = { .spec = "fcfs", .seed = 1, .most = 100 };
	struct job *j, *next;
	struct event e;
	struct view v;

	view_init(&v, 4);
	j = arrive(&v, 1, &first);
	start(&v, j);
	e = (struct event){
		.type = EVENT_TALK, .job = j, .n = 1, .talk = &talk
	};
	model_apply(&v, &e);
	next = arrive(&v, 2, &second);
	for (int i = 0; i < 3; i++)
		assert_true(policy_expect(&x, &v, next) == 100 * USEC_PER_SEC);
	assert_true(j->ranks->nr_talks == 1 && j->ranks->talk->b == 1);
	view_clear(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_simulated),
		cmocka_unit_test(from_the_middle),
		cmocka_unit_test(with_talk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
