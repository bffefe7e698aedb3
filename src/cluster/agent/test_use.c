/* test_use.c - what guests get of a host */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/agent/test_guest.h"
#include "cluster/agent/use.h"
#include "core/clock.h"
#include "core/scratch.h"
#include "core/test_fork.h"

#define MEMORY (64u << 20)

static void make_run_dir(char dir[SCRATCH_MAX])
{
	char path[SCRATCH_MAX + 64];

	scratch_dir(dir, "/tmp");
	snprintf(path, sizeof(path), "%s/capsules", dir);
	assert_int_equal(mkdir(path, 0700), 0);
}

/* The guest of that job and rank; it must be there. */
static const struct guest_use *find_use(struct uses *u, uint64_t job,
					uint32_t rank)
{
	size_t nr;
	const struct guest_use *all = uses_all(u, &nr);

	for (size_t i = 0; i < nr; i++)
		if (all[i].job == job && all[i].rank == rank)
			return &all[i];
	fail();
	return NULL;
}

/* Look again until the guest has computed, and has waited for its share. */
static void look_until_busy(struct uses *u, uint64_t job)
{
	do {
		poll(NULL, 0, 100);
		uses_look(u, 0);
	} while (find_use(u, job, 0)->share <= 0);
}

/*
 * A guest that is always ready either runs or waits: the two add up to all the
 * time there was, however busy the machine is.
 */
static void a_share_and_its_waits_are_the_time(void **state)
{
	const struct guest_use *use;
	char dir[SCRATCH_MAX];
	struct uses *u;
	pid_t pid;

	make_run_dir(dir);
	u = uses_create(dir);
	pid = guest_spin();
	guest_capsule(dir, "7.0", pid);
	uses_look(u, 0);
	assert_true(find_use(u, 7, 0)->share == 0);
	look_until_busy(u, 7);
	use = find_use(u, 7, 0);
	assert_true(use->share <= 1.05);
	assert_true(use->share + use->waits > 0.8);
	assert_true(use->share + use->waits < 1.2);
	guest_end(pid);
	uses_destroy(u);
	guest_capsule_remove(dir, "7.0");
}

/* An init that sleeps, with a child that has touched MEMORY. */
static pid_t fork_with_memory(int ready)
{
	pid_t pid = fork_to_end_with();

	if (!pid) {
		pid_t child = fork_to_end_with();

		if (!child) {
			char *p = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			for (size_t i = 0; i < MEMORY; i += 4096)
				p[i] = 1;
			(void)!write(ready, "x", 1);
		}
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void memory_of_all_its_processes_counts(void **state)
{
	char dir[SCRATCH_MAX], c;
	struct uses *u;
	int ready[2];
	pid_t pid;

	make_run_dir(dir);
	assert_int_equal(pipe(ready), 0);
	pid = fork_with_memory(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	guest_capsule(dir, "8.3.12", pid);
	u = uses_create(dir);
	uses_look(u, 0);
	assert_true(find_use(u, 8, 3)->memory >= MEMORY);
	assert_true(find_use(u, 8, 3)->memory < 2 * MEMORY);
	guest_end(pid);
	uses_destroy(u);
	guest_capsule_remove(dir, "8.3.12");
	close(ready[0]);
	close(ready[1]);
}

enum { MANY = 1500 };

static void *rest(void *arg)
{
	for (;;)
		pause();
	return NULL;
}

/* Of which each look takes milliseconds. */
static pid_t fork_with_threads(int ready)
{
	pid_t pid = fork_to_end_with();

	if (!pid) {
		pthread_attr_t attr;
		pthread_t t;

		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, 1 << 16);
		for (int i = 0; i < MANY; i++)
			if (pthread_create(&t, &attr, rest, NULL))
				_exit(1);
		(void)!write(ready, "x", 1);
		rest(NULL);
	}
	assert_true(pid > 0);
	return pid;
}

/*
 * Looked at all the time they take a thousandth of that, and what one look more takes; looks at
 * each time would take nearly all of it.
 */
static void many_threads_cost_no_more_than_few(void **state)
{
	char dir[SCRATCH_MAX], c;
	usec_t began, cpu;
	struct uses *u;
	int ready[2];
	pid_t pid;

	make_run_dir(dir);
	assert_int_equal(pipe(ready), 0);
	pid = fork_with_threads(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	guest_capsule(dir, "8.3", pid);
	u = uses_create(dir);
	cpu = clock_usec(CLOCK_THREAD_CPUTIME_ID);
	uses_look(u, 0);
	cpu = clock_usec(CLOCK_THREAD_CPUTIME_ID) - cpu;
	began = clock_usec(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < 20; i++)
		uses_look(u, 0);
	assert_true(clock_usec(CLOCK_THREAD_CPUTIME_ID) - began < 10 * cpu);
	assert_int_equal(find_use(u, 8, 3)->rank, 3);
	guest_end(pid);
	uses_destroy(u);
	guest_capsule_remove(dir, "8.3");
	close(ready[0]);
	close(ready[1]);
}

static void who_has_gone_is_not_told(void **state)
{
	char dir[SCRATCH_MAX];
	pid_t one = guest_spin(), two = guest_spin();
	struct uses *u;
	size_t nr;

	make_run_dir(dir);
	u = uses_create(dir);
	guest_capsule(dir, "1.0", one);
	guest_capsule(dir, "1.1", two);
	uses_look(u, 0);
	(void)uses_all(u, &nr);
	assert_int_equal(nr, 2);
	guest_end(one);
	uses_look(u, 0);
	(void)uses_all(u, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(find_use(u, 1, 1)->rank, 1);
	guest_end(two);
	uses_look(u, 0);
	(void)uses_all(u, &nr);
	assert_int_equal(nr, 0);
	uses_destroy(u);
	guest_capsule_remove(dir, "1.0");
	guest_capsule_remove(dir, "1.1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_share_and_its_waits_are_the_time),
		cmocka_unit_test(memory_of_all_its_processes_counts),
		cmocka_unit_test(many_threads_cost_no_more_than_few),
		cmocka_unit_test(who_has_gone_is_not_told),
	};

	return cmocka_run_group_tests_name("use", tests, NULL, NULL);
}
