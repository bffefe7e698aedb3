/*
 * test_after.c - jobs that follow single tasks of arrays, and jobs that are to follow others
 * than before
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors.h"
#include "cluster/controller/state/find.h"
#include "cluster/controller/state/user_jobs.h"
#include "core/clock.h"

#define KIND(NAME) CONTROL__AFTER_KIND__AFTER_##NAME

static struct conn *admin;
static uint64_t last; /* job that was submitted; 0: it was refused */
static char why[512];

static void on_said(struct conn *c, const Control__Message *m)
{
	*why = 0;
	if (m->body_case == MESSAGE_BODY(SUBMITTED))
		last = m->submitted->job;
	else if (m->body_case == MESSAGE_BODY(FAILED))
		snprintf(why, sizeof(why), "%s", m->failed->why);
}

static int begin(void **state)
{
	actors_begin();
	actors_said = on_said;
	return 0;
}

static void come(void)
{
	actor_greet("host/h1", -1);
	admin = actor_greet("admin/root", -1);
}

static uint64_t submit(Control__Submit *s)
{
	char *argv[] = { (char *)"true" };

	s->argv = argv;
	s->n_argv = s->ranks = 1;
	s->uid = getuid();
	s->detached = true;
	last = 0;
	actor_say(admin, MESSAGE_BODY(SUBMIT), s);
	return last;
}

/* It is held; of the array, where there are tasks. */
static uint64_t submit_held(uint32_t *tasks, size_t n)
{
	Control__Submit s = CONTROL__SUBMIT__INIT;

	s.held = true;
	s.tasks = tasks;
	s.n_tasks = n;
	return submit(&s);
}

static Control__After after(uint64_t job, uint64_t array, uint32_t task)
{
	Control__After a = CONTROL__AFTER__INIT;

	a.job = job;
	a.array = array;
	a.task = task;
	a.kind = KIND(ANY);
	return a;
}

static uint64_t submit_after(Control__After a)
{
	Control__Submit s = CONTROL__SUBMIT__INIT;
	Control__After *list[] = { &a };

	s.after = list;
	s.n_after = 1;
	return submit(&s);
}

/* To follow that one; none where it is 0.  Was it refused, because of that? */
static void update(uint64_t job, Control__After a, const char *because)
{
	Control__ChangeJob c = CONTROL__CHANGE_JOB__INIT;
	Control__After *list[] = { &a };

	c.job = job;
	c.change = CONTROL__CHANGE__UPDATE;
	c.after = list;
	c.n_after = a.job || a.array;
	c.no_after = !c.n_after;
	actor_say(admin, MESSAGE_BODY(CHANGE_JOB), &c);
	if (!strstr(why, because) || !*because != !*why)
		fail_msg("%s", why);
}

static void cancel(uint64_t job)
{
	Control__Signal s = CONTROL__SIGNAL__INIT;

	s.job = job;
	s.signo = SIGKILL;
	actor_say(admin, MESSAGE_BODY(SIGNAL), &s);
}

static void waits_for(struct ctl *ctl, uint64_t job, const char *text)
{
	const struct ctl_job *j = ctl_job_find(ctl, job);

	assert_string_equal(j->why, text);
	assert_false(j->spec->followed);
	assert_null(j->model);
}

/* Nothing keeps it any more. */
static bool is_free(struct ctl *ctl, uint64_t job)
{
	return ctl_job_find(ctl, job)->after == AFTER_FREE &&
	       ctl_job_find(ctl, job)->model;
}

/* ---- one task */

static uint32_t some_tasks[] = { 10, 20, 30, 35 };
static uint64_t array, one, first, all, later;

static void cancel_first(void)
{
	Control__Signal s = CONTROL__SIGNAL__INIT;
	Control__TaskRange t = CONTROL__TASK_RANGE__INIT, *list[] = { &t };

	s.job = array;
	s.signo = SIGKILL;
	t.first = t.last = some_tasks[0];
	s.tasks = list;
	s.n_tasks = 1;
	actor_say(admin, MESSAGE_BODY(SIGNAL), &s);
}

static bool tasks_end(void *ctl)
{
	static unsigned turn;

	switch (turn++) {
	case 0:
		come();
		array = submit_held(some_tasks, 4);
		one = submit_after(after(0, array, 20));
		first = submit_after(after(0, array, 10));
		all = submit_after(after(array, 0, 0));
		assert_int_equal(submit_after(after(0, array, 21)), 0);
		assert_non_null(strstr(why, "has no task 21"));
		assert_int_equal(submit_after(after(0, array, 0)), 0);
		assert_int_equal(submit_after(after(0, array, 36)), 0);
		assert_int_equal(submit_after(after(0, one, 0)), 0);
		waits_for(ctl, one, "begins when job 1[20] is over");
		waits_for(ctl, first, "begins when job 1[10] is over");
		waits_for(ctl, all, "begins when array 1 is over");
		cancel(array + 1);
		return true;
	case 1:
	case 2:
		return true; /* a pass */
	case 3:
		assert_true(is_free(ctl, one));
		waits_for(ctl, first, "begins when job 1[10] is over");
		cancel_first();
		later = submit_after(after(0, array, 10));
		assert_true(ctl_job_find(ctl, later)->spec->after[0]->over);
		return true;
	case 4:
	case 5:
		return true;
	default:
		assert_true(is_free(ctl, first));
		waits_for(ctl, all, "begins when array 1 is over");
		return false;
	}
}

/* As the next controller has it, which knows of some by their accounts alone. */
static bool some_are_forgotten(void *ctl)
{
	static unsigned turn;

	if (!turn) {
		come();
		assert_null(ctl_job_find(ctl, array + 1));
		waits_for(ctl, submit_after(after(0, array, 35)),
			  "begins when job 1[35] is over");
		one = submit_after(after(0, array, 20));
		assert_int_equal(submit_after(after(0, array, 21)), 0);
		cancel(array);
	}
	if (turn++ < 4)
		return true;
	assert_true(is_free(ctl, one));
	assert_true(is_free(ctl, all));
	return false;
}

static bool all_are(void *ctl)
{
	static unsigned turn;

	if (!turn) {
		come();
		for (size_t i = 0; i < 4; i++) {
			assert_null(ctl_job_find(ctl, array + i));
			one = submit_after(after(0, array, some_tasks[i]));
			assert_int_not_equal(one, 0);
			assert_false(
				ctl_job_find(ctl, one)->spec->after[0]->whole);
		}
		assert_int_equal(submit_after(after(0, array, 34)), 0);
	}
	if (turn++ < 3)
		return true;
	assert_true(is_free(ctl, one));
	return false;
}

static void one_task_of_an_array(void **state)
{
	static const char *const settings[] = { "history", "0", NULL };

	actors_run(tasks_end, settings);
	actors_run(some_are_forgotten, settings);
	actors_run(all_are, settings);
}

/* ---- others than before */

static const char *env_of(const struct ctl_job *job, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i < job->spec->n_env; i++)
		if (!strncmp(job->spec->env[i], name, strlen(name))) {
			assert_null(value);
			value = job->spec->env[i] + strlen(name);
		}
	return value;
}

static uint64_t a, b, c, d;

static void follow_and_none(uint64_t job)
{
	Control__ChangeJob ask = CONTROL__CHANGE_JOB__INIT;
	Control__After first_of = after(a, 0, 0), *list[] = { &first_of };

	ask.job = job;
	ask.change = CONTROL__CHANGE__UPDATE;
	ask.after = list;
	ask.n_after = ask.no_after = 1;
	actor_say(admin, MESSAGE_BODY(CHANGE_JOB), &ask);
	assert_non_null(strstr(why, "one of them"));
}

static bool are_updated(void *ctl)
{
	static unsigned turn;
	static uint32_t two[] = { 0, 1 };

	switch (turn++) {
	case 0:
		come();
		a = submit_held(NULL, 0);
		b = submit_held(NULL, 0);
		c = submit_after(after(a, 0, 0));
		d = submit_held(two, 2);
		update(c, after(b, 0, 0), "");
		waits_for(ctl, c, "begins when job 2 is over");
		update(c, after(d, 0, 0), "submitted before it");
		update(c, after(c, 0, 0), "submitted before it");
		update(c, after(4711, 0, 0), "no job 4711");
		update(d + 1, after(d, 0, 0), "submitted before it");
		update(d + 1, after(0, d, 0), "");
		follow_and_none(c);
		waits_for(ctl, c, "begins when job 2 is over");
		cancel(a);
		return true;
	case 1:
	case 2:
		return true;
	case 3:
		waits_for(ctl, c, "begins when job 2 is over");
		cancel(b);
		return true;
	case 4:
	case 5:
		return true;
	case 6:
		assert_true(is_free(ctl, c));
		assert_string_equal(
			env_of(ctl_job_find(ctl, c), "STINT_AFTER_JOB="), "2");
		return false;
	default:
		return false;
	}
}

/* What its user's jobs take is what was counted, whatever was updated. */
static void sizes_are_right(struct ctl *ctl)
{
	const struct ctl_job *job = TAILQ_FIRST(&ctl->jobs.list);
	int64_t bytes = job->of_user->bytes;

	for (; job; job = TAILQ_NEXT(job, link))
		bytes -= job->state == STATE(DONE) ? 0 : (int64_t)job->size;
	assert_int_equal(bytes, 0);
}

/* One that is free, and waits for the only core, follows again, and then none. */
static bool once_more(void *ctl)
{
	static unsigned turn;
	uint64_t busy;

	switch (turn++) {
	case 0:
		come();
		a = submit_held(NULL, 0);
		busy = submit(&(Control__Submit)CONTROL__SUBMIT__INIT);
		c = submit_held(NULL, 0);
		b = submit_after(after(c, 0, 0));
		assert_int_equal(busy + 2, b);
		cancel(c);
		return true;
	case 1:
	case 2:
	case 3:
	case 4:
		return true;
	case 5:
		assert_true(is_free(ctl, b));
		assert_int_equal(ctl_job_find(ctl, b)->state, STATE(WAITING));
		update(b, after(a, 0, 0), "");
		waits_for(ctl, b, "begins when job 1 is over");
		sizes_are_right(ctl);
		return false;
	default:
		return false;
	}
}

static bool then_none(void *ctl)
{
	static unsigned turn;

	switch (turn++) {
	case 0:
		come();
		waits_for(ctl, b, "begins when job 1 is over");
		d = submit_after(after(a, 0, 0));
		update(d, after(c, 0, 0), ""); /* which is over */
		update(b, after(0, 0, 0), "");
		return true;
	case 1:
	case 2:
	case 3:
		return true;
	case 4:
		assert_true(is_free(ctl, d));
		assert_true(is_free(ctl, b));
		assert_null(env_of(ctl_job_find(ctl, b), "STINT_AFTER_JOB="));
		assert_null(env_of(ctl_job_find(ctl, b), "STINT_AFTER_EXIT="));
		update(b, after(c, 0, 0), ""); /* as at first */
		return true;
	case 5:
	case 6:
	case 7:
		return true;
	default:
		assert_true(is_free(ctl, b));
		assert_non_null(
			env_of(ctl_job_find(ctl, b), "STINT_AFTER_JOB="));
		assert_null(((struct ctl *)ctl)->jobs.awaited);
		return false;
	}
}

static void follows_again(void **state)
{
	static const char *const settings[] = { "policy", "fcfs", NULL };

	actors_run(once_more, settings);
	actors_run(then_none, settings);
}

static void others_than_before(void **state)
{
	actors_run(are_updated, NULL);
}

/* ---- what a list costs */

enum { TASKS = 300, LONG = 100000, KNOWN = 64 };

/* CPU time of that request, which is refused. */
static usec_t refused_after(uint64_t job, Control__After **list, size_t n,
			    const char *because)
{
	usec_t begun = clock_usec(CLOCK_PROCESS_CPUTIME_ID);
	Control__ChangeJob ask = CONTROL__CHANGE_JOB__INIT;

	ask.job = job;
	ask.change = CONTROL__CHANGE__UPDATE;
	ask.after = list;
	ask.n_after = n;
	actor_say(admin, MESSAGE_BODY(CHANGE_JOB), &ask);
	assert_non_null(strstr(why, because));
	return clock_usec(CLOCK_PROCESS_CPUTIME_ID) - begun;
}

/* As much for all tasks of an array as for one job. */
static void costs_once(uint64_t many, uint64_t job, Control__After **list,
		       size_t n, const char *because)
{
	usec_t least = refused_after(job, list, n, because);
	usec_t took = refused_after(many, list, n, because);

	assert_in_range(took, 0, least * 20 + 5 * USEC_PER_MSEC);
}

static bool are_looked_at_once(void *ctl)
{
	static Control__After list[KNOWN], none = CONTROL__AFTER__INIT;
	static Control__After *of[LONG];
	uint32_t tasks[TASKS];

	come();
	for (uint32_t i = 0; i < TASKS; i++)
		tasks[i] = i;
	a = submit_held(tasks, TASKS);
	b = submit_held(NULL, 0);
	c = submit_held(tasks, TASKS);
	for (uint32_t i = 0; i < LONG; i++)
		of[i] = &none;
	costs_once(c, b, of, LONG, "64 at most");
	for (uint32_t i = 0; i < KNOWN; i++) {
		list[i] = after(0, a, i * 3);
		of[i] = &list[i];
	}
	list[KNOWN - 1].task = TASKS;
	costs_once(c, b, of, KNOWN, "has no task 300");
	return false;
}

static void a_list_is_looked_at_once(void **state)
{
	actors_run(are_looked_at_once, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_task_of_an_array, begin),
		cmocka_unit_test_setup(others_than_before, begin),
		cmocka_unit_test_setup(follows_again, begin),
		cmocka_unit_test_setup(a_list_is_looked_at_once, begin),
	};

	return cmocka_run_group_tests_name("after", tests, NULL, NULL);
}
