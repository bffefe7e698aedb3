/*
 * test_watch.c - tests of watch.h: engines that hang, and engines that do not
 */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/clock.h"
#include "core/hurry.h"
#include "core/test_ahead.h"
#include "move/proc/watch.h"

#define LIMIT	(USEC_PER_SEC / 2) /* less is usual on a busy machine */
#define FOREVER 20000		   /* ms */

/*
 * What ended() was told, seen by all processes: of an engine that hung, and of
 * one that ended by itself.
 */
static _Atomic int *told;

static void ended(void *arg, int note, bool hung)
{
	told[!hung] = note;
}

static void calmed(void *arg)
{
	*told = 1;
}

static void nap(int msec)
{
	nanosleep(&(struct timespec){ msec / 1000, msec % 1000 * 1000000L },
		  NULL);
}

/* Run it as an engine, in a process of its own; returns how that ended. */
static int run(void (*engine)(struct watch *w))
{
	const struct watch_spec spec = { .calm = calmed, .ended = ended };
	int status;
	pid_t pid;

	told[0] = told[1] = -1;
	pid = fork();
	if (pid == 0) {
		struct watch *w = watch_start(&spec, NULL);

		watch_limit(w, LIMIT);
		watch_note(w, 7);
		engine(w);
		watch_stop(w);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void hang(struct watch *w)
{
	watch_stands(w, true);
	raise(SIGSTOP);
}

/*
 * The engine was killed, and its watch has told so; later it tells nobody else.
 */
static void assert_killed(int status, int note)
{
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	for (int i = 0; i < FOREVER && *told < 0; i++)
		nap(1);
	assert_int_equal(*told, note);
}

static void test_who_hangs_is_killed(void **state)
{
	assert_killed(run(hang), 7);
}

static void be_killed(struct watch *w)
{
	raise(SIGKILL);
}

static void test_who_is_killed_by_others_is_told_of(void **state)
{
	assert_true(WIFSIGNALED(run(be_killed)));
	for (int i = 0; i < FOREVER && told[1] < 0; i++)
		nap(1);
	assert_int_equal(told[1], 7);
	assert_int_equal(told[0], -1);
}

/*
 * This engine need not be stopped: it waits for something that does not come.
 */
static void sit(struct watch *w)
{
	watch_stands(w, true);
	for (;;)
		pause();
}

static void test_who_gets_nowhere_is_killed(void **state)
{
	assert_killed(run(sit), 7);
}

/*
 * Works for three limits; there is a beat before each look, if the machine lets
 * it run.
 */
static void work(struct watch *w)
{
	watch_stands(w, true);
	for (int i = 0; i < 1500; i++) {
		watch_beat(w);
		nap(1);
	}
	watch_stands(w, false);
	nap(1500);
	watch_stands(w, true);
	watch_waits(w, true);
	nap(1500);
}

static void test_who_gets_on_or_may_wait_is_left_alone(void **state)
{
	assert_int_equal(run(work), 0);
	assert_int_equal(told[0], -1);
	assert_int_equal(told[1], -1);
}

/*
 * A process that takes the only processor which the engine may use; the test
 * ends it.
 */
static pid_t crowd_out(void)
{
	const struct sched_param none = { 0 };
	cpu_set_t one;
	pid_t pid;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	assert_int_equal(sched_setscheduler(0, SCHED_IDLE, &none), 0);
	return pid;
}

/* Runs for four limits, nearly without a processor. */
static void starve(struct watch *w)
{
	usec_t end = clock_usec(CLOCK_MONOTONIC) + 4 * LIMIT;
	pid_t pid = crowd_out();

	watch_stands(w, true);
	while (clock_usec(CLOCK_MONOTONIC) < end)
		;
	watch_stands(w, false);
	kill(pid, SIGKILL);
}

static void test_who_gets_no_processor_is_left_alone(void **state)
{
	assert_int_equal(run(starve), 0);
	assert_int_equal(told[0], -1);
}

static void spin(struct watch *w)
{
	watch_stands(w, true);
	for (;;)
		;
}

static void test_who_runs_in_circles_is_killed(void **state)
{
	assert_killed(run(spin), 7);
}

static void wait_stopped(struct watch *w)
{
	watch_stands(w, true);
	watch_waits(w, true);
	raise(SIGSTOP);
}

static void test_who_waits_and_is_stopped_is_killed(void **state)
{
	assert_killed(run(wait_stopped), 7);
}

static void run_ahead(struct watch *w)
{
	if (!hurry_begin(0))
		_exit(77);
	watch_hurried(w, true, 0, 0);
	for (int i = 0; i < FOREVER; i++) {
		if (!is_ahead(0))
			_exit(0);
		nap(1);
	}
	_exit(1);
}

static void test_nobody_is_ahead_for_long(void **state)
{
	int status = run(run_ahead);

	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		print_message("# not tested: no right to go ahead of others\n");
	else
		assert_int_equal(WEXITSTATUS(status), 0);
}

/* An engine that a debugger holds while it waits for others. */
static void wait_long(struct watch *w)
{
	watch_stands(w, true);
	watch_waits(w, true);
	raise(SIGUSR1); /* the debugger stops it there */
	for (;;)
		pause();
}

static void test_who_waits_under_a_debugger_is_killed(void **state)
{
	const struct watch_spec spec = { .ended = ended };
	int status;
	pid_t pid;

	told[0] = told[1] = -1;
	pid = fork();
	if (pid == 0) {
		struct watch *w;

		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		w = watch_start(&spec, NULL);
		watch_limit(w, LIMIT);
		wait_long(w);
	}
	do
		assert_int_equal(waitpid(pid, &status, 0), pid);
	while (WIFSTOPPED(status)); /* nobody tells it to go on */
	assert_killed(status, 0);
}

/*
 * Nor are other processes of the move ahead for long, the second time like the
 * first.
 */
static void run_others_ahead(struct watch *w)
{
	pid_t a = fork();
	int i;

	if (a == 0)
		for (;;)
			pause();
	for (int turn = 0; turn < 2; turn++) {
		*told = -1;
		if (!hurry_begin(a)) {
			kill(a, SIGKILL);
			_exit(77);
		}
		watch_hurried(w, true, 0, a);
		for (i = 0; i < FOREVER && (is_ahead(a) || *told < 0); i++)
			nap(1);
		watch_hurried(w, false, 0, 0);
		if (i == FOREVER)
			break;
		nap(200); /* it looks meanwhile, and sees no hurry */
	}
	kill(a, SIGKILL);
	_exit(i == FOREVER);
}

static void test_no_others_are_ahead_for_long(void **state)
{
	int status = run(run_others_ahead);

	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		print_message("# not tested: no right to go ahead of others\n");
	else
		assert_int_equal(WEXITSTATUS(status), 0);
}

/* The engine ends while others are ahead: they are put back soon. */
static void test_who_is_left_ahead_by_an_engine_is_put_back(void **state)
{
	const struct watch_spec spec = { .ended = ended };
	pid_t a = fork(), engine;
	int i;

	if (a == 0)
		for (;;)
			pause();
	if (!may_hurry() || !hurry_begin(a)) {
		kill(a, SIGKILL);
		waitpid(a, NULL, 0);
		return;
	}
	engine = fork();
	if (engine == 0) {
		struct watch *w = watch_start(&spec, NULL);

		watch_hurried(w, true, a, 0);
		_exit(w ? 0 : 1);
	}
	assert_int_equal(waitpid(engine, &i, 0), engine);
	assert_int_equal(i, 0);
	for (i = 0; i < FOREVER && is_ahead(a); i++)
		nap(1);
	kill(a, SIGKILL);
	waitpid(a, NULL, 0);
	assert_int_not_equal(i, FOREVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_hangs_is_killed),
		cmocka_unit_test(test_who_is_killed_by_others_is_told_of),
		cmocka_unit_test(test_who_gets_nowhere_is_killed),
		cmocka_unit_test(test_who_gets_on_or_may_wait_is_left_alone),
		cmocka_unit_test(test_who_gets_no_processor_is_left_alone),
		cmocka_unit_test(test_who_runs_in_circles_is_killed),
		cmocka_unit_test(test_who_waits_and_is_stopped_is_killed),
		cmocka_unit_test(test_nobody_is_ahead_for_long),
		cmocka_unit_test(test_who_waits_under_a_debugger_is_killed),
		cmocka_unit_test(test_no_others_are_ahead_for_long),
		cmocka_unit_test(
			test_who_is_left_ahead_by_an_engine_is_put_back),
	};

	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
