/*
 * test_follow.c - jobs that follow others are told of their ends some at a time, and once,
 * whenever the controller dies; and what is known of an array as a whole
 *
 * The controller of fuzz_controller.c, with peers that are played by hand.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors.h"
#include "cluster/controller/job/job.h"
#include "cluster/controller/plan/plan.h"
#include "cluster/controller/state/after.h"
#include "cluster/controller/state/array.h"
#include "cluster/controller/state/find.h"

#define KIND(NAME) CONTROL__AFTER_KIND__AFTER_##NAME

enum {
	MANY = 900, /* follow one */
	TURN = 200, /* of these are told in a turn, at most */
	LARGE = 40, /* jobs of more than a turn together */
};

static struct conn *h1, *admin;
static uint64_t last; /* job that was submitted */

static void on_said(struct conn *c, const Control__Message *m)
{
	if (m->body_case == MESSAGE_BODY(SUBMITTED))
		last = m->submitted->job;
	else if (m->body_case == MESSAGE_BODY(FAILED))
		fail_msg("%s", m->failed->why);
}

static int begin(void **state)
{
	actors_begin();
	actors_said = on_said;
	return 0;
}

static void come(void)
{
	h1 = actor_greet("host/h1", -1);
	admin = actor_greet("admin/root", -1);
}

static uint64_t submit(Control__Submit *s)
{
	char *argv[] = { (char *)"true" };

	s->argv = argv;
	s->n_argv = s->ranks = 1;
	s->uid = getuid();
	s->detached = true;
	actor_say(admin, MESSAGE_BODY(SUBMIT), s);
	return last;
}

/* An array of so many tasks; 0: one job. */
static uint64_t submit_tasks(Control__Submit *s, uint32_t n)
{
	uint32_t task[MANY];

	for (uint32_t i = 0; i < n; i++)
		task[i] = i;
	s->tasks = task;
	s->n_tasks = n;
	return submit(s);
}

/* They are held: so none begins. */
static uint64_t submit_held(uint32_t tasks)
{
	Control__Submit s = CONTROL__SUBMIT__INIT;

	s.held = true;
	return submit_tasks(&s, tasks);
}

static uint64_t submit_after(uint64_t job, Control__AfterKind kind,
			     uint32_t tasks)
{
	Control__Submit s = CONTROL__SUBMIT__INIT;
	Control__After after = CONTROL__AFTER__INIT, *list[] = { &after };

	after.job = job;
	after.kind = kind;
	s.after = list;
	s.n_after = 1;
	return submit_tasks(&s, tasks);
}

/* They wait, so they are over at once, and not well. */
static void cancel_tasks(uint64_t job, uint32_t from, uint32_t to)
{
	Control__Signal s = CONTROL__SIGNAL__INIT;
	Control__TaskRange range = CONTROL__TASK_RANGE__INIT,
			   *list[] = { &range };

	range.first = from;
	range.last = to;
	s.job = job;
	s.signo = SIGKILL;
	s.tasks = list;
	s.n_tasks = from <= to;
	actor_say(admin, MESSAGE_BODY(SIGNAL), &s);
}

static void cancel(uint64_t job)
{
	cancel_tasks(job, 1, 0);
}

/* Job 1 is running on h1 from now on. */
static void run_first(void)
{
	Control__Submit s = CONTROL__SUBMIT__INIT;
	char *hosts[] = { (char *)"h1" };

	s.hosts = hosts;
	s.n_hosts = 1;
	assert_int_equal(submit(&s), 1);
	actor_keeper_starts(h1);
}

static void first_ends_well(void)
{
	Keeper__Exited exited = KEEPER__EXITED__INIT;

	actor_keeper(h1, 0, 2, 0, KEEPER__EVENT__BODY_EXITED, &exited);
}

/* ---- what is to be seen of them */

static const Control__After *after_of(struct ctl *ctl, uint64_t job)
{
	return ctl_job_find(ctl, job)->spec->after[0];
}

static int state_of(struct ctl *ctl, uint64_t job)
{
	return ctl_job_find(ctl, job)->state;
}

static unsigned count_told(struct ctl *ctl, uint64_t from)
{
	unsigned told = 0;

	for (uint64_t id = from; id < from + MANY; id++)
		told += after_of(ctl, id)->over;
	return told;
}

static bool is_due_to_begin(struct ctl *ctl, uint64_t id)
{
	const struct ctl_job *job = ctl_job_find(ctl, id);

	/* one that started is lost with its controller */
	return job->spec->followed && (job->start || !job->exit);
}

/* It has ended without having begun, as what it followed did. */
static bool is_spoilt(struct ctl *ctl, uint64_t id)
{
	const struct ctl_job *job = ctl_job_find(ctl, id);

	return job->state == STATE(DONE) && !job->start &&
	       job->reason == ENDED(DEPENDENCY);
}

/* ---- a turn, and the next controller */

static uint64_t followers;

static bool all_come(void *ctl)
{
	come();
	run_first();
	followers = submit_after(1, KIND(OK), MANY);
	return false;
}

/* A pass tells some, and the next ones none before others were served. */
static void passes_tell_some(struct ctl *ctl)
{
	unsigned some;

	assert_int_equal(count_told(ctl, followers), 0);
	ctl_plan_pass(ctl);
	some = count_told(ctl, followers);
	assert_in_range(some, 1, TURN);
	ctl_plan_pass(ctl);
	assert_int_equal(count_told(ctl, followers), some);
}

/* They are told in turns; where some are, the controller is killed. */
static bool some_are_told(void *ctl)
{
	h1 = actor_greet("host/h1", 0);
	admin = actor_greet("admin/root", -1);
	actor_keeper_hello(h1, 0, KEEPER__STATE__RUNNING, 0);
	first_ends_well();
	passes_tell_some(ctl);
	return false;
}

static bool on_account(void *arg, const struct store_account *row)
{
	++*(unsigned *)arg;
	return true;
}

/* What they follow is remembered for their sake; nothing else tells of its end. */
static bool first_has_no_account(void *arg)
{
	struct ctl *ctl = arg;
	unsigned n = 0;

	(void)store_prune_accounts(ctl->store, 0, 0, 1000);
	store_each_account(ctl->store, 0, on_account, &n);
	assert_int_equal(n, 0);
	return false;
}

static bool are_told(void *ctl)
{
	if (!h1)
		come();
	return count_told(ctl, followers) < MANY;
}

static bool have_begun(void *ctl)
{
	for (uint64_t id = followers; id < followers + MANY; id++)
		assert_true(is_due_to_begin(ctl, id));
	assert_null(((struct ctl *)ctl)->jobs.awaited);
	return false;
}

static void many_are_told_in_turns(void **state)
{
	static const char *const settings[] = { "history", "0", NULL };

	actors_run(all_come, settings);
	actors_run(some_are_told, settings);
	actors_run(first_has_no_account, settings);
	h1 = NULL;
	actors_run(are_told, settings);
	actors_run(have_begun, settings);
}

/* Those that can never begin end in turns, too, and whoever follows them. */
static bool end_in_turns(void *ctl)
{
	static uint64_t first, then;
	unsigned ended = 0;

	if (!first) {
		come();
		first = submit_held(0);
		followers = submit_after(first, KIND(OK), MANY);
		then = submit_after(followers, KIND(OK), 0);
		cancel(first);
		passes_tell_some(ctl);
	}
	for (uint64_t id = followers; id < followers + MANY; id++)
		ended += is_spoilt(ctl, id);
	return ended < MANY || !is_spoilt(ctl, then);
}

static void many_end_in_turns(void **state)
{
	actors_run(end_in_turns, NULL);
}

/* Each is written as a whole: of large ones a few are much. */
static bool some_large_ones(void *arg)
{
	static char text[100 << 10];
	Control__Submit s = CONTROL__SUBMIT__INIT;
	Control__After after = CONTROL__AFTER__INIT, *list[] = { &after };
	char *env[] = { text };
	struct ctl *ctl = arg;

	come();
	memset(text, 'a', sizeof(text) - 1);
	after.job = submit_held(0);
	s.after = list;
	s.env = env;
	s.n_after = s.n_env = 1;
	followers = submit_tasks(&s, LARGE);
	cancel(after.job);
	ctl_plan_pass(ctl);
	assert_true(is_spoilt(ctl, followers));
	assert_false(is_spoilt(ctl, followers + LARGE - 1));
	return false;
}

static void large_ones_are_fewer(void **state)
{
	actors_run(some_large_ones, NULL);
}

/* ---- arrays */

static uint64_t array, ok, failed;

/* One that waits for the end of an array is not walked when a task of it fails. */
static bool tasks_fail(void *ctl)
{
	static unsigned turn;

	switch (turn++) {
	case 0:
		come();
		array = submit_held(3);
		ok = submit_after(array, KIND(OK), 0);
		failed = submit_after(array, KIND(FAILED), 0);
		cancel_tasks(array, 1, 1);
		return true;
	case 1:
		return true; /* a pass */
	case 2:
		assert_true(is_spoilt(ctl, ok));
		assert_false(after_of(ctl, failed)->failed);
		cancel_tasks(array, 0, 0);
		assert_true(TAILQ_EMPTY(&((struct ctl *)ctl)->jobs.telling));
		cancel_tasks(array, 2, 2);
		return true;
	case 3:
		return true;
	default:
		assert_true(is_due_to_begin(ctl, failed));
		assert_true(after_of(ctl, failed)->failed);
		assert_int_equal(after_of(ctl, failed)->reason,
				 ENDED(CANCELLED));
		return false;
	}
}

static void only_whom_it_concerns_is_told(void **state)
{
	actors_run(tasks_fail, NULL);
}

static bool last_task_fails(void *ctl)
{
	static unsigned turn;

	if (!turn) {
		come();
		array = submit_held(3);
		cancel(array + 2);
	}
	return turn++ < 3;
}

/* So is the last task of one for those that wait for all of it. */
static bool an_array_ends(void *arg)
{
	static unsigned turn;
	struct ctl *ctl = arg;

	if (!turn++) {
		come();
		array = submit_held(3);
		followers = submit_after(array, KIND(FAILED), MANY);
		cancel(array);
		passes_tell_some(ctl);
		while (ctl_jobs_prune(ctl))
			;
		assert_non_null(ctl_array_find(ctl, array));
	}
	return ctl_array_find(ctl, array) != NULL;
}

static void an_array_is_remembered_until_all_are_told(void **state)
{
	static const char *const settings[] = { "history", "0", NULL };

	actors_run(an_array_ends, settings);
}

/* The task that failed is forgotten, and so is its account. */
static bool it_is_forgotten(void *arg)
{
	static unsigned turn;
	struct ctl *ctl = arg;

	if (!turn) {
		assert_null(ctl_job_find(ctl, array + 2));
		(void)store_prune_accounts(ctl->store, 0, 0, 1000);
		come();
		ok = submit_after(array, KIND(OK), 0);
		failed = submit_after(array, KIND(FAILED), 0);
	} else if (turn == 2) {
		assert_null(ctl_job_find(ctl, ok)); /* it has ended */
		assert_int_equal(state_of(ctl, failed), STATE(WAITING));
		assert_false(ctl_job_find(ctl, failed)->spec->followed);
		cancel(array);
	} else if (turn == 4) {
		assert_true(is_due_to_begin(ctl, failed));
	}
	return turn++ < 4;
}

/* All of it is: what is known of it is one row, whatever there is of the others. */
static bool all_is_forgotten(void *arg)
{
	static unsigned turn;
	struct ctl *ctl = arg;

	if (!turn) {
		come();
		assert_null(ctl_job_find(ctl, array));
		ok = submit_after(array, KIND(OK), 0);
	}
	if (turn < 2)
		return turn++ < 2;
	assert_null(ctl_job_find(ctl, ok));
	return false;
}

static void an_array_remembers_that_a_task_failed(void **state)
{
	static const char *const settings[] = { "history", "0", NULL };

	actors_run(last_task_fails, settings);
	actors_run(it_is_forgotten, settings);
	actors_run(all_is_forgotten, settings);
}

static void put_account(struct ctl *ctl, uint64_t job, uint32_t exit)
{
	Control__Account a = CONTROL__ACCOUNT__INIT;
	uint8_t data[64];
	struct store_account row = { .job = job, .user = "root", .data = data };

	a.job = job;
	a.array = 77;
	a.exit = exit;
	row.n = control__account__pack(&a, data);
	store_put_account(ctl->store, &row);
}

/* A controller of before there were rows of arrays has left its accounts alone. */
static bool an_older_one_had_it(void *arg)
{
	static unsigned turn;
	struct ctl *ctl = arg;
	struct store_array row;

	if (!turn) {
		for (uint32_t i = 0; i < 3; i++)
			put_account(ctl, 77 + i, i == 1 ? 9 : 0);
		come();
		ok = submit_after(77, KIND(OK), 0);
		assert_true(store_find_array(ctl->store, 77, &row));
		assert_int_equal(row.exit, 9);
		assert_int_equal(row.last, 79);
	}
	if (turn++ < 2)
		return true;
	assert_true(is_spoilt(ctl, ok));
	return false;
}

static void arrays_of_older_stores_are_looked_up_once(void **state)
{
	actors_run(an_older_one_had_it, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(many_are_told_in_turns, begin),
		cmocka_unit_test_setup(many_end_in_turns, begin),
		cmocka_unit_test_setup(large_ones_are_fewer, begin),
		cmocka_unit_test_setup(only_whom_it_concerns_is_told, begin),
		cmocka_unit_test_setup(
			an_array_is_remembered_until_all_are_told, begin),
		cmocka_unit_test_setup(an_array_remembers_that_a_task_failed,
				       begin),
		cmocka_unit_test_setup(
			arrays_of_older_stores_are_looked_up_once, begin),
	};

	return cmocka_run_group_tests_name("follow", tests, NULL, NULL);
}
