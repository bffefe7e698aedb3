/*
 * test_capsule.c - what a capsule reads from procfs and from its records
 *
 * Capsules themselves are tested by tests/21-capsule.bats.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/capsule/cgroup.h"
#include "cluster/capsule/record.h"
#include "cluster/host/process.h"
#include "core/scratch.h"

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
		.cpu_weight = 250,
	};
	char dir[SCRATCH_MAX], path[80];
	struct capsule_record got;
	struct stat first, second;

	scratch_dir(dir, "/tmp");
	rec.init = (struct process_id){ 0, 0 };
	assert_int_equal(record_write(dir, &rec, NULL), 0);
	snprintf(path, sizeof(path), "%s/record", dir);
	assert_int_equal(stat(path, &first), 0);
	/* The new record replaces the old one: a reader never finds less. */
	rec.init = (struct process_id){ 56, 78 };
	assert_int_equal(record_write(dir, &rec, NULL), 0);
	assert_int_equal(stat(path, &second), 0);
	assert_int_equal(first.st_ino, second.st_ino);
	assert_int_equal(first.st_size, second.st_size);
	assert_int_equal(record_read(dir, &got), 0);
	assert_int_equal(got.keeper.pid, 12);
	assert_int_equal(got.init.start, 78);
	assert_string_equal(got.boot, "0ddba11");
	assert_true(got.netns == 4026531840);
	assert_string_equal(got.link, "st12x0");
	assert_string_equal(got.uplink, "lan0");
	assert_int_equal(got.address.s_addr, rec.address.s_addr);
	assert_int_equal(got.nr_cgroups, 2);
	assert_int_equal(got.cpu_weight, 250);
	assert_string_equal(got.cgroups[1], "/b/with space");
	record_clear(&got);
	assert_int_equal(unlink(path), 0);
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

/* ---- cgroup v2: a directory that stands for the hierarchy */

static const char *const v2_dirs[] = { "", "/c1", "/c1/run", "/c1/init" };
static const char *const v2_files[] = {
	"cgroup.procs", "cgroup.freeze",   "cgroup.events",	"cpu.weight",
	"memory.max",	"memory.swap.max", "memory.current",	"memory.events",
	"pids.max",	"pids.events",	   "memory.oom_control"
};
#define NR(array) (sizeof(array) / sizeof(*(array)))

static void v2_put(const char *base, const char *file, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", base, file);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void v2_is(const char *base, const char *file, const char *text)
{
	char path[128], got[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", base, file);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fread(got, 1, sizeof(got) - 1, f), strlen(text));
	assert_string_equal(got, text);
	fclose(f);
}

/* All files except those that only the caller's own group has. */
static void v2_tree(char *base, bool make)
{
	char path[128], file[64];

	for (size_t d = 0; d < NR(v2_dirs); d++) {
		const char *dir = v2_dirs[make ? d : NR(v2_dirs) - 1 - d];

		snprintf(path, sizeof(path), "%s%s", base, dir);
		if (make && *dir)
			assert_int_equal(mkdir(path, 0700), 0);
		for (size_t i = 0; i < NR(v2_files); i++) {
			snprintf(file, sizeof(file), "%s/%s", dir, v2_files[i]);
			if (make) {
				v2_put(base, file, "");
			} else {
				snprintf(path, sizeof(path), "%s%s", base,
					 file);
				assert_int_equal(unlink(path), 0);
			}
		}
		if (!make) {
			snprintf(path, sizeof(path), "%s%s", base, dir);
			assert_int_equal(rmdir(path), 0);
		}
	}
}

/*
 * On v1 a process enters by `tasks`: writing to cgroup.procs would make the
 * whole machine wait for a grace period, three times for each job.
 */
static void v1_entered(void **state)
{
	char dir[SCRATCH_MAX], freezer[SCRATCH_MAX + 8];
	struct limits none = { 0 };
	struct capsule_cgroup cg = {
		.dirs = { dir, freezer },
		.nr_dirs = 2,
		.whole = { dir },
		.nr_whole = 1,
		.frozen = freezer,
		.kind = CGROUP_FREEZER_V1,
	};

	scratch_dir(dir, "/tmp");
	snprintf(freezer, sizeof(freezer), "%s/f", dir);
	assert_int_equal(mkdir(freezer, 0700), 0);
	v2_put(dir, "/tasks", "");
	v2_put(dir, "/cgroup.procs", "");
	v2_put(freezer, "/tasks", "");
	v2_put(freezer, "/cgroup.procs", "");
	v2_put(freezer, "/freezer.state", "");
	assert_int_equal(cgroup_make(&cg, &none, 100, true, NULL), 0);
	assert_int_equal(cgroup_open_doors(&cg, NULL), 0);
	assert_int_equal(cgroup_enter(&cg, NULL), 0);
	v2_is(dir, "/tasks", "0");
	v2_is(dir, "/cgroup.procs", "");
	assert_int_equal(write(cg.join, "0", 1), 1);
	v2_is(freezer, "/tasks", "0");
	v2_is(freezer, "/cgroup.procs", "");
	close(cg.join);
	close(cg.state);
}

/*
 * On v1 each group has only the files of its own controller; the others are not
 * looked for.
 */
static void v1_each_its_own(void **state)
{
	char dir[SCRATCH_MAX], pids[SCRATCH_MAX + 8];
	struct capsule_cgroup cg = {
		.dirs = { dir, pids },
		.what = { "memory", "pids" },
		.nr_dirs = 2,
		.join = -1,
		.state = -1,
	};
	struct limits limits = { .pids = 10 };
	struct limits_met met;

	scratch_dir(dir, "/tmp");
	snprintf(pids, sizeof(pids), "%s/p", dir);
	assert_int_equal(mkdir(pids, 0700), 0);
	v2_put(dir, "/memory.oom_control", "oom_kill 2\n");
	v2_put(dir, "/pids.events", "max 7\n");
	v2_put(pids, "/memory.oom_control", "oom_kill 9\n");
	v2_put(pids, "/pids.events", "max 3\n");
	v2_put(dir, "/pids.max", "");
	v2_put(pids, "/pids.max", "");
	cgroup_met(&cg, &limits, &met);
	assert_int_equal(met.kills, 2);
	assert_int_equal(met.refused, 3);
	assert_int_equal(cgroup_limit(&cg, &limits, false, NULL), 0);
	v2_is(pids, "/pids.max", "11");
	v2_is(dir, "/pids.max", "");
}

/*
 * The text of a file of the group before its share is lowered, after that, and
 * after it is raised again.
 */
static void claim_tells(const char *dir, const char *file, const char *low,
			const char *usual)
{
	char copy[SCRATCH_MAX], *dirs[] = { copy };

	snprintf(copy, sizeof(copy), "%s", dir);
	cgroup_claim(dirs, 1, 250, true);
	v2_is(dir, file, low);
	cgroup_claim(dirs, 1, 250, false);
	v2_is(dir, file, usual);
}

static void claim_of_a_group(void **state)
{
	char dir[SCRATCH_MAX];

	scratch_dir(dir, "/tmp");
	/* Before Linux 5.15. */
	v2_put(dir, "/cpu.weight", "");
	claim_tells(dir, "/cpu.weight", "1", "250");
	v2_put(dir, "/cpu.shares", "");
	claim_tells(dir, "/cpu.shares", "2", "2560");
	v2_put(dir, "/cpu.idle", "0");
	claim_tells(dir, "/cpu.idle", "1", "0");
	/* Where the kernel has it, as it calls what is not set. */
	v2_put(dir, "/io.prio.class", "none");
	claim_tells(dir, "/io.prio.class", "idle", "no-change");
	v2_put(dir, "/blkio.prio.class", "none");
	claim_tells(dir, "/blkio.prio.class", "idle", "no-change");
	/* An idle group keeps its share, and the kernel resets it then. */
	v2_put(dir, "/cpu.shares", "3");
	claim_tells(dir, "/cpu.shares", "3", "2560");
	/* A value that is set already is not written again. */
	v2_put(dir, "/cpu.shares", "77");
	cgroup_claim((char *[]){ dir }, 1, 250, false);
	v2_is(dir, "/cpu.shares", "77");
}

static void v2_limits(void **state)
{
	char base[] = "/tmp/stint-test-cgroup-XXXXXX", control[64], got[64];
	const struct limits limits = { .memory = 256 << 20, .pids = 200 };
	const struct limits all = { .memory = UINT64_MAX, .pids = UINT64_MAX };
	struct capsule_cgroup cg;
	struct limits_met met;
	int told;

	assert_non_null(mkdtemp(base));
	v2_tree(base, true);
	/* A pipe takes the file's place, so that each word is heard. */
	snprintf(control, sizeof(control), "%s/cgroup.subtree_control", base);
	assert_int_equal(mkfifo(control, 0600), 0);
	told = open(control, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	cgroup_plan_v2(base, "c1", &cg);
	assert_int_equal(cgroup_make(&cg, &limits, 250, true, NULL), 0);
	assert_int_equal(read(told, got, sizeof(got)), 16);
	assert_memory_equal(got, "+cpu+memory+pids", 16);
	v2_is(base, "/c1/cpu.weight", "250");
	/*
	 * The rank's limits, with room for our own processes and for a landing;
	 * then without that room.
	 */
	v2_is(base, "/c1/memory.max", "310378496");
	v2_is(base, "/c1/memory.swap.max", "0");
	v2_is(base, "/c1/pids.max", "205");
	assert_int_equal(cgroup_limit(&cg, &limits, false, NULL), 0);
	v2_is(base, "/c1/memory.max", "276824064");
	v2_is(base, "/c1/pids.max", "201");
	/* The kernel would kill the rank if it used more than a new limit. */
	assert_int_equal(cgroup_limit(&cg, &limits, true, NULL), 0);
	v2_put(base, "/c1/memory.current", "300000000\n");
	assert_int_equal(cgroup_limit(&cg, &limits, false, NULL), -EBUSY);
	v2_is(base, "/c1/memory.max", "310378496");
	/* The limits are those of the capsule's group, not of this part. */
	v2_is(base, "/c1/run/memory.max", "");
	v2_is(base, "/cpu.weight", "");
	/* A client may ask for any number; the kernel refuses this one. */
	v2_put(base, "/c1/memory.current", "1");
	assert_int_equal(cgroup_limit(&cg, &all, true, NULL), 0);
	v2_is(base, "/c1/memory.max", "4611686018469330944");
	v2_is(base, "/c1/pids.max", "4194304");
	assert_int_equal(cgroup_open_doors(&cg, NULL), 0);
	assert_int_equal(cgroup_enter(&cg, NULL), 0);
	v2_is(base, "/c1/init/cgroup.procs", "0");
	v2_is(base, "/c1/cgroup.procs", ""); /* only leaves have processes */
	assert_int_equal(write(cg.join, "0", 1), 1);
	v2_is(base, "/c1/run/cgroup.procs", "0");
	v2_put(base, "/c1/run/cgroup.events", "populated 1\nfrozen 1\n");
	assert_int_equal(cgroup_freeze(&cg, NULL), 0);
	v2_is(base, "/c1/run/cgroup.freeze", "1");
	assert_int_equal(cgroup_thaw(&cg, NULL), 0);
	v2_is(base, "/c1/run/cgroup.freeze", "0");
	cgroup_met(&cg, &limits, &met);
	assert_true(!met.kills && !met.own_memory && !met.refused);
	/* A kill that was caused by the host's memory, not by the limit. */
	v2_put(base, "/c1/memory.events",
	       "low 0\nhigh 0\nmax 12\noom 0\noom_kill 1\n");
	cgroup_met(&cg, &limits, &met);
	assert_true(met.kills == 1 && !met.own_memory);
	v2_put(base, "/c1/memory.events",
	       "low 0\nhigh 0\nmax 12\noom 1\noom_kill 2\n");
	v2_put(base, "/c1/run/pids.events", "max 17\n"); /* by old kernels */
	cgroup_met(&cg, &limits, &met);
	assert_true(met.kills == 2 && met.own_memory && met.refused == 17);
	/* v1's file: its first line begins like the one looked for */
	v2_put(base, "/c1/memory.oom_control",
	       "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
	cgroup_met(&cg, &limits, &met);
	assert_int_equal(met.kills, 5);
	v2_put(base, "/c1/pids.events", "max 18\n");
	cgroup_met(&cg, &limits, &met);
	assert_int_equal(met.refused, 18);
	cgroup_clear(&cg);
	close(told);
	unlink(control);
	v2_tree(base, false);
}

/* On a host without the controller nothing is limited, which is reported. */
static void v2_no_controller(void **state)
{
	char base[] = "/tmp/stint-test-cgroup-XXXXXX", path[128];
	const struct limits memory = { .memory = 256 << 20 }, none = { 0 };
	struct capsule_cgroup cg;
	struct error err;

	assert_non_null(mkdtemp(base));
	v2_tree(base, true);
	for (size_t d = 0; d < NR(v2_dirs); d++) {
		snprintf(path, sizeof(path), "%s%s/memory.max", base,
			 v2_dirs[d]);
		assert_int_equal(unlink(path), 0);
	}
	cgroup_plan_v2(base, "c1", &cg);
	assert_int_equal(cgroup_limit(&cg, &memory, false, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "memory cannot be limited"));
	assert_int_equal(cgroup_limit(&cg, &none, false, NULL), 0);
	cgroup_clear(&cg);
	for (size_t d = 0; d < NR(v2_dirs); d++) {
		snprintf(path, sizeof(path), "%s/memory.max", v2_dirs[d]);
		v2_put(base, path, "");
	}
	v2_tree(base, false);
}

/*
 * The agent's groups are where it was told to make them, wherever it runs
 * itself.
 */
static void v2_home(void **state)
{
	char base[] = "/tmp/stint-test-cgroup-XXXXXX", want[128];
	struct capsule_cgroup cg;
	struct error err;
	char *got;

	assert_int_equal(cgroup_set_home("/nonexistent", &err), -EINVAL);
	assert_non_null(strstr(err.text, "/nonexistent is no group"));
	assert_non_null(mkdtemp(base));
	v2_tree(base, true);
	assert_int_equal(cgroup_set_home(base, &err), -EINVAL);
	v2_put(base, "/cgroup.subtree_control", "");
	assert_int_equal(cgroup_set_home(base, &err), 0);
	got = cgroup_own("");
	assert_string_equal(got, base);
	free(got);
	v2_put(base, "/cgroup.procs", "77\n78\n");
	snprintf(want, sizeof(want), "%s/stint-self", base);
	assert_int_equal(mkdir(want, 0700), 0);
	v2_put(base, "/stint-self/cgroup.procs", "");
	assert_int_equal(cgroup_settle(base, &err), 0);
	v2_is(base, "/stint-self/cgroup.procs", "78");
	snprintf(want, sizeof(want), "%s/stint-self/cgroup.procs", base);
	assert_int_equal(unlink(want), 0);
	snprintf(want, sizeof(want), "%s/stint-self", base);
	assert_int_equal(rmdir(want), 0);
	assert_int_equal(cgroup_plan("c1", NULL, &cg, &err), 0);
	if (cg.kind == CGROUP_FREEZER_V2) { /* v1's controllers come first */
		snprintf(want, sizeof(want), "%s/c1/run", base);
		assert_string_equal(cg.frozen, want);
	}
	cgroup_clear(&cg);
	snprintf(want, sizeof(want), "%s/cgroup.subtree_control", base);
	assert_int_equal(unlink(want), 0);
	v2_tree(base, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locate),
		cmocka_unit_test(locate_outside),
		cmocka_unit_test(self_is_alive),
		cmocka_unit_test(record_round_trip),
		cmocka_unit_test(record_bad),
		cmocka_unit_test(v1_entered),
		cmocka_unit_test(v1_each_its_own),
		cmocka_unit_test(claim_of_a_group),
		cmocka_unit_test(v2_limits),
		cmocka_unit_test(v2_no_controller),
		cmocka_unit_test(v2_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
