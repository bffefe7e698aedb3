/* test_guests.c - the lowest claim, and who has just been stopped for a move */
#include <pwd.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/agent/guests.h"
#include "cluster/agent/test_guest.h"
#include "cluster/capsule/cgroup.h"
#include "core/claim.h"
#include "core/scratch.h"
#include "core/test_fork.h"

static char dir[SCRATCH_MAX];
static struct large large;
/* The test is the keeper of a guest. */
static pid_t guest;

static int set_up(void **state)
{
	char path[SCRATCH_MAX + 64];

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/capsules", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	guest = guest_spin();
	guest_capsule_of(dir, "7.0", guest, getpid());
	return 0;
}

static int tear_down(void **state)
{
	guests_claim(dir, NULL, false, &large);
	guest_end(guest);
	guest_capsule_remove(dir, "7.0");
	return 0;
}

/* A process that holds it stopped by ptrace; it says when. */
static pid_t hold(pid_t whom)
{
	int said[2], status;
	char c;
	pid_t pid;

	assert_int_equal(pipe(said), 0);
	pid = fork_to_end_with();
	if (!pid) {
		ptrace(PTRACE_SEIZE, whom, NULL, NULL);
		ptrace(PTRACE_INTERRUPT, whom, NULL, NULL);
		waitpid(whom, &status, __WALL);
		(void)!write(said[1], "s", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(said[0], &c, 1), 1);
	close(said[0]);
	close(said[1]);
	return pid;
}

static void an_owner_comes_and_goes(void **state)
{
	assert_true(guests_claim(dir, NULL, true, &large) >= 2);
	assert_int_equal(sched_getscheduler(guest), SCHED_IDLE);
	assert_int_equal(sched_getscheduler(0), SCHED_IDLE);
	assert_int_equal(guests_claim(dir, NULL, true, &large), 0);
	if (geteuid())
		return;
	/* Who reads and writes as before all the same is lowered again. */
	assert_int_equal(syscall(SYS_ioprio_set, 1, guest, 2 << 13), 0);
	assert_int_equal(guests_claim(dir, NULL, true, &large), 1);
	assert_true(claim_is_marked(guest));
	/* What a keeper was given for its work is said elsewhere. */
	assert_true(claim_step(0, 2));
	assert_int_equal(guests_claim(dir, NULL, true, &large), 0);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	assert_true(guests_claim(dir, NULL, false, &large) >= 2);
	assert_int_equal(sched_getscheduler(guest), SCHED_OTHER);
	assert_false(claim_is_marked(guest) || claim_is_marked(0));
}

static void one_that_an_engine_holds_is_left_alone(void **state)
{
	pid_t engine;

	if (geteuid()) {
		print_message("# not tested: nobody is raised but by root\n");
		return;
	}
	engine = hold(guest);
	/* It is marked, so that the engine lowers it when it lets it go. */
	guests_claim(dir, NULL, true, &large);
	assert_true(claim_step(0, 2)); /* we have to go on */
	assert_int_equal(sched_getscheduler(guest), SCHED_OTHER);
	assert_true(claim_is_marked(guest));
	assert_int_equal(guests_claim(dir, NULL, true, &large), 0);
	assert_int_equal(sched_getscheduler(guest), SCHED_OTHER);
	/* Nobody holds it any more. */
	guest_end(engine);
	assert_int_equal(guests_claim(dir, NULL, true, &large), 1);
	assert_int_equal(sched_getscheduler(guest), SCHED_IDLE);
}

/* An init with a rank, which runs; its number is returned. */
static pid_t with_rank(pid_t *ret_rank)
{
	int said[2];
	pid_t pid;

	assert_int_equal(pipe(said), 0);
	pid = fork_to_end_with();
	if (!pid) {
		pid_t rank = guest_spin();

		(void)!write(said[1], &rank, sizeof(rank));
		for (;;)
			pause();
	}
	assert_int_equal(read(said[0], ret_rank, sizeof(*ret_rank)),
			 sizeof(*ret_rank));
	close(said[0]);
	close(said[1]);
	return pid;
}

static void one_that_an_engine_holds_does_not_run(void **state)
{
	struct guests g;
	pid_t held, init = with_rank(&held), engine;

	if (geteuid()) {
		print_message(
			"# not tested: only root may trace any process\n");
		return;
	}
	guest_capsule_of(dir, "7.1", init, getpid());
	guests_count(dir, NULL, &g);
	assert_true(g.nr == 1 && g.running == 1 && g.held == 0);
	engine = hold(held);
	guests_count(dir, NULL, &g);
	assert_true(g.nr == 1 && g.running == 1 && g.held == 1);
	/* By whom else it is stopped is no move of it. */
	guest_capsule_remove(dir, "7.1");
	guest_capsule_of(dir, "7.1", init, 1);
	guests_count(dir, NULL, &g);
	assert_true(g.running == 1 && g.held == 0);
	guest_capsule_remove(dir, "7.1");
	guest_end(engine);
	guest_end(init);
}

static void those_of_the_owners_are_no_guests(void **state)
{
	char other[200];
	const char *names[] = { "", "nobody", NULL, other };
	const struct passwd *me = getpwuid(getuid());

	assert_non_null(me);
	names[2] = me->pw_name;
	snprintf(other, sizeof(other), "nobody, %s", me->pw_name);
	/* Who asks again is told the same. */
	for (int i = 0; i < 8; i++) {
		bool ours = strstr(names[i % 4], me->pw_name);

		assert_int_equal(guest_is(dir, names[i % 4], "7.0"), !ours);
	}
}

/* Of two that have thousands of threads, by what their group says. */
static void large_ones_are_lowered_one_after_the_other(void **state)
{
	char group[SCRATCH_MAX];
	pid_t other = guest_spin();

	scratch_dir(group, "/tmp");
	scratch_put(group, "pids.current", "2000\n");
	scratch_put(group, "cpu.shares", "9");
	guest_capsule_remove(dir, "7.0");
	guest_capsule(dir, "7.0", guest);
	guest_capsule_in(dir, "7.0", group);
	guest_capsule(dir, "7.1", other);
	guest_capsule_in(dir, "7.1", group);
	guests_claim(dir, NULL, true, &large);
	assert_true(large.more);
	assert_true((sched_getscheduler(guest) == SCHED_IDLE) !=
		    (sched_getscheduler(other) == SCHED_IDLE));
	/* Their group is behind others at once. */
	assert_int_equal(cgroup_number(group, "cpu.shares", ""), 2);
	guests_claim(dir, NULL, true, &large);
	assert_int_equal(sched_getscheduler(guest), SCHED_IDLE);
	assert_int_equal(sched_getscheduler(other), SCHED_IDLE);
	guests_claim(dir, NULL, true, &large);
	assert_false(large.more);
	guest_end(other);
	guest_capsule_remove(dir, "7.1");
	guests_claim(dir, NULL, false, &large);
	if (!geteuid())
		assert_int_equal(sched_getscheduler(guest), SCHED_OTHER);
	large_clear(&large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
		TEST(an_owner_comes_and_goes),
		TEST(one_that_an_engine_holds_is_left_alone),
		TEST(one_that_an_engine_holds_does_not_run),
		TEST(those_of_the_owners_are_no_guests),
		TEST(large_ones_are_lowered_one_after_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
