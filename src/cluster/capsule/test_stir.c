/* test_stir.c - who shall stop, or end, does not wait for the owner's work */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/capsule/cgroup.h"
#include "core/claim.h"
#include "core/io.h"
#include "core/scratch.h"

/* A directory that stands for a group, and one who is lowered. */
static char dir[SCRATCH_MAX];
static pid_t guest;

static int set_up(void **state)
{
	scratch_dir(dir, "/tmp");
	scratch_put(dir, "cpu.idle", "1");
	guest = fork();
	if (!guest) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return claim_lower(guest) ? 0 : -1;
}

static int tear_down(void **state)
{
	kill(guest, SIGKILL);
	return waitpid(guest, NULL, 0) == guest ? 0 : -1;
}

static void member_by(const char *file)
{
	char tid[24];

	snprintf(tid, sizeof(tid), "%d\n", guest);
	scratch_put(dir, file, tid);
}

static void assert_group(bool last)
{
	char path[SCRATCH_MAX + 16], *text;

	snprintf(path, sizeof(path), "%s/cpu.idle", dir);
	text = io_read_line(path);
	assert_string_equal(text, last ? "1" : "0");
	free(text);
}

static void assert_guest(bool last)
{
	/* Who is not root can raise nobody. */
	if (last || !geteuid())
		assert_int_equal(sched_getscheduler(guest),
				 last ? SCHED_IDLE : SCHED_OTHER);
}

static void a_group_for_a_moment(void **state)
{
	char *dirs[] = { dir };

	member_by(*state);
	cgroup_stir(dirs, 1, 100, true);
	assert_group(false);
	assert_guest(true); /* each thread is the engine's to stir */
	(void)claim_stir(guest);
	cgroup_stir(dirs, 1, 100, false);
	assert_group(true);
	assert_guest(true);
}

/* As much of a processor as it takes to stop: each stop would wait for an owner's turns. */
static void it_is_ahead_meanwhile(void **state)
{
	char *dirs[] = { dir }, path[SCRATCH_MAX + 16], *text;

	snprintf(path, sizeof(path), "%s/%s", dir, (char *)*state);
	scratch_put(dir, *state, "2");
	cgroup_stir(dirs, 1, 100, true);
	text = io_read_line(path);
	assert_true(strtol(text, NULL, 10) > 5000);
	free(text);
	/* The owner goes before it is over: nobody is marked. */
	scratch_put(dir, "cpu.idle", "0");
	cgroup_stir(dirs, 1, 200, false);
	text = io_read_line(path);
	/* A file keeps the rest of what was longer; a group does not. */
	assert_string_equal(text,
			    strcmp(*state, "cpu.shares") ? "2001" : "20480");
	free(text);
}

static void a_group_without_an_owner(void **state)
{
	char *dirs[] = { dir };

	cgroup_stir(dirs, 1, 100, true);
	cgroup_stir(dirs, 1, 100, false);
	assert_group(false); /* nobody in it is marked */
}

static void who_was_killed(void **state)
{
	char *dirs[] = { dir };

	member_by(*state);
	cgroup_hasten(dirs, 1);
	assert_group(false);
	assert_guest(false);
}

static char shares[] = "cpu.shares", weight[] = "cpu.weight";
static char v1[] = "tasks", v2[] = "cgroup.threads";

#define TEST(fn, kind) \
	cmocka_unit_test_prestate_setup_teardown(fn, set_up, tear_down, kind)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_group_for_a_moment, v1),
		TEST(a_group_for_a_moment, v2),
		TEST(it_is_ahead_meanwhile, shares),
		TEST(it_is_ahead_meanwhile, weight),
		TEST(a_group_without_an_owner, NULL),
		TEST(who_was_killed, v1),
		TEST(who_was_killed, v2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
