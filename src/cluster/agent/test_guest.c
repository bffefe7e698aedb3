/* test_guest.c - guests for tests, see test_guest.h */
#include "cluster/agent/test_guest.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/capsule/record.h"
#include "core/scratch.h"
#include "core/test_fork.h"

pid_t guest_spin(void)
{
	pid_t pid = fork_to_end_with();

	while (!pid)
		;
	assert_true(pid > 0);
	return pid;
}

void guest_end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

void guest_capsule_of(const char *run_dir, const char *name, pid_t init,
		      pid_t keeper)
{
	struct capsule_record rec = { .boot = "b" };
	char path[SCRATCH_MAX + 64];

	snprintf(path, sizeof(path), "%s/capsules/%s", run_dir, name);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(process_identify(init, &rec.init), 0);
	assert_int_equal(process_identify(keeper, &rec.keeper), 0);
	assert_int_equal(record_write(path, &rec, NULL), 0);
}

void guest_capsule(const char *run_dir, const char *name, pid_t init)
{
	guest_capsule_of(run_dir, name, init, init);
}

void guest_capsule_in(const char *run_dir, const char *name, const char *group)
{
	char path[SCRATCH_MAX + 64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/capsules/%s/record", run_dir, name);
	f = fopen(path, "a");
	assert_non_null(f);
	fprintf(f, "cgroup %s\n", group);
	assert_int_equal(fclose(f), 0);
}

void guest_capsule_remove(const char *run_dir, const char *name)
{
	char path[SCRATCH_MAX + 64];

	snprintf(path, sizeof(path), "%s/capsules/%s/record", run_dir, name);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/capsules/%s", run_dir, name);
	assert_int_equal(rmdir(path), 0);
}
