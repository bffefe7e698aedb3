/* test_load.c - what an agent tells of its host */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/agent/load.h"
#include "cluster/agent/test_guest.h"
#include "core/io.h"
#include "core/scratch.h"
#include "core/test_fork.h"

/* The very first sample already has numbers, since hosts are placed by it. */
static struct large large;

static void first_sample_is_whole(void **state)
{
	struct host_load *l = host_load_create("/nonexistent", USEC_PER_SEC);
	struct host_sample s;

	host_load_sample(l, &s);
	assert_true(s.memory_free > 0);
	assert_true(s.memory_free <= s.memory);
	assert_true(s.load >= 0 && s.load == s.runnable);
	host_load_destroy(l);
}

/* ---- what runs */

/* An init that runs, with a child that runs: 2 processes in all. */
static pid_t spin_two(int ready)
{
	pid_t pid = fork_to_end_with();

	if (!pid) {
		(void)guest_spin();
		(void)!write(ready, "x", 1);
		for (;;)
			;
	}
	assert_true(pid > 0);
	return pid;
}

static void guests_are_counted(void **state)
{
	char dir[SCRATCH_MAX], path[SCRATCH_MAX + 64], c;
	pid_t one = guest_spin(), two;
	int ready[2];

	assert_int_equal(pipe(ready), 0);
	two = spin_two(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	scratch_dir(dir, "/tmp");
	assert_int_equal(host_guests_running(dir, false, &large), 0);
	snprintf(path, sizeof(path), "%s/capsules", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	guest_capsule(dir, "1.0", one);
	assert_int_equal(host_guests_running(dir, false, &large), 1);
	guest_capsule(dir, "1.1.3", two);
	assert_int_equal(host_guests_running(dir, false, &large), 3);
	assert_int_equal(kill(one, SIGSTOP), 0);
	assert_int_equal(waitpid(one, NULL, WUNTRACED), one);
	assert_int_equal(host_guests_running(dir, false, &large), 2);
	guest_end(one);
	guest_end(two);
	/* These pids may belong to other processes by now. */
	assert_int_equal(host_guests_running(dir, false, &large), 0);
	guest_capsule_remove(dir, "1.0");
	guest_capsule_remove(dir, "1.1.3");
	close(ready[0]);
	close(ready[1]);
}

static _Noreturn void *spin(void *arg)
{
	int *ready = arg;

	(void)!write(*ready, "x", 1);
	for (;;)
		;
}

/* The first thread of the guest sleeps, another one runs. */
static pid_t spin_in_a_thread(int ready)
{
	pid_t pid = fork_to_end_with();
	pthread_t other;

	if (!pid) {
		if (pthread_create(&other, NULL, spin, &ready))
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void threads_of_guests_are_counted(void **state)
{
	char dir[SCRATCH_MAX], path[SCRATCH_MAX + 64], c;
	int ready[2], tries = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = spin_in_a_thread(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/capsules", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	guest_capsule(dir, "1.0", pid);
	/* The first thread may still be on its way to sleep. */
	while (host_guests_running(dir, false, &large) != 1 && ++tries < 20000)
		poll(NULL, 0, 1);
	assert_in_range(tries, 0, 19999);
	guest_end(pid);
	guest_capsule_remove(dir, "1.0");
	close(ready[0]);
	close(ready[1]);
}

static void the_kernels_count_is_read(void **state)
{
	assert_int_equal(host_running("0.07 0.48 0.33 1/94 31463\n"), 1);
	assert_int_equal(host_running("12.07 9 8 17/9400 31463"), 17);
	assert_int_equal(host_running(""), 0);
	assert_int_equal(host_running("x y z 1/2 3"), 0);
}

static unsigned kernels_count(void)
{
	char *line = io_read_line("/proc/loadavg");
	unsigned n = host_running(line);

	free(line);
	return n;
}

/*
 * Is s.runnable the number of all running threads less so many? Other threads
 * on this machine come and go, so only a sample counts before and after which
 * the kernel reports the same number.
 */
static bool counts_all_but(struct host_load *l, unsigned less)
{
	struct host_sample s;

	for (int i = 0; i < 10000; i++) {
		unsigned before = kernels_count();

		host_load_sample(l, &s);
		if (before == kernels_count() && s.runnable + less == before)
			return true;
	}
	return false;
}

#define GUESTS 12 /* more than come and go in a moment */

/* All that run are counted except this test itself and the guests. */
static void runnable_is_without_guests(void **state)
{
	char dir[SCRATCH_MAX], path[SCRATCH_MAX + 64];
	struct host_load *l;
	pid_t pids[GUESTS];

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/capsules", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	l = host_load_create(dir, USEC_PER_SEC);
	for (int i = 0; i < GUESTS; i++)
		pids[i] = guest_spin();
	assert_true(counts_all_but(l, 1));
	for (int i = 0; i < GUESTS; i++) {
		snprintf(path, sizeof(path), "1.%d", i);
		guest_capsule(dir, path, pids[i]);
	}
	assert_true(counts_all_but(l, 1 + GUESTS));
	for (int i = 0; i < GUESTS; i++) {
		guest_end(pids[i]);
		snprintf(path, sizeof(path), "1.%d", i);
		guest_capsule_remove(dir, path);
	}
	host_load_destroy(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_sample_is_whole),
		cmocka_unit_test(the_kernels_count_is_read),
		cmocka_unit_test(guests_are_counted),
		cmocka_unit_test(threads_of_guests_are_counted),
		cmocka_unit_test(runnable_is_without_guests),
	};

	return cmocka_run_group_tests_name("host_load", tests, NULL, NULL);
}
