/*
 * test_told.c - what policies that choose hosts give as their reasons, and what of the
 * ring of gang slices is there again after a restart
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/policies.h"

struct world {
	struct view view;
	struct policy *policy;
	struct plan plan;
};

static void world_begin(struct world *w, const char *spec, int hosts)
{
	struct host host[4];

	*w = (struct world){ .plan = PLAN_INIT };
	for (int i = 0; i < hosts; i++)
		host[i] = (struct host){ .name = "h",
					 .speed = 1,
					 .cores = 1,
					 .slots = 10,
					 .up = true };
	view_init_hosts(&w->view, host, (uint32_t)hosts);
	w->view.now = 10 * USEC_PER_SEC;
	assert_int_equal(policy_create(spec, 1, &w->view, &w->policy, NULL), 0);
}

static void world_end(struct world *w)
{
	policy_destroy(w->policy);
	plan_clear(&w->plan);
	view_clear(&w->view);
}

static struct job *arrive(struct world *w, int64_t id, uint32_t size)
{
	struct job *job = view_job_create(&w->view);
	struct event e = { .type = EVENT_ARRIVE,
			   .at = w->view.now,
			   .job = job };

	job->id = id;
	job->submit = w->view.now;
	job->user = -1;
	job->size = job->min_size = size;
	job->kind = JOB_RIGID;
	model_apply(&w->view, &e);
	policy_event(w->policy, &w->view, &e);
	return job;
}

static void pass(struct world *w)
{
	plan_reset(&w->plan, &w->view);
	policy_decide(w->policy, &w->view, &w->plan);
	for (size_t i = 0; i < w->plan.nr; i++) {
		const struct plan_entry *p = &w->plan.entry[i];

		if (p->type == PLAN_START)
			model_apply(&w->view,
				    &(struct event){ .type = EVENT_START,
						     .at = w->view.now,
						     .job = p->job,
						     .n = p->n,
						     .hosts = p->hosts });
	}
}

/* Is that said by the pass's n-th entry? */
static void says(const struct world *w, size_t n, const char *what)
{
	char text[400];

	assert_true(n < w->plan.nr);
	plan_print(&w->view, &w->plan.entry[n], text, sizeof(text));
	if (!strstr(text, what))
		fail_msg("not '%s': %s", what, text);
}

static void why(struct world *w, const struct job *job, const char *what)
{
	size_t n = w->plan.nr;

	policy_explain(w->policy, &w->view, job, &w->plan);
	says(w, n, what);
}

/* Three open hosts are enough for three ranks, and too few for four. */
static void just_enough_is_not_too_few(void **state)
{
	struct world w;
	struct job *j;

	(void)state;
	world_begin(&w, "borrow:slice=100", 3);
	arrive(&w, 1, 2);
	j = arrive(&w, 2, 3);
	pass(&w);
	why(&w, j, "1 job is before it in the ring");
	j = arrive(&w, 3, 4);
	pass(&w);
	why(&w, j, "it needs 4 open hosts, and there are 3");
	world_end(&w);
}

/* Those that start in the same pass are counted. */
static void processes_are_those_that_will_be_there(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "g-loadsharing", 1);
	for (int id = 1; id <= 3; id++)
		arrive(&w, id, 1);
	pass(&w);
	says(&w, 0, "the fewest processes (0)");
	says(&w, 1, "the fewest processes (1)");
	says(&w, 2, "the fewest processes (2)");
	world_end(&w);
}

/* The ring of jobs 3, 2 and 1, as it is without job 2 and with 4, which has come. */
static void the_ring_is_as_it_was(void **state)
{
	struct world w;
	char *saved;

	(void)state;
	world_begin(&w, "borrow:slice=100", 1);
	arrive(&w, 4, 1);
	arrive(&w, 1, 1);
	arrive(&w, 3, 1);
	assert_int_equal(
		policy_load(w.policy, &w.view, "110000000\n3\n2\n1\n", NULL),
		0);
	saved = policy_save(w.policy, &w.view);
	assert_string_equal(saved, "110000000\n3\n1\n4\n");
	free(saved);
	assert_true(policy_load(w.policy, &w.view, "110000000\n3\n3\n", NULL) <
		    0);
	world_end(&w);
}

/*
 * Jobs of 3 and 4 hosts: none begins above the most, and of those that are as high the first
 * goes first.
 */
static void no_priority_is_above_the_most(void **state)
{
	(void)state;
	for (int most = 1; most <= 6; most++) {
		struct world w;
		struct job *a, *b;
		char spec[40], line[40], *saved;

		snprintf(spec, sizeof(spec), "lst:slice=100,maxprio=%d", most);
		world_begin(&w, spec, 4);
		a = arrive(&w, 1, 3);
		b = arrive(&w, 2, 4);
		saved = policy_save(w.policy, &w.view);
		for (int id = 1; id <= 2; id++) {
			snprintf(line, sizeof(line), "\n%d %d ", id,
				 id + 2 < most ? id + 2 : most);
			assert_non_null(strstr(saved, line));
		}
		free(saved);
		pass(&w);
		assert_true((most <= 3 ? a : b)->state == JOB_RUNNING);
		assert_true((most <= 3 ? b : a)->state == JOB_WAITING);
		world_end(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(just_enough_is_not_too_few),
		cmocka_unit_test(processes_are_those_that_will_be_there),
		cmocka_unit_test(no_priority_is_above_the_most),
		cmocka_unit_test(the_ring_is_as_it_was),
	};

	return cmocka_run_group_tests_name("told", tests, NULL, NULL);
}
