/* test_memory.c - the memory that a host has */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "cluster/agent/memory.h"
#include "core/io.h"
#include "core/scratch.h"
#include "core/units.h"
#include "core/xalloc.h"

#define MIB (1 << 20)

static char *below(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);

	assert_int_equal(mkdir(path, 0700), 0);
	return path;
}

static struct memory_sample sample(const char *group, usec_t now)
{
	struct host_memory *m = host_memory_create(group);
	struct memory_sample s;

	host_memory_sample(m, now, &s);
	host_memory_destroy(m);
	return s;
}

static void without_a_group_it_is_the_machine(void **state)
{
	struct memory_sample s = sample(NULL, 1);

	assert_true(s.available > 0);
	assert_true(s.available <= s.all);
	assert_true(s.faults == 0);
}

/* 64 MiB are used, 16 MiB of them by files that were not used lately. */
static void fill_v1(const char *dir, const char *limit)
{
	scratch_put(dir, "memory.limit_in_bytes", limit);
	scratch_put(dir, "memory.usage_in_bytes", "67108864\n");
	scratch_put(dir, "memory.stat",
		    "inactive_file 1\npgmajfault 2\ntotal_pgmajfault 500\n"
		    "total_inactive_file 16777216\n");
}

static void a_group_of_v1(void **state)
{
	char dir[SCRATCH_MAX];
	struct memory_sample s;

	scratch_dir(dir, "/tmp");
	fill_v1(dir, "134217728\n");
	s = sample(dir, 1);
	assert_int_equal(s.all, 128 * MIB);
	assert_int_equal(s.available, 80 * MIB);
}

static void a_group_of_v2(void **state)
{
	char dir[SCRATCH_MAX];
	struct memory_sample s;

	scratch_dir(dir, "/tmp");
	scratch_put(dir, "memory.max", "134217728\n");
	scratch_put(dir, "memory.current",
		    "150994944\n"); /* it was limited later */
	scratch_put(dir, "memory.stat", "inactive_file 0\npgmajfault 9\n");
	s = sample(dir, 1);
	assert_int_equal(s.all, 128 * MIB);
	assert_int_equal(s.available, 0);
	scratch_put(dir, "memory.max", "max\n");
	s = sample(dir, 1);
	assert_int_equal(s.all, sample(NULL, 1).all);
}

/*
 * The least of several limits counts; the number by which v1 says "unlimited"
 * is no limit.
 */
static void limits_of_groups_around_it(void **state)
{
	char dir[SCRATCH_MAX], *inner, *innermost;

	scratch_dir(dir, "/tmp");
	inner = below(dir, "inner");
	innermost = below(inner, "innermost");
	fill_v1(dir, "268435456\n");
	fill_v1(inner, "134217728\n");
	fill_v1(innermost, "9223372036854771712\n");
	assert_int_equal(sample(innermost, 1).all, 128 * MIB);
	fill_v1(inner, "9223372036854771712\n");
	assert_int_equal(sample(innermost, 1).all, 256 * MIB);
	fill_v1(dir, "9223372036854771712\n");
	assert_int_equal(sample(innermost, 1).all, sample(NULL, 1).all);
	free(innermost);
	free(inner);
}

static void faults_are_a_rate(void **state)
{
	char dir[SCRATCH_MAX];
	struct memory_sample s;
	struct host_memory *m;

	scratch_dir(dir, "/tmp");
	fill_v1(dir, "134217728\n");
	m = host_memory_create(dir);
	host_memory_sample(m, 5 * USEC_PER_SEC, &s);
	assert_true(s.faults == 0); /* nobody knows since when there are 500 */
	scratch_put(dir, "memory.stat",
		    "total_pgmajfault 700\ntotal_workingset_refault_anon 8\n"
		    "total_workingset_refault_file 2\n");
	host_memory_sample(m, 5 * USEC_PER_SEC + 1000, &s);
	assert_true(s.faults == 0); /* it is too soon to tell */
	host_memory_sample(m, 7 * USEC_PER_SEC, &s);
	assert_true(s.faults == 100);
	assert_true(s.refaults == 5);
	host_memory_sample(m, 8 * USEC_PER_SEC, &s);
	assert_true(s.faults == 0 && s.refaults == 0);
	host_memory_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_group_it_is_the_machine),
		cmocka_unit_test(a_group_of_v1),
		cmocka_unit_test(a_group_of_v2),
		cmocka_unit_test(limits_of_groups_around_it),
		cmocka_unit_test(faults_are_a_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
