/*
 * test_capsule.c - what a capsule reads from procfs and from its records
 *
 * Capsules themselves are tested by tests/21-capsule.bats.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/capsule_cgroup.h"
#include "cluster/capsule_record.h"
#include "cluster/process.h"

static const char mounts[] =
	"22 1 254:0 / / rw - ext4 /dev/vda rw\n"
	"30 22 0:25 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
	"31 22 0:26 /box/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	"32 22 0:27 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n"
	"33 22 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

static const char own[] = "5:freezer:/\n"
			  "4:memory:/box/1/job\n"
			  "3:cpu,cpuacct:/a/stint-self\n"
			  "1:name=systemd:/\n"
			  "0::/user.slice/x\n";

static void locate(void **state)
{
	static const struct {
		const char *controller, *dir;
	} cases[] = {
		{ "cpu", "/sys/fs/cgroup/cpu/a" },
		{ "cpuacct", "/sys/fs/cgroup/cpu/a" },
		{ "memory", "/sys/fs/cgroup/memory/job" },
		{ "freezer", "/sys/fs/cgroup/freezer" },
		{ "", "/sys/fs/cgroup/unified/user.slice/x" },
		{ "cpuset", NULL },
		{ "pu", NULL },
		{ "cp", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *dir = cgroup_locate(mounts, own, cases[i].controller);

		if (cases[i].dir)
			assert_string_equal(dir, cases[i].dir);
		else
			assert_null(dir);
		free(dir);
	}
}

/* A group outside of what is mounted cannot be reached by its path. */
static void locate_outside(void **state)
{
	assert_null(cgroup_locate(mounts, "4:memory:/other\n", "memory"));
	assert_null(cgroup_locate(mounts, "4:memory:/box/11\n", "memory"));
	assert_null(cgroup_locate("", own, "memory"));
	assert_null(cgroup_locate(
		"nonsense - cgroup\n - \n1 2 3 - cgroup c cpu", own, "cpu"));
	assert_null(cgroup_locate(mounts, ":\n::\ncpu", "cpu"));
}

static void stat_line(void **state)
{
	static const char good[] =
		"77 (a) R 1 ) b) S 1 2 3 4 5 0 7 8 9 10 11 12 13 14 15 16 17 18 4242 20";
	uint64_t start;
	char st;

	assert_int_equal(process_parse_stat(good, &st, &start), 0);
	assert_int_equal(st, 'S');
	assert_int_equal(start, 4242);
	assert_int_equal(process_parse_stat("1 (x) R 1 2 3 4 5 4194308 7 8 9 "
					    "10 11 12 13 14 15 16 17 18 5",
					    &st, &start),
			 0);
	assert_int_equal(st, 'X'); /* PF_EXITING */
	assert_int_equal(process_parse_stat("", &st, &start), -EBADMSG);
	assert_int_equal(process_parse_stat("1 (x)", &st, &start), -EBADMSG);
	assert_int_equal(process_parse_stat("1 (x) S 1 2", &st, &start),
			 -EBADMSG);
	assert_int_equal(process_parse_stat("1 (x) S a b", &st, &start),
			 -EBADMSG);
}

static void self_is_alive(void **state)
{
	struct process_id me;

	assert_int_equal(process_identify(getpid(), &me), 0);
	assert_true(process_alive(&me));
	me.start++;
	assert_false(process_alive(&me));
	assert_int_equal(process_open(&me), -ESRCH);
	assert_int_equal(process_end(&me, 9, 0), 0);
}

static void record_round_trip(void **state)
{
	struct capsule_record rec = {
		.keeper = { 12, 34 },
		.init = { 56, 78 },
		.boot = "0ddba11",
		.netns = 4026531840,
		.link = "st12x0",
		.uplink = "lan0",
		.address.s_addr = htonl(0x0a4d0001),
		.cgroups = { (char *)"/a/x", (char *)"/b/with space" },
		.nr_cgroups = 2,
	};
	char dir[] = "/tmp/stint-test-XXXXXX", path[64];
	struct capsule_record got;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(record_write(dir, &rec, NULL), 0);
	assert_int_equal(record_read(dir, &got), 0);
	assert_int_equal(got.keeper.pid, 12);
	assert_int_equal(got.init.start, 78);
	assert_string_equal(got.boot, "0ddba11");
	assert_true(got.netns == 4026531840);
	assert_string_equal(got.link, "st12x0");
	assert_string_equal(got.uplink, "lan0");
	assert_int_equal(got.address.s_addr, rec.address.s_addr);
	assert_int_equal(got.nr_cgroups, 2);
	assert_string_equal(got.cgroups[1], "/b/with space");
	record_clear(&got);
	snprintf(path, sizeof(path), "%s/record", dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(record_read(dir, &got), -ENOENT);
}

static void record_bad(void **state)
{
	struct capsule_record rec;

	assert_int_equal(record_parse("", &rec), -EBADMSG);
	assert_int_equal(record_parse("keeper x y\nboot z\n", &rec), -EBADMSG);
	assert_int_equal(record_parse("keeper 1 2\n", &rec), -EBADMSG);
	/* Relative paths would be removed from wherever we happen to be. */
	assert_int_equal(record_parse("keeper 1 2\nboot b\ncgroup etc\n"
				      "link averylongnamethatdoesnotfit\n"
				      "news from tomorrow\n"
				      "cgroup /1\ncgroup /2\ncgroup /3\n"
				      "cgroup /4\ncgroup /5\ncgroup /6\n",
				      &rec),
			 0);
	assert_int_equal(rec.nr_cgroups, CGROUP_DIRS);
	assert_string_equal(rec.cgroups[0], "/1");
	record_clear(&rec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locate),
		cmocka_unit_test(locate_outside),
		cmocka_unit_test(stat_line),
		cmocka_unit_test(self_is_alive),
		cmocka_unit_test(record_round_trip),
		cmocka_unit_test(record_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
