/*
 * limits.c - limits of a capsule's control groups, see cgroup.h
 *
 * They are of the whole capsule, its init included, which takes little and is
 * allowed for.  Page cache counts as memory, and the kernel drops it before it
 * refuses any; swap is not used to get round a limit.  The keeper and its engine
 * are in none of these groups: what they need for a move is not the rank's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/capsule/cgroup.h"
#include "core/claim.h"
#include "core/io.h"
#include "core/xalloc.h"

/* Init; and a landing helper's buffers, what an injected call touches. */
#define OUR_MEMORY  (8u << 20)
#define MOVE_MEMORY (32u << 20)
#define NEARLY	    (1u << 20) /* what is charged at once */
#define OUR_PIDS    1
#define MOVE_PIDS   4
#define PIDS_MOST   4194304 /* the kernel takes */
#define CPUS_PERIOD 100000  /* us, the kernel's usual one */

int cgroup_write(const char *dir, const char *file, const char *text)
{
	char *path = xasprintf("%s/%s", dir, file);
	int r = io_write_file(AT_FDCWD, path, text);

	free(path);
	return r;
}

static int put_number(const char *dir, const char *file, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return cgroup_write(dir, file, text);
}

bool cgroup_set(const char *dir, const char *file, uint64_t value)
{
	return put_number(dir, file, value) >= 0;
}

void cgroup_pass_on(const char *dir)
{
	static const char *const controllers[] = { "+cpu", "+memory", "+pids" };

	for (unsigned i = 0; i < 3; i++) /* one may be there alone */
		(void)!cgroup_write(dir, "cgroup.subtree_control",
				    controllers[i]);
}

void cgroup_pass_on_all(const char *dir)
{
	cgroup_pass_on(dir);
	(void)!cgroup_write(dir, "cgroup.subtree_control", "+cpuset");
	(void)!cgroup_write(dir, "cgroup.subtree_control", "+io");
}

uint64_t cgroup_number_in(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!strncmp(text, word, n) && (!n || text[n] == ' '))
			return strtoull(text + n, NULL, 10);
	}
	return 0;
}

uint64_t cgroup_number(const char *dir, const char *file, const char *word)
{
	char *path = xasprintf("%s/%s", dir, file), *text;
	uint64_t value = 0;

	if (io_read_file(AT_FDCWD, path, 1 << 16, &text) >= 0) {
		value = cgroup_number_in(text, word);
		free(text);
	}
	free(path);
	return value;
}

/* Whichever it has: v1's, where swap is counted together with it, or v2's. */
static int set_memory(const char *dir, uint64_t bytes)
{
	int r;

	/* v1 refuses by itself what v2 would kill for. */
	if (cgroup_number(dir, "memory.current", "") > bytes)
		return -EBUSY;
	(void)!put_number(dir, "memory.memsw.limit_in_bytes", bytes);
	r = put_number(dir, "memory.limit_in_bytes", bytes);
	if (r == -ENOENT) {
		(void)!put_number(dir, "memory.swap.max", 0);
		return put_number(dir, "memory.max", bytes);
	}
	(void)!put_number(dir, "memory.memsw.limit_in_bytes", bytes);
	return r;
}

/* As much as one of nice -19, and no weight that somebody would ask for. */
#define STIRRED 7001

static unsigned shares_of(unsigned cpu_weight)
{
	/* 1 is v2's least, v1's is 2 */
	return cpu_weight > 1 ? cpu_weight * 1024 / 100 : 2;
}

void cgroup_weigh(const char *dir, unsigned cpu_weight)
{
	cgroup_set(dir, "cpu.shares", shares_of(cpu_weight));
	cgroup_set(dir, "cpu.weight", cpu_weight);
}

static bool is_last(const char *dir, bool has_idle)
{
	return has_idle ? cgroup_number(dir, "cpu.idle", "") != 0
			: cgroup_number(dir, "cpu.shares", "") == 2 ||
				  cgroup_number(dir, "cpu.weight", "") == 1;
}

/*
 * What processes do to their own I/O priority counts for nothing then.  Kernels without
 * CONFIG_BLK_CGROUP_IOPRIO have no such file.
 */
static void claim_disks(const char *dir, const char *file, bool low)
{
	const char *want = low ? "idle" : "no-change";
	char *path = xasprintf("%s/%s", dir, file);
	char *is = io_read_line(path);

	if (*is && strcmp(is, want))
		(void)!cgroup_write(dir, file, want);
	free(is);
	free(path);
}

static void claim_one(const char *dir, unsigned cpu_weight, bool low)
{
	char *path = xasprintf("%s/cpu.idle", dir);
	bool has_idle = access(path, F_OK) == 0;

	free(path);
	claim_disks(dir, "blkio.prio.class", low);
	claim_disks(dir, "io.prio.class", low);
	if (is_last(dir, has_idle) == low)
		return;
	if (has_idle)
		cgroup_set(dir, "cpu.idle", low);
	/* The kernel has forgotten what it was. */
	if (!low || !has_idle)
		cgroup_weigh(dir, low ? 1 : cpu_weight);
}

void cgroup_claim(char *const *dirs, unsigned n, unsigned cpu_weight, bool low)
{
	for (unsigned i = 0; i < n; i++)
		claim_one(dirs[i], cpu_weight ? cpu_weight : 100, low);
}

bool cgroup_each(const char *dir, const char *file,
		 bool (*fn)(const char *dir, pid_t id))
{
	char *path = xasprintf("%s/%s", dir, file), *text, *at, *end;
	bool any = false;
	long id;

	if (io_read_file(AT_FDCWD, path, 1 << 24, &text) >= 0) {
		for (at = text; (id = strtol(at, &end, 10)), end != at;
		     at = end)
			if (id > 0)
				any |= fn(dir, (pid_t)id);
		free(text);
	}
	free(path);
	return any;
}

/* Of v1 and of v2; each has but the one file. */
static bool each_thread(const char *dir, bool (*fn)(const char *dir, pid_t tid))
{
	bool v1 = cgroup_each(dir, "tasks", fn);

	return cgroup_each(dir, "cgroup.threads", fn) || v1;
}

static bool stir_thread(const char *dir, pid_t tid)
{
	(void)dir;
	return claim_stir(tid);
}

static bool settle_thread(const char *dir, pid_t tid)
{
	(void)dir;
	(void)claim_settle(tid);
	return claim_is_marked(tid);
}

/* Its owner has gone meanwhile, and it has still the weight of who is to stop. */
static void calm_one(const char *dir, unsigned cpu_weight)
{
	if (cgroup_number(dir, "cpu.shares", "") == shares_of(STIRRED) ||
	    cgroup_number(dir, "cpu.weight", "") == STIRRED)
		cgroup_weigh(dir, cpu_weight ? cpu_weight : CGROUP_WEIGHT);
}

void cgroup_stir(char *const *dirs, unsigned n, unsigned cpu_weight, bool on)
{
	bool low = false;

	for (unsigned i = 0; i < n && !on; i++)
		low |= each_thread(dirs[i], settle_thread);
	if (on || low)
		cgroup_claim(dirs, n, STIRRED, low);
	for (unsigned i = 0; i < n && !on && !low; i++)
		calm_one(dirs[i], cpu_weight);
}

void cgroup_hasten(char *const *dirs, unsigned n)
{
	/* Whatever its weight was: it is of nobody any more. */
	cgroup_claim(dirs, n, 0, false);
	for (unsigned i = 0; i < n; i++)
		(void)each_thread(dirs[i], stir_thread);
}

bool cgroup_has(const struct capsule_cgroup *cg, unsigned i,
		const char *controller)
{
	return !cg->what[i] || !strcmp(cg->what[i], controller);
}

static int set_pids(const char *dir, uint64_t pids)
{
	return put_number(dir, "pids.max", pids);
}

/*
 * Whichever it has; 0: none.  v1 refuses (EINVAL) what is more than a group around it
 * has, which keeps the rank within less, then.
 */
static int set_cpus(const char *dir, uint64_t cpus)
{
	uint64_t quota = cpus * CPUS_PERIOD / 1000;
	char text[48];
	int r = cpus ? put_number(dir, "cpu.cfs_quota_us", quota)
		     : cgroup_write(dir, "cpu.cfs_quota_us", "-1");

	if (r != -ENOENT)
		return r == -EINVAL ? 0 : r;
	if (cpus)
		snprintf(text, sizeof(text), "%llu %d",
			 (unsigned long long)quota, CPUS_PERIOD);
	else
		snprintf(text, sizeof(text), "max");
	return cgroup_write(dir, "cpu.max", text);
}

/* Set it in the one group that has the controller; what: to people. */
static int set_one(const struct capsule_cgroup *cg, const char *controller,
		   const char *what,
		   int (*set)(const char *dir, uint64_t value), uint64_t value,
		   struct error *err)
{
	for (int i = (int)cg->nr_dirs - 1; i >= 0; i--) {
		int r = -ENOENT;

		if (cg->dirs[i] != cg->frozen &&
		    cgroup_has(cg, (unsigned)i, controller))
			r = set(cg->dirs[i], value);
		if (r != -ENOENT)
			return r < 0 ? error_sys(err, r,
						 "cannot set the limit of %s "
						 "in %s",
						 what, cg->dirs[i])
				     : 0;
	}
	return error_set(
		err, -EOPNOTSUPP,
		"%s cannot be limited on this host: its agent has no control group "
		"with that controller",
		what);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

int cgroup_limit(const struct capsule_cgroup *cg, const struct limits *limits,
		 bool move, struct error *err)
{
	/*
	 * A request may contain any number; values above these mean no limit.
	 */
	uint64_t memory = least(limits->memory, 1ull << 62);
	uint64_t pids = least(limits->pids, PIDS_MOST - OUR_PIDS - MOVE_PIDS);
	int r = 0;

	if (memory)
		r = set_one(cg, "memory", "memory", set_memory,
			    memory + OUR_MEMORY + (move ? MOVE_MEMORY : 0),
			    err);
	if (!r && pids)
		r = set_one(cg, "pids", "the number of processes", set_pids,
			    pids + (cg->beside ? 0 : OUR_PIDS) +
				    (move ? MOVE_PIDS : 0),
			    err);
	if (!r && !move)
		r = cgroup_hold_back(cg, limits, true, err);
	return r;
}

int cgroup_hold_back(const struct capsule_cgroup *cg,
		     const struct limits *limits, bool on, struct error *err)
{
	uint64_t cpus =
		most(least(limits->cpus, LIMITS_CPUS_MOST), LIMITS_CPUS_LEAST);

	return limits->cpus ? set_one(cg, "cpu", "processors", set_cpus,
				      on ? cpus : 0, err)
			    : 0;
}

/* memory.failcnt would tell, and stays 0 on some kernels (6.18). */
static bool reached_v1(const char *dir)
{
	uint64_t limit = cgroup_number(dir, "memory.limit_in_bytes", "");

	return limit &&
	       cgroup_number(dir, "memory.max_usage_in_bytes", "") + NEARLY >=
		       limit;
}

/*
 * The kernel counts a kill in the group for any cause: it was the rank's limit
 * if that was reached, else the host's memory.
 */
static void memory_met(const char *dir, bool v2, bool limited,
		       struct limits_met *ret)
{
	if (v2) {
		ret->kills =
			most(ret->kills,
			     cgroup_number(dir, "memory.events", "oom_kill"));
		ret->own_memory |=
			limited && cgroup_number(dir, "memory.events", "oom");
	}
	ret->kills = most(ret->kills,
			  cgroup_number(dir, "memory.oom_control", "oom_kill"));
	ret->own_memory |= limited && reached_v1(dir);
}

/* v1 counts nanoseconds. */
static uint64_t held_usec(const char *dir)
{
	return most(cgroup_number(dir, "cpu.stat", "throttled_time") / 1000,
		    cgroup_number(dir, "cpu.stat", "throttled_usec"));
}

/*
 * Refused forks are counted in the group of the process or in that of the
 * limit, depending on the kernel's version.
 */
void cgroup_met(const struct capsule_cgroup *cg, const struct limits *limits,
		struct limits_met *ret)
{
	*ret = (struct limits_met){ 0 };
	for (unsigned i = 0; i < cg->nr_dirs; i++) {
		const char *dir = cg->dirs[i];

		if (cgroup_has(cg, i, "memory"))
			memory_met(dir, !cg->what[i], limits->memory, ret);
		if (limits->cpus && cgroup_has(cg, i, "cpu"))
			ret->held_usec = most(ret->held_usec, held_usec(dir));
		if (cgroup_has(cg, i, "pids"))
			ret->refused =
				most(ret->refused,
				     cgroup_number(dir, "pids.events", "max"));
	}
}

bool cgroup_passes_on(const char *dir, const char *controller)
{
	char *path = xasprintf("%s/cgroup.subtree_control", dir);
	char *line = io_read_line(path), *word, *save;
	bool found = false;

	word = strtok_r(line, " \n", &save);
	for (; word && !found; word = strtok_r(NULL, " \n", &save))
		found = !strcmp(word, controller);
	free(line);
	free(path);
	return found;
}
