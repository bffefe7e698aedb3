/*
 * test_claim.c - lowering a thread's claim on processor and disk, and raising
 * it again
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/claim.h"
#include "core/hurry.h"

static int ioprio(pid_t tid)
{
	return (int)syscall(SYS_ioprio_get, 1, tid);
}

/* In a child of the test's own, so that nothing of it stays. */
static void in_child(void (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		fail_msg("it failed: status %#x (see above)", status);
}

#define CHECK(x)                                                           \
	do {                                                               \
		if (!(x)) {                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
				#x);                                       \
			_exit(1);                                          \
		}                                                          \
	} while (0)

static bool may_raise(void)
{
	return !geteuid();
}

static void there_and_back(void)
{
	int policy = -1, priority = -1, status;
	pid_t pid;

	CHECK(!setpriority(PRIO_PROCESS, 0, 5));
	CHECK(!claim_lowered(ioprio(0), &policy, &priority));
	CHECK(claim_lower(0));
	CHECK(sched_getscheduler(0) == SCHED_IDLE);
	CHECK(claim_lowered(ioprio(0), &policy, &priority));
	CHECK(policy == SCHED_OTHER && priority == 0);
	CHECK(!claim_lower(0));
	CHECK(!hurry_begin(0));
	pid = fork(); /* which inherits it from us */
	if (!pid)
		_exit(sched_getscheduler(0) != SCHED_IDLE ||
		      !claim_lowered(ioprio(0), &policy, &priority));
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	if (!may_raise())
		return;
	CHECK(claim_raise(0));
	CHECK(sched_getscheduler(0) == SCHED_OTHER);
	CHECK(getpriority(PRIO_PROCESS, 0) == 5);
	CHECK(!claim_lowered(ioprio(0), &policy, &priority));
	CHECK(!claim_raise(0));
}

/* It is scheduled as usual, and all know that it is to be lowered again. */
static void stirred(void)
{
	CHECK(!claim_stir(0) && !claim_settle(0) && !claim_is_marked(0));
	CHECK(claim_lower(0) && claim_is_marked(0));
	if (!may_raise())
		return;
	CHECK(claim_stir(0) && !claim_stir(0));
	CHECK(sched_getscheduler(0) == SCHED_OTHER && claim_is_marked(0));
	CHECK(claim_settle(0) && !claim_settle(0));
	CHECK(sched_getscheduler(0) == SCHED_IDLE);
	CHECK(claim_stir(0) && claim_lower(0)); /* the agent's look meanwhile */
	CHECK(sched_getscheduler(0) == SCHED_IDLE);
	CHECK(claim_stir(0) &&
	      claim_raise(0)); /* its owner has gone meanwhile */
	CHECK(!claim_is_marked(0) && !claim_settle(0));
}

static void its_own_class(void)
{
	struct sched_param none = { .sched_priority = 0 };

	CHECK(!sched_setscheduler(0, SCHED_BATCH, &none));
	CHECK(claim_lower(0));
	CHECK(sched_getscheduler(0) == SCHED_IDLE);
	if (may_raise()) {
		CHECK(claim_raise(0));
		CHECK(sched_getscheduler(0) == SCHED_BATCH);
	}
	CHECK(!sched_setscheduler(0, SCHED_IDLE, &none));
	CHECK(!claim_lower(0) && !claim_raise(0)); /* as it wants to be */
	CHECK(sched_getscheduler(0) == SCHED_IDLE);
}

/*
 * The process's own idle class of the disk (ionice -c 3) is not taken for our
 * mark.
 */
static void its_own_idle_disk(void)
{
	int policy, priority;

	CHECK(!syscall(SYS_ioprio_set, 1, 0, 3 << 13 | 7));
	CHECK(!claim_lowered(ioprio(0), &policy, &priority));
	CHECK(!claim_raise(0));
	CHECK(ioprio(0) == (3 << 13 | 7));
	CHECK(!claim_lowered(-1, &policy, &priority));
}

/*
 * As of a process that was raised only in part: its former class is in the
 * mark.
 */
static void a_mark_that_is_there(void)
{
	struct sched_param none = { .sched_priority = 0 };
	int policy, priority;

	if (!may_raise())
		return;
	CHECK(!sched_setscheduler(0, SCHED_BATCH, &none));
	CHECK(claim_lower(0));
	CHECK(!sched_setscheduler(0, SCHED_OTHER, &none));
	CHECK(claim_lower(0));
	CHECK(claim_lowered(ioprio(0), &policy, &priority));
	CHECK(policy == SCHED_BATCH);
	CHECK(claim_raise(0));
	CHECK(sched_getscheduler(0) == SCHED_BATCH);
}

/*
 * A process with a deadline is not lowered: a mark could not keep its period
 * and budget.
 */
static void with_a_deadline(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof(attr),
		   .policy = 6 /* SCHED_DEADLINE */,
		   .runtime = 1000000,
		   .deadline = 100000000,
		   .period = 100000000 };

	if (syscall(SYS_sched_setattr, 0, &attr, 0) < 0)
		return; /* forbidden to us, or in this kernel */
	CHECK(!claim_lower(0));
	CHECK(sched_getscheduler(0) == 6);
}

/* The owner comes while the process is ahead of others for a move. */
static void in_a_hurry(void)
{
	if (!hurry_begin(0))
		return;
	CHECK(claim_lower(0));
	CHECK(sched_getscheduler(0) == SCHED_IDLE);
	hurry_end(0);
	CHECK(sched_getscheduler(0) == SCHED_IDLE);
	CHECK(claim_raise(0));
	CHECK(sched_getscheduler(0) == SCHED_OTHER &&
	      getpriority(PRIO_PROCESS, 0) == 0);
}

/* For an engine, beside an owner who computes: more at each step, and never real-time. */
static void step_by_step(void)
{
	int nice = 1;

	CHECK(!claim_step(0, 1)); /* no owner is there */
	CHECK(claim_lower(0));
	if (!may_raise())
		return;
	for (unsigned step = 1; step < CLAIM_STEPS; step++) {
		CHECK(claim_step(0, step) && !claim_step(0, step));
		CHECK(sched_getscheduler(0) == SCHED_OTHER);
		CHECK(getpriority(PRIO_PROCESS, 0) < nice);
		CHECK(!hurry_begin(0) && claim_is_marked(0));
		nice = getpriority(PRIO_PROCESS, 0);
	}
	hurry_end(0); /* does not take it for its own */
	CHECK(getpriority(PRIO_PROCESS, 0) == nice);
	CHECK(claim_step(0, 0) && !claim_step(0, 0));
	CHECK(sched_getscheduler(0) == SCHED_IDLE);
	CHECK(claim_step(0, 1) && claim_raise_worker(0));
	CHECK(sched_getscheduler(0) == SCHED_OTHER && !claim_is_marked(0));
	CHECK(getpriority(PRIO_PROCESS, 0) == 0);
}

/* One that an engine has just stopped: who lets it go lowers it. */
static void marked(void)
{
	CHECK(claim_mark(0) && claim_is_marked(0) && claim_mark(0));
	CHECK(sched_getscheduler(0) == SCHED_OTHER);
	CHECK(claim_settle(0) && sched_getscheduler(0) == SCHED_IDLE);
	CHECK(!claim_mark(0));
}

static void promptly(void)
{
	int status;
	pid_t pid;

	if (!may_raise())
		return;
	claim_promptly();
	CHECK(getpriority(PRIO_PROCESS, 0) < 0);
	pid = fork();
	if (!pid)
		_exit(getpriority(PRIO_PROCESS, 0) != 0 ||
		      sched_getscheduler(0) != SCHED_OTHER || !hurry_begin(0));
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void test_step_by_step(void **state)
{
	(void)state;
	in_child(step_by_step);
}

static void test_marked(void **state)
{
	(void)state;
	in_child(marked);
}

static void test_promptly(void **state)
{
	(void)state;
	in_child(promptly);
}

static void test_there_and_back(void **state)
{
	(void)state;
	in_child(there_and_back);
}

static void test_stirred(void **state)
{
	in_child(stirred);
}

static void test_its_own_class(void **state)
{
	(void)state;
	in_child(its_own_class);
}

/* A mark is the thread's own to write: it is no way to real-time. */
static void a_mark_that_lies(void)
{
	const int fifo_99 = 3 << 13 | 0x1400 | SCHED_FIFO << 7 | 99;
	struct rlimit none = { 0, 0 };
	int policy = -1, priority = -1;

	if (!may_raise())
		return;
	CHECK(claim_lower(0));
	CHECK(!syscall(SYS_ioprio_set, 1, 0, fifo_99));
	CHECK(claim_lowered(ioprio(0), &policy, &priority));
	CHECK(policy == SCHED_FIFO && priority == 99);
	CHECK(!setrlimit(RLIMIT_RTPRIO, &none));
	CHECK(claim_raise(0));
	CHECK(sched_getscheduler(0) == SCHED_OTHER);
}

/* A flag that anybody may set for himself keeps nobody from being lowered, or stirred. */
static void reset_on_fork(void)
{
	struct sched_param none = { 0 };

	CHECK(!sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none));
	CHECK(claim_lower(0));
	CHECK(claim_is_idle(0));
	CHECK(!sched_setscheduler(0, SCHED_IDLE | SCHED_RESET_ON_FORK, &none));
	if (!may_raise())
		return;
	CHECK(claim_stir(0));
	CHECK(claim_settle(0));
	CHECK(claim_is_idle(0));
}

static void test_a_mark_that_lies(void **state)
{
	(void)state;
	in_child(a_mark_that_lies);
}

static void test_reset_on_fork(void **state)
{
	(void)state;
	in_child(reset_on_fork);
}

static void test_in_a_hurry(void **state)
{
	(void)state;
	in_child(in_a_hurry);
}

static void test_its_own_idle_disk(void **state)
{
	(void)state;
	in_child(its_own_idle_disk);
}

static void test_a_mark_that_is_there(void **state)
{
	(void)state;
	in_child(a_mark_that_is_there);
}

static void test_with_a_deadline(void **state)
{
	(void)state;
	in_child(with_a_deadline);
}

static void no_process(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(claim_lower(pid) || claim_raise(pid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_stirred),
		cmocka_unit_test(test_step_by_step),
		cmocka_unit_test(test_marked),
		cmocka_unit_test(test_promptly),
		cmocka_unit_test(test_its_own_class),
		cmocka_unit_test(test_a_mark_that_lies),
		cmocka_unit_test(test_reset_on_fork),
		cmocka_unit_test(test_in_a_hurry),
		cmocka_unit_test(test_its_own_idle_disk),
		cmocka_unit_test(test_a_mark_that_is_there),
		cmocka_unit_test(test_with_a_deadline),
		cmocka_unit_test(no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
