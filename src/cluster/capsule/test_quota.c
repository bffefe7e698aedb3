/* test_quota.c - the limit of processors, in directories that stand for groups */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "cluster/capsule/cgroup.h"
#include "core/io.h"
#include "core/scratch.h"
#include "core/xalloc.h"

/* Then it is empty again. */
static void is(const char *dir, const char *file, const char *text)
{
	char *path = xasprintf("%s/%s", dir, file), *got;

	assert_true(io_read_file(AT_FDCWD, path, 100, &got) >= 0);
	assert_string_equal(got, text);
	scratch_put(dir, file, "");
	free(got);
	free(path);
}

struct quota {
	const char *file, *half, *none, *least, *most;
};

/* It is lifted for a freeze alone, not for a move, and where there is none not touched. */
static void quota_is(char *dir, const struct quota *q)
{
	struct capsule_cgroup cg = {
		.dirs = { dir },
		.what = { strcmp(q->file, "cpu.max") ? "cpu" : NULL },
		.nr_dirs = 1,
	};
	struct limits limits = { .cpus = 500 };

	scratch_put(dir, q->file, "");
	assert_int_equal(cgroup_limit(&cg, &limits, true, NULL), 0);
	is(dir, q->file, "");
	assert_int_equal(cgroup_limit(&cg, &limits, false, NULL), 0);
	is(dir, q->file, q->half);
	assert_int_equal(cgroup_hold_back(&cg, &limits, false, NULL), 0);
	is(dir, q->file, q->none);
	assert_int_equal(cgroup_hold_back(&cg, &limits, true, NULL), 0);
	is(dir, q->file, q->half);
	limits.cpus = 0;
	assert_int_equal(cgroup_hold_back(&cg, &limits, false, NULL), 0);
	assert_int_equal(cgroup_limit(&cg, &limits, false, NULL), 0);
	is(dir, q->file, "");
	/* Any number may come, and the kernel takes what is set. */
	limits.cpus = 1;
	assert_int_equal(cgroup_limit(&cg, &limits, false, NULL), 0);
	is(dir, q->file, q->least);
	limits.cpus = UINT64_MAX;
	assert_int_equal(cgroup_limit(&cg, &limits, false, NULL), 0);
	is(dir, q->file, q->most);
}

static void quota_of_processors(void **state)
{
	char dir[SCRATCH_MAX], other[SCRATCH_MAX + 8];
	const struct limits limits = { .cpus = 500 };
	struct capsule_cgroup cg = { .dirs = { dir },
				     .what = { "cpu" },
				     .nr_dirs = 1 };
	struct limits_met met;
	struct error err;

	scratch_dir(dir, "/tmp");
	assert_int_equal(cgroup_limit(&cg, &limits, false, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "processors cannot be limited"));
	quota_is(dir, &(struct quota){ "cpu.cfs_quota_us", "50000", "-1",
				       "1000", "104857600" });
	scratch_put(dir, "cpu.stat",
		    "nr_periods 7\nnr_throttled 3\nthrottled_time 2500000\n");
	cgroup_met(&cg, &limits, &met);
	assert_int_equal(met.held_usec, 2500);
	snprintf(other, sizeof(other), "%s/v2", dir);
	assert_int_equal(mkdir(other, 0700), 0);
	quota_is(other, &(struct quota){ "cpu.max", "50000 100000", "max",
					 "1000 100000", "104857600 100000" });
	scratch_put(other, "cpu.stat", "usage_usec 9\nthrottled_usec 42\n");
	cg.dirs[0] = other;
	cg.what[0] = NULL;
	cgroup_met(&cg, &limits, &met);
	assert_int_equal(met.held_usec, 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quota_of_processors),
	};

	return cmocka_run_group_tests_name("quota", tests, NULL, NULL);
}
