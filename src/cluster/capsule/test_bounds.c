/* test_bounds.c - what guests may take, on directories that stand for groups */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "cluster/capsule/bounds.h"
#include "core/io.h"
#include "core/scratch.h"
#include "core/xalloc.h"

static char base[SCRATCH_MAX], dir[SCRATCH_MAX + 8];

static int setup(void **state)
{
	scratch_dir(base, "/tmp");
	snprintf(dir, sizeof(dir), "%s/guests", base);
	return mkdir(dir, 0700);
}

static void is(const char *file, const char *text)
{
	char *path = xasprintf("%s/%s", dir, file), *line = io_read_line(path);

	assert_string_equal(line, text);
	free(line);
	free(path);
}

/*
 * The file is made anew, because it keeps the rest of a longer text behind a
 * shorter one.
 */
static void cpus_are(const char *there, uint32_t spared, const char *wanted)
{
	scratch_put(base, "cpuset.cpus.effective", there);
	scratch_put(dir, "cpuset.cpus", "");
	assert_int_equal(bounds_set_cpus(dir, spared), 0);
	is("cpuset.cpus", wanted);
}

static void processors(void **state)
{
	assert_int_equal(bounds_set_cpus(dir, 1), -ENOENT);
	cpus_are("0-3\n", 0, "0,1,2,3");
	cpus_are("0-3\n", 1, "1,2,3");
	cpus_are("2,4-5\n", 2, "5");
	/* Guests keep the last processor. */
	cpus_are("0-1\n", 7, "1");
	cpus_are("3\n", 1, "3");
	/* The file does not have a valid list. */
	scratch_put(base, "cpuset.cpus.effective", "3-1\n");
	assert_int_equal(bounds_set_cpus(dir, 1), -ENOENT);
	scratch_put(base, "cpuset.cpus.effective", "x\n");
	assert_int_equal(bounds_set_cpus(dir, 1), -ENOENT);
	scratch_put(base, "cpuset.cpus.effective", "\n");
	assert_int_equal(bounds_set_cpus(dir, 1), -ENOENT);
	/* Where both names exist, the one of v1 is used. */
	scratch_put(base, "cpuset.effective_cpus", "0-1\n");
	scratch_put(dir, "cpuset.cpus", "");
	assert_int_equal(bounds_set_cpus(dir, 1), 0);
	is("cpuset.cpus", "1");
}

static void memory_of_v2(void **state)
{
	assert_int_equal(bounds_set_memory(dir, 1 << 30), -ENOENT);
	scratch_put(dir, "memory.high", "");
	scratch_put(dir, "memory.max", "");
	scratch_put(dir, "memory.current", "1000\n");
	assert_int_equal(bounds_set_memory(dir, 1 << 30), 0);
	is("memory.max", "1073741824");
	/*
	 * No guest is killed for this: the kernel is asked to reclaim memory,
	 * and the limit waits.
	 */
	scratch_put(dir, "memory.current", "2000000000\n");
	assert_int_equal(bounds_set_memory(dir, 1073741825), -EBUSY);
	is("memory.high", "1073741825");
	is("memory.max", "1073741824");
	scratch_put(dir, "memory.high", "");
	scratch_put(dir, "memory.max", "");
	assert_int_equal(bounds_set_memory(dir, 0), 0);
	is("memory.high", "max");
	is("memory.max", "max");
}

static void memory_of_v1(void **state)
{
	scratch_put(dir, "memory.limit_in_bytes", "");
	assert_int_equal(bounds_set_memory(dir, 1 << 30), 0);
	is("memory.limit_in_bytes", "1073741824");
	scratch_put(dir, "memory.limit_in_bytes", "");
	assert_int_equal(bounds_set_memory(dir, 0), 0);
	is("memory.limit_in_bytes", "-1");
	/* The kernel would have nothing to reclaim. */
	scratch_put(dir, "memory.stat",
		    "rss 1\ntotal_cache 9\ntotal_rss 1000000000\n"
		    "total_shmem 100000000\n");
	scratch_put(dir, "memory.limit_in_bytes", "");
	assert_int_equal(bounds_set_memory(dir, 1 << 30), -EBUSY);
	is("memory.limit_in_bytes", "");
	assert_int_equal(bounds_set_memory(dir, UINT64_C(1) << 31), 0);
	is("memory.limit_in_bytes", "2147483648");
}

static void make_disk(const char *sys, const char *name, const char *dev,
		      bool device)
{
	char *path = xasprintf("%s/%s", sys, name), *link;

	assert_int_equal(mkdir(path, 0700), 0);
	scratch_put(path, "dev", dev);
	link = xasprintf("%s/device", path);
	if (device)
		assert_int_equal(mkdir(link, 0700), 0);
	free(link);
	free(path);
}

static void disks(void **state)
{
	char *sys = xasprintf("%s/block", base);

	assert_int_equal(mkdir(sys, 0700), 0);
	make_disk(sys, "sda", "8:0\n", true);
	make_disk(sys, "loop0", "7:0\n", false);
	assert_int_equal(bounds_set_disk(dir, sys, 5), -ENOENT);
	scratch_put(dir, "blkio.throttle.read_bps_device", "");
	scratch_put(dir, "blkio.throttle.write_bps_device", "");
	assert_int_equal(bounds_set_disk(dir, sys, 1 << 20), 0);
	is("blkio.throttle.read_bps_device", "8:0 1048576");
	is("blkio.throttle.write_bps_device", "8:0 1048576");
	scratch_put(dir, "io.max", "");
	assert_int_equal(bounds_set_disk(dir, sys, 1 << 20), 0);
	is("io.max", "8:0 rbps=1048576 wbps=1048576");
	scratch_put(dir, "io.max", "");
	assert_int_equal(bounds_set_disk(dir, sys, 0), 0);
	is("io.max", "8:0 rbps=max wbps=max");
	free(sys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(processors, setup),
		cmocka_unit_test_setup(memory_of_v2, setup),
		cmocka_unit_test_setup(memory_of_v1, setup),
		cmocka_unit_test_setup(disks, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
