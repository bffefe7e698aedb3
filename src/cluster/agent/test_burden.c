/* test_burden.c - memory of a guest that is no process's */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "cluster/agent/burden.h"
#include "core/scratch.h"

#define MIB ((uint64_t)1 << 20)

/* 100 MiB: 20 of a process, 30 of files on a disk, 40 in /tmp, 10 the kernel's. */
static void both_versions_tell_what_is_no_process_s(void **state)
{
	char v1[SCRATCH_MAX], v2[SCRATCH_MAX], none[SCRATCH_MAX];
	char *groups[] = { none, v1 };

	scratch_dir(none, "/tmp");
	scratch_dir(v1, "/tmp");
	scratch_dir(v2, "/tmp");
	assert_int_equal(burden_of(groups, 1, 0), 0);
	scratch_put(v1, "memory.usage_in_bytes", "104857600\n");
	scratch_put(v1, "memory.stat",
		    "cache 1\nrss 2\nshmem 3\ntotal_cache 73400320\n"
		    "total_rss 20971520\ntotal_shmem 41943040\n");
	assert_int_equal(burden_of(groups, 2, 100 * MIB), 50 * MIB);
	scratch_put(v2, "memory.current", "104857600\n");
	scratch_put(v2, "memory.stat",
		    "anon 20971520\nfile 73400320\nkernel 10485760\n"
		    "shmem 41943040\n");
	groups[1] = v2;
	assert_int_equal(burden_of(groups, 2, 100 * MIB), 50 * MIB);
	/* What the kernel counts at different times need not add up. */
	scratch_put(v2, "memory.current", "1048576\n");
	assert_int_equal(burden_of(groups, 2, 0), 0);
	scratch_put(v2, "memory.current", "104857600\n");
	assert_int_equal(burden_of(groups, 2, 100 * MIB + 1), 0);
}

static void a_score_is_a_share_in_thousandths(void **state)
{
	assert_int_equal(burden_score(0, 1000 * MIB), 0);
	assert_int_equal(burden_score(MIB - 1, 1000 * MIB), 0);
	assert_int_equal(burden_score(250 * MIB, 1000 * MIB), 250);
	assert_int_equal(burden_score(2000 * MIB, 1000 * MIB), 1000);
	assert_int_equal(burden_score(MIB, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_versions_tell_what_is_no_process_s),
		cmocka_unit_test(a_score_is_a_share_in_thousandths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
