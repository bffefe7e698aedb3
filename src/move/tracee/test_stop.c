/* test_stop.c - the threads that are stopped are those of the process */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/claim.h"
#include "core/xalloc.h"
#include "move/proc/proc.h"
#include "move/tracee/tracee.h"

static pid_t stranger; /* its number is in the list as well; or 0 */

ssize_t __real_proc_read_tasks(pid_t pid, pid_t **ret, struct error *err);
ssize_t __wrap_proc_read_tasks(pid_t pid, pid_t **ret, struct error *err);

ssize_t __wrap_proc_read_tasks(pid_t pid, pid_t **ret, struct error *err)
{
	ssize_t n = __real_proc_read_tasks(pid, ret, err);

	if (n < 0 || !stranger)
		return n;
	*ret = xrealloc(*ret, ((size_t)n + 1) * sizeof(**ret));
	(*ret)[n] = stranger;
	return n + 1;
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		for (;;)
			pause();
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static pid_t tracer_of(pid_t pid)
{
	struct proc_status st;

	assert_int_equal(proc_read_status(pid, &st, NULL), 0);
	return st.tracer;
}

/* Stop a process in whose list of threads is the stranger's number. */
static void assert_stops(void)
{
	pid_t pid = sleeper();
	struct error err = ERROR_INIT;
	struct tracee *t = tracee_create(pid, &err);

	assert_non_null(t);
	assert_int_equal(tracee_stop(t, &err), 0);
	assert_int_equal(t->nr, 1);
	assert_int_equal(t->task[0].tid, pid);
	tracee_destroy(t);
	assert_int_equal(tracer_of(pid), 0);
	end(pid);
}

static void a_number_that_is_anothers_by_now(void **state)
{
	stranger = sleeper();
	assert_stops();
	assert_int_equal(tracer_of(stranger), 0);
	end(stranger);
}

/* A stranger's debugger is not mentioned. */
static void a_number_of_one_that_is_traced(void **state)
{
	int ready[2], status;
	pid_t tracer;
	char c;

	stranger = sleeper();
	assert_int_equal(pipe(ready), 0);
	tracer = fork();
	if (tracer == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (ptrace(PTRACE_SEIZE, stranger, NULL, NULL) == 0 &&
		    write(ready[1], "x", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_stops();
	assert_int_equal(tracer_of(stranger), tracer);
	kill(tracer, SIGKILL);
	assert_int_equal(waitpid(tracer, &status, 0), tracer);
	close(ready[0]);
	end(stranger);
}

static unsigned stirs[2]; /* on and off */

static void note_stir(void *ctx, bool on)
{
	assert_ptr_equal(ctx, stirs);
	stirs[!on]++;
}

/*
 * Where an owner computes, a guest gets no processor for seconds, and without one it
 * cannot stop.
 */
static void who_is_lowered_is_let_stop(void **state)
{
	pid_t pid = sleeper();
	struct error err = ERROR_INIT;
	struct tracee *t = tracee_create(pid, &err);

	assert_non_null(t);
	t->hurry = true;
	t->stir = note_stir;
	t->stir_ctx = stirs;
	assert_true(claim_lower(pid));
	stranger = 0;
	assert_int_equal(tracee_stop(t, &err), 0);
	assert_true(stirs[0] == 1 && stirs[1] == 0);
	if (!geteuid())
		assert_int_equal(sched_getscheduler(pid), SCHED_OTHER);
	tracee_resume(t);
	assert_true(stirs[0] == 1 && stirs[1] == 1);
	assert_int_equal(sched_getscheduler(pid), SCHED_IDLE);
	tracee_destroy(t);
	end(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_that_is_anothers_by_now),
		cmocka_unit_test(a_number_of_one_that_is_traced),
		cmocka_unit_test(who_is_lowered_is_let_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
