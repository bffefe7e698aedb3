/*
 * test_restart.c - what a controller that is killed and started again owes the
 * ranks: each signal once, and the end of a job that was told to end
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors.h"

static struct {
	struct conn *admin, *h1;
	uint64_t re;	    /* id of the last SIGNAL */
	struct conn *asked; /* over which it came */
	uint32_t signo[8];
	uint64_t number[8];
	size_t nr; /* of SIGNALs so far */
	bool killed;
} t;

static void on_asked(struct conn *c, const Keeper__Request *q)
{
	t.killed |= q->body_case == KEEPER__REQUEST__BODY_KILL;
	if (q->body_case != KEEPER__REQUEST__BODY_SIGNAL)
		return;
	assert_true(t.nr < 8);
	t.re = q->id;
	t.asked = c;
	t.signo[t.nr] = q->signal->signo;
	t.number[t.nr++] = q->signal->number;
}

/* All that were sent so far, this one last. */
static void expect(size_t nr, uint32_t signo)
{
	assert_int_equal(t.nr, nr);
	assert_int_equal(t.signo[nr - 1], signo);
	assert_true(nr < 2 || t.number[nr - 1] > t.number[nr - 2]);
}

static void answer_ok(void)
{
	Keeper__Ok ok = KEEPER__OK__INIT;

	actor_keeper(t.h1, 0, 0, t.re, KEEPER__EVENT__BODY_OK, &ok);
}

static void answer_failed(int code)
{
	Keeper__Failed failed = KEEPER__FAILED__INIT;

	failed.code = code;
	actor_keeper(t.h1, 0, 0, t.re, KEEPER__EVENT__BODY_FAILED, &failed);
}

static bool begin(void *ctl)
{
	Keeper__Started started = KEEPER__STARTED__INIT;

	t.h1 = actor_greet("host/h1", -1);
	t.admin = actor_greet("admin/root", -1);
	actor_submit(t.admin, "h1");
	actor_keeper_hello(t.h1, 0, KEEPER__STATE__EMPTY, 0);
	actor_signal(t.admin, SIGUSR1);
	assert_int_equal(t.nr, 0); /* it has not started */
	actor_keeper(t.h1, 0, 1, 0, KEEPER__EVENT__BODY_STARTED, &started);
	expect(1, SIGUSR1);
	actor_signal(t.admin, SIGUSR2); /* waits for the answer */
	expect(1, SIGUSR1);
	return false; /* which never comes */
}

/* A controller that was started again, and the rank that it had. */
static void resume(uint64_t taken)
{
	t.h1 = actor_greet("host/h1", 0);
	t.admin = actor_greet("admin/root", -1);
	actor_keeper_hello(t.h1, 0, KEEPER__STATE__RUNNING, taken);
}

static bool first_was_taken(void *ctl)
{
	resume(t.number[0]);
	expect(2, SIGUSR2);
	answer_failed(-EAGAIN); /* once more */
	expect(3, SIGUSR2);
	return false;
}

static bool second_was_not(void *ctl)
{
	resume(t.number[0]);
	expect(4, SIGUSR2);
	answer_ok();
	actor_keeper_hello(t.h1, 0, KEEPER__STATE__RUNNING, t.number[3]);
	expect(4, SIGUSR2); /* never again */
	actor_signal(t.admin, SIGHUP);
	expect(5, SIGHUP);
	answer_failed(-EINVAL); /* nobody can ever take that one */
	expect(5, SIGHUP);
	return false;
}

static bool none_is_left(void *ctl)
{
	resume(t.number[3]);
	expect(5, SIGHUP);
	return false;
}

/* One waits for a move that ends while no controller is there. */
static bool moves(void *ctl)
{
	struct conn *h2 = actor_greet("host/h2", -1);

	begin(ctl);
	answer_ok();
	expect(2, SIGUSR2);
	actor_migrate(t.admin, h2);
	answer_failed(-EAGAIN);
	expect(2, SIGUSR2);
	return false;
}

static bool has_moved(void *ctl)
{
	struct conn *h2 = actor_greet("host/h2", 1);

	t.h1 = actor_greet("host/h1", 0);
	actor_keeper_hello(h2, 1, KEEPER__STATE__RUNNING, t.number[0]);
	actor_keeper_hello(t.h1, 0, KEEPER__STATE__MOVING, t.number[0]);
	expect(3, SIGUSR2);
	assert_true(t.asked == h2);
	return false;
}

static void one_waits_for_a_move(void **state)
{
	actors_run(moves, NULL);
	actors_run(has_moved, NULL);
}

static void signals_come_once(void **state)
{
	actors_run(begin, NULL);
	actors_run(first_was_taken, NULL);
	actors_run(second_was_not, NULL);
	actors_run(none_is_left, NULL);
}

/* And one for a move that comes to nothing. */
static bool does_not_move(void *ctl)
{
	Keeper__MoveDone done = KEEPER__MOVE_DONE__INIT;

	moves(ctl);
	done.epoch = 1;
	done.outcome = KEEPER__OUTCOME__STAYED;
	actor_keeper(t.h1, 0, 2, 0, KEEPER__EVENT__BODY_MOVE_DONE, &done);
	expect(3, SIGUSR2);
	assert_true(t.asked == t.h1);
	return false;
}

static void one_waits_for_no_move(void **state)
{
	actors_run(does_not_move, NULL);
}

/* The answer to an earlier one says nothing about the one that is out. */
static bool late_answer(void *ctl)
{
	uint64_t first;

	begin(ctl);
	first = t.re;
	answer_ok();
	expect(2, SIGUSR2);
	actor_signal(t.admin, SIGHUP);
	t.re = first;
	answer_ok();
	expect(2, SIGUSR2);
	return false;
}

static void answers_are_to_their_own(void **state)
{
	actors_run(late_answer, NULL);
}

static bool is_told_to_end(void *ctl)
{
	begin(ctl);
	answer_ok();
	expect(2, SIGUSR2);
	answer_ok();
	actor_signal(t.admin, 0);
	expect(3, SIGTERM);
	answer_ok(); /* and goes on all the same */
	assert_false(t.killed);
	return false;
}

static bool is_killed(void *ctx)
{
	static struct ctl *resumed;

	if (resumed != ctx)
		resume(t.number[2]);
	resumed = ctx;
	return !t.killed; /* or meson's limit */
}

static void a_job_that_was_told_to_end_does(void **state)
{
	static const char *const at_once[] = { "kill-grace", "0", NULL };
	static const char *const later[] = { "kill-grace", "1h", NULL };

	actors_run(is_told_to_end, later);
	actors_run(is_killed, at_once);
	assert_true(t.killed);
	assert_int_equal(t.nr, 3);
}

/* ---- what a user is told of a limit that was met */

static bool meets_a_limit(void *ctl)
{
	Keeper__Exited end = KEEPER__EXITED__INIT;

	begin(ctl);
	end.pids_max = 5;
	end.pids_refused = 1;
	actor_keeper(t.h1, 0, 2, 0, KEEPER__EVENT__BODY_EXITED, &end);
	return false;
}

static bool has_met_it(void *ctx)
{
	struct ctl *ctl = ctx;
	const struct ctl_job *job = TAILQ_FIRST(&ctl->jobs.list);

	assert_int_equal(job->state, STATE(DONE));
	assert_int_equal(job->exit, 0);
	assert_true(job->limit_met);
	assert_non_null(strstr(job->why, "met its limit of 5 processes"));
	return false;
}

static void a_limit_that_was_met_is_known(void **state)
{
	actors_run(meets_a_limit, NULL);
	actors_run(has_met_it, NULL);
}

static int set_up(void **state)
{
	memset(&t, 0, sizeof(t));
	actors_asked = on_asked;
	actors_begin();
	return 0;
}

static bool does_nothing(void *ctl)
{
	return false;
}

static int next_descriptor(void)
{
	int fd = dup(STDIN_FILENO);

	assert_true(fd >= 0);
	close(fd);
	return fd;
}

static void no_descriptor_outlives_it(void **state)
{
	int before = next_descriptor();

	for (int i = 0; i < 3; i++)
		actors_run(does_nothing, NULL);
	assert_int_equal(next_descriptor(), before);
}

static int tear_down(void **state)
{
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(signals_come_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(one_waits_for_a_move, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(one_waits_for_no_move, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(answers_are_to_their_own,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_job_that_was_told_to_end_does,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_limit_that_was_met_is_known,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_descriptor_outlives_it,
						set_up, tear_down),
	};

	return cmocka_run_group_tests_name("restart", tests, NULL, NULL);
}
