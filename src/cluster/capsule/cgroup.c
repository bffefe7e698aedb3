/*
 * cgroup.c - groups, and standing still, see cgroup.h
 */
#include "cluster/capsule/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/io.h"
#include "core/log.h"
#include "core/xalloc.h"

#define REALTIME_MOST  12000 /* microseconds of a second */
#define REALTIME_LEAST 3000
#define FREEZE_SPIN    200   /* looks without sleeping: it takes microseconds */
#define FREEZE_TRIES   20000 /* of 50 us: one second, then something is stuck */
#define REMOVE_TRIES   2000  /* of 1 ms */
#define HASTEN_EACH    300   /* likewise; as a rule it is over before */

static void pause_us(long us)
{
	nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

/* ---- making ---- */

/*
 * For the freeze of a move (core/hurry.h), where the kernel schedules real-time
 * by group.  A landing rank that has used up its share stands still for the
 * rest of the second, so it is several times what a freeze takes, if the groups
 * around this one have that much left.
 */
static void set_realtime(const char *dir)
{
	char *path = xasprintf("%s/cpu.rt_runtime_us", dir), text[16];
	fd_auto fd = open(path, O_WRONLY | O_CLOEXEC);

	free(path);
	for (int usec = REALTIME_MOST; fd >= 0 && usec >= REALTIME_LEAST;
	     usec /= 2) {
		int n = snprintf(text, sizeof(text), "%d", usec);

		if (pwrite(fd, text, (size_t)n, 0) == n)
			return;
	}
}

static bool has_cpu(const struct capsule_cgroup *cg, unsigned i)
{
	return cg->dirs[i] != cg->frozen && cgroup_has(cg, i, "cpu");
}

void cgroup_allow_realtime(const struct capsule_cgroup *cg)
{
	for (unsigned i = 0; i < cg->nr_dirs; i++)
		if (has_cpu(cg, i))
			set_realtime(cg->dirs[i]);
}

static int open_in(const char *dir, const char *file, int flags, int *ret,
		   struct error *err)
{
	char *path = xasprintf("%s/%s", dir, file);
	int fd = open(path, flags | O_CLOEXEC), r = 0;

	if (fd < 0)
		r = error_sys(err, -errno, "cannot open %s", path);
	else
		*ret = fd;
	free(path);
	return r;
}

/*
 * Where a process with one thread writes "0" to come in by itself.  On v1 that
 * is not cgroup.procs, which keeps all others of the machine from forking for
 * an RCU grace period or two: 20 ms each time.
 */
static const char *door(const struct capsule_cgroup *cg)
{
	return cg->kind == CGROUP_FREEZER_V2 ? "cgroup.procs" : "tasks";
}

static int open_freezer(struct capsule_cgroup *cg, struct error *err)
{
	int r;

	if (!cg->frozen)
		return 0;
	r = open_in(cg->frozen, door(cg), O_WRONLY, &cg->join, err);
	if (r < 0)
		return r;
	return cg->kind == CGROUP_FREEZER_V1
		       ? open_in(cg->frozen, "freezer.state", O_RDWR,
				 &cg->state, err)
		       : open_in(cg->frozen, "cgroup.freeze", O_WRONLY,
				 &cg->state, err);
}

int cgroup_make(struct capsule_cgroup *cg, const struct limits *limits,
		unsigned cpu_weight, bool move, struct error *err)
{
	char *base;
	int r;

	/* Enclosing ones come last in dirs. */
	for (int i = (int)cg->nr_dirs - 1; i >= 0; i--)
		if (mkdir(cg->dirs[i], 0755) < 0 && errno != EEXIST)
			return error_sys(err, -errno, "cannot make %s",
					 cg->dirs[i]);
	if (cg->kind == CGROUP_FREEZER_V2) {
		base = xasprintf("%s/..", cg->dirs[cg->nr_dirs - 1]);
		cgroup_pass_on(base);
		free(base);
	}
	for (unsigned i = 0; i < cg->nr_dirs; i++)
		if (cpu_weight != CGROUP_WEIGHT && has_cpu(cg, i))
			cgroup_weigh(cg->dirs[i], cpu_weight);
	r = cgroup_limit(cg, limits, move, err);
	if (!r && move)
		cgroup_allow_realtime(cg);
	return r < 0 ? r : open_freezer(cg, err);
}

static const char *door_dir(const struct capsule_cgroup *cg, unsigned i)
{
	return i < cg->nr_whole ? cg->whole[i] : cg->joined[i - cg->nr_whole];
}

int cgroup_open_doors(struct capsule_cgroup *cg, struct error *err)
{
	unsigned n = cg->nr_whole + cg->nr_joined;
	int r = 0;

	for (unsigned i = 0; i < n && !r; i++) {
		r = open_in(door_dir(cg, i), door(cg), O_WRONLY, &cg->doors[i],
			    err);
		cg->nr_doors += !r;
	}
	return r;
}

static int enter_some(const struct capsule_cgroup *cg, unsigned from,
		      unsigned to, struct error *err)
{
	for (unsigned i = from; i < to && i < cg->nr_doors; i++)
		if (write(cg->doors[i], "0", 1) < 0)
			return error_sys(err, -errno, "cannot enter %s",
					 door_dir(cg, i));
	return 0;
}

int cgroup_enter(const struct capsule_cgroup *cg, struct error *err)
{
	return enter_some(cg, 0, cg->nr_doors, err);
}

int cgroup_enter_own(const struct capsule_cgroup *cg, struct error *err)
{
	return enter_some(cg, 0, cg->nr_whole, err);
}

int cgroup_enter_joined(const struct capsule_cgroup *cg, struct error *err)
{
	return enter_some(cg, cg->nr_whole, cg->nr_doors, err);
}

static void close_doors(struct capsule_cgroup *cg)
{
	while (cg->nr_doors)
		close(cg->doors[--cg->nr_doors]);
}

/* ---- freezing ---- */

static int write_state(const struct capsule_cgroup *cg, bool freeze)
{
	const char *text = cg->kind == CGROUP_FREEZER_V1
				   ? (freeze ? "FROZEN" : "THAWED")
				   : (freeze ? "1" : "0");

	return pwrite(cg->state, text, strlen(text), 0) < 0 ? -errno : 0;
}

/* v1 counts anew whenever its state is read; v2 tells in cgroup.events. */
static bool is_frozen(const struct capsule_cgroup *cg)
{
	char buf[256], *path, *text;
	bool frozen;
	ssize_t n;

	if (cg->kind == CGROUP_FREEZER_V1) {
		n = pread(cg->state, buf, sizeof(buf) - 1, 0);
		return n > 0 && !strncmp(buf, "FROZEN", 6);
	}
	path = xasprintf("%s/cgroup.events", cg->frozen);
	n = io_read_file(AT_FDCWD, path, 4096, &text);
	free(path);
	if (n < 0)
		return false;
	frozen = strstr(text, "frozen 1");
	free(text);
	return frozen;
}

int cgroup_freeze(const struct capsule_cgroup *cg, struct error *err)
{
	int r = write_state(cg, true);

	if (r < 0)
		return error_sys(err, r, "cannot freeze %s", cg->frozen);
	for (int i = 0; i < FREEZE_TRIES; i++) {
		if (is_frozen(cg))
			return 0;
		if (i < FREEZE_SPIN)
			sched_yield();
		else
			pause_us(50);
	}
	(void)!write_state(cg, false);
	return error_set(
		err, -ETIMEDOUT,
		"%s cannot be frozen: a process in it is blocked in the kernel",
		cg->frozen);
}

int cgroup_thaw(const struct capsule_cgroup *cg, struct error *err)
{
	int r = write_state(cg, false);

	return r < 0 ? error_sys(err, r, "cannot thaw %s", cg->frozen) : 0;
}

void cgroup_clear(struct capsule_cgroup *cg)
{
	io_close(&cg->join);
	io_close(&cg->state);
	close_doors(cg);
	for (unsigned i = 0; i < cg->nr_dirs; i++)
		free(cg->dirs[i]);
	cgroup_forget_guests(cg);
	memset(cg, 0, sizeof(*cg));
	cg->join = cg->state = -1;
}

bool cgroup_can_limit(const char *controller)
{
	struct capsule_cgroup cg;
	char *own = cgroup_own(controller); /* v1's */
	bool can = own && !access(own, W_OK);

	free(own);
	if (can || cgroup_plan("probe", NULL, &cg, NULL) < 0)
		return can;
	if (cg.kind == CGROUP_FREEZER_V2 && (own = cgroup_own(""))) {
		cgroup_pass_on(own);
		can = cgroup_passes_on(own, controller);
		free(own);
	}
	cgroup_clear(&cg);
	return can;
}

/* ---- removing ---- */

static bool lists(const char *dir, pid_t pid)
{
	char *path = xasprintf("%s/cgroup.procs", dir), *text, *p, *end;
	bool found = false;

	if (io_read_file(AT_FDCWD, path, 1 << 24, &text) >= 0) {
		for (p = text; *p && !found; p = end + (*end == '\n')) {
			found = strtol(p, &end, 10) == pid;
			if (end == p)
				break;
		}
		free(text);
	}
	free(path);
	return found;
}

/*
 * Open the pidfd first and look afterwards whether the process is a member,
 * so that the pid cannot have become another process's.
 */
static bool kill_member(const char *dir, pid_t pid)
{
	fd_auto fd = pidfd_open(pid, 0);

	return fd >= 0 && lists(dir, pid) &&
	       !pidfd_send_signal(fd, SIGKILL, NULL, 0);
}

static void kill_members(const char *dir)
{
	(void)cgroup_each(dir, "cgroup.procs", kill_member);
}

static void thaw_dir(const char *dir)
{
	static const char *const how[][2] = {
		{ "freezer.state", "THAWED" },
		{ "cgroup.freeze", "0" },
	};

	for (unsigned i = 0; i < 2; i++) {
		char *path = xasprintf("%s/%s", dir, how[i][0]);

		(void)!io_write_file(AT_FDCWD, path, how[i][1]);
		free(path);
	}
}

/* The whole tree below dir, and dir: nothing in ours is anybody else's. */
static void for_each_dir(const char *dir, void (*fn)(const char *dir))
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *sub;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		sub = xasprintf("%s/%s", dir, e->d_name);
		for_each_dir(sub, fn);
		free(sub);
	}
	if (d)
		closedir(d);
	fn(dir);
}

static void try_rmdir(const char *dir)
{
	rmdir(dir); /* the loop below sees whether it is gone */
}

int cgroup_remove(char *const *dirs, unsigned n)
{
	unsigned empty = 0;
	int r = 0;

	/* As a rule nothing is in them any more, nor below them. */
	while (empty < n && !rmdir(dirs[empty]))
		empty++;
	if (empty == n)
		return 0;
	/* Killed before thawed: a frozen copy must not run one instruction. */
	for (unsigned i = 0; i < n; i++)
		for_each_dir(dirs[i], kill_members);
	for (unsigned i = 0; i < n; i++)
		for_each_dir(dirs[i], thaw_dir);
	for (unsigned i = 0; i < n; i++) {
		for (int t = 0; !access(dirs[i], F_OK); t++) {
			for_each_dir(dirs[i], try_rmdir);
			if (t == REMOVE_TRIES) {
				r = -EBUSY;
				break;
			}
			if (t % 50 == 49)
				for_each_dir(dirs[i], kill_members);
			if (t % HASTEN_EACH == HASTEN_EACH - 1)
				cgroup_hasten(dirs, n);
			if (t)
				pause_us(1000);
		}
	}
	return r;
}
