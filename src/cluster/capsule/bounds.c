/* bounds.c - what all guests of a host may take of it, see bounds.h */
#include "cluster/capsule/bounds.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/capsule/cgroup.h"
#include "core/io.h"
#include "core/xalloc.h"

#define FILE_MOST   65536
/* Page tables, what is charged at once, and files that are used all the time. */
#define MEMORY_ROOM (UINT64_C(4) << 20)

/* Several agents may share one own group, as on a host with several clusters. */
char *bounds_name(const char *run_dir)
{
	struct stat st = { .st_ino = 0 };

	(void)!stat(run_dir, &st);
	return xasprintf("stint-guests.%llx", (unsigned long long)st.st_ino);
}

/* ---- where it is ---- */

static const char *const hierarchies[] = { "memory", "cpuset", "blkio", "" };
enum { NR_HIERARCHIES = 4 };

/* OWN/GUESTS there; NULL: we have no group there that we may write to. */
static char *group_in(const char *controller, const char *name)
{
	char *own = cgroup_own(controller), *dir = NULL;

	if (own && !access(own, W_OK))
		dir = xasprintf("%s/%s", own, name);
	free(own);
	return dir;
}

/* With controllers in v1's hierarchies, v2's has none of them. */
static bool is_v2(void)
{
	static const char *const v1[] = { "cpu", "memory", "pids", "freezer" };
	bool found = false;

	for (unsigned i = 0; i < 4; i++) {
		char *own = cgroup_own(v1[i]);

		found |= own && !access(own, W_OK);
		free(own);
	}
	return !found;
}

static void for_each_group(const char *name, void (*fn)(const char *dir))
{
	unsigned first = is_v2() ? NR_HIERARCHIES - 1 : 0;
	unsigned end = first ? NR_HIERARCHIES : NR_HIERARCHIES - 1;

	for (unsigned i = first; i < end; i++) {
		char *dir = group_in(hierarchies[i], name);

		if (dir)
			fn(dir);
		free(dir);
	}
}

/* Of DIR's parent, as the kernel has worked it out; for the caller to free. */
static char *read_around(const char *dir, const char *v1, const char *v2)
{
	const char *files[] = { v1, v2 };
	char *text = NULL;

	for (unsigned i = 0; i < 2 && !text; i++) {
		char *path = xasprintf("%s/../%s", dir, files[i]);

		if (io_read_file(AT_FDCWD, path, FILE_MOST, &text) < 0)
			text = NULL;
		free(path);
	}
	return text;
}

static bool has(const char *dir, const char *file)
{
	char *path = xasprintf("%s/%s", dir, file);
	bool is = !access(path, F_OK);

	free(path);
	return is;
}

/* v1's cpuset takes nobody in before it has processors and memory. */
static void begin_cpuset(const char *dir)
{
	char *cpus, *mems;

	if (!has(dir, "cpuset.mems") || !has(dir, "tasks"))
		return;
	cpus = read_around(dir, "cpuset.effective_cpus", "cpuset.cpus");
	mems = read_around(dir, "cpuset.effective_mems", "cpuset.mems");
	if (mems)
		(void)!cgroup_write(dir, "cpuset.mems", mems);
	if (cpus)
		(void)!cgroup_write(dir, "cpuset.cpus", cpus);
	free(cpus);
	free(mems);
}

static void make_group(const char *dir)
{
	char *own = xasprintf("%s/..", dir);

	if (mkdir(dir, 0755) == 0 && has(dir, "tasks"))
		begin_cpuset(dir);
	if (has(dir, "cgroup.subtree_control"))
		cgroup_pass_on_all(own);
	free(own);
}

void bounds_make(const char *name)
{
	for_each_group(name, make_group);
}

unsigned bounds_list(const char *name, char *ret[BOUNDS_MOST])
{
	bool v2 = is_v2();
	unsigned n = 0;

	for (unsigned i = 0; i < NR_HIERARCHIES; i++) {
		char *dir = v2 == !*hierarchies[i]
				    ? group_in(hierarchies[i], name)
				    : NULL;

		if (dir && !access(dir, F_OK))
			ret[n++] = dir;
		else
			free(dir);
	}
	return n;
}

static void remove_group(const char *dir)
{
	rmdir(dir); /* not while there is somebody in it */
}

void bounds_remove(const char *name)
{
	for_each_group(name, remove_group);
}

void bounds_claim(const char *name, bool low)
{
	char *dir = is_v2() ? group_in("", name) : NULL;

	if (dir)
		cgroup_claim(&dir, 1, 100, low);
	free(dir);
}

/* ---- processors ---- */

/* "0-3,8\n" */
static bool parse_cpus(const char *at, cpu_set_t *ret)
{
	CPU_ZERO(ret);
	while (*at && *at != '\n') {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (end != at && *end == '-') {
			at = end + 1;
			last = strtoul(at, &end, 10);
		}
		if (end == at || last < first || last >= CPU_SETSIZE)
			return false;
		for (; first <= last; first++)
			CPU_SET(first, ret);
		at = end + (*end == ',');
	}
	return CPU_COUNT(ret) > 0;
}

static char *cpus_text(const cpu_set_t *cpus)
{
	char *text = NULL;
	size_t size;
	FILE *f = xmemstream(&text, &size);

	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, cpus))
			fprintf(f, "%s%d", ftell(f) ? "," : "", i);
	if (fclose(f))
		abort(); /* out of memory */
	return text;
}

/* The owner's are the first: interrupts go there as a rule. */
static void spare_first(cpu_set_t *cpus, uint32_t spared)
{
	for (int i = 0; i < CPU_SETSIZE && spared && CPU_COUNT(cpus) > 1; i++)
		if (CPU_ISSET(i, cpus)) {
			CPU_CLR(i, cpus);
			spared--;
		}
}

int bounds_set_cpus(const char *dir, uint32_t spared)
{
	char *text;
	cpu_set_t cpus;
	int r;

	if (!has(dir, "cpuset.cpus"))
		return -ENOENT;
	text = read_around(dir, "cpuset.effective_cpus",
			   "cpuset.cpus.effective");
	if (!text || !parse_cpus(text, &cpus)) {
		free(text);
		return -ENOENT;
	}
	free(text);
	spare_first(&cpus, spared);
	text = cpus_text(&cpus);
	r = cgroup_write(dir, "cpuset.cpus", text);
	free(text);
	return r;
}

/* ---- memory ---- */

static int put_size(const char *dir, const char *file, uint64_t bytes,
		    const char *any)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	return cgroup_write(dir, file, bytes ? text : any);
}

/* What is no page cache. */
static uint64_t held_v1(const char *dir)
{
	return cgroup_number(dir, "memory.stat", "total_rss") +
	       cgroup_number(dir, "memory.stat", "total_shmem");
}

/*
 * v1 refuses what cannot be freed, but may try for minutes, as guests read
 * again what it has dropped.  v2 would kill for it: guests are made to give it
 * back first (memory.high), and the limit follows.
 */
int bounds_set_memory(const char *dir, uint64_t bytes)
{
	int r;

	if (has(dir, "memory.limit_in_bytes"))
		return bytes && held_v1(dir) + MEMORY_ROOM > bytes
			       ? -EBUSY
			       : put_size(dir, "memory.limit_in_bytes", bytes,
					  "-1");
	r = put_size(dir, "memory.high", bytes, "max");
	if (!r && bytes && cgroup_number(dir, "memory.current", "") > bytes)
		return -EBUSY;
	return r ? r : put_size(dir, "memory.max", bytes, "max");
}

/* ---- disks ---- */

/* Both directions of one, "8:0". */
static int set_one_disk(const char *dir, const char *dev, uint64_t rate)
{
	static const char *const files[] = {
		"blkio.throttle.read_bps_device",
		"blkio.throttle.write_bps_device"
	};
	char text[120];
	int r = 0;

	if (has(dir, "io.max")) {
		if (rate)
			snprintf(text, sizeof(text),
				 "%.30s rbps=%" PRIu64 " wbps=%" PRIu64, dev,
				 rate, rate);
		else
			snprintf(text, sizeof(text), "%.30s rbps=max wbps=max",
				 dev);
		return cgroup_write(dir, "io.max", text);
	}
	snprintf(text, sizeof(text), "%.30s %" PRIu64, dev, rate);
	for (unsigned i = 0; i < 2 && !r; i++)
		r = cgroup_write(dir, files[i], text);
	return r;
}

/* A disk of the machine's own, not one made of a file, of memory or of others. */
static char *disk_number(const char *sys, const char *name)
{
	char *path = xasprintf("%s/%s/device", sys, name), *line = NULL;

	if (!access(path, F_OK)) {
		free(path);
		path = xasprintf("%s/%s/dev", sys, name);
		line = io_read_line(path);
		line[strcspn(line, "\n")] = '\0';
	}
	free(path);
	return line;
}

int bounds_set_disk(const char *dir, const char *sys, uint64_t rate)
{
	const struct dirent *e;
	DIR *d;
	int r = 0;

	if (!has(dir, "io.max") && !has(dir, "blkio.throttle.read_bps_device"))
		return -ENOENT;
	d = opendir(sys);
	while (d && (e = readdir(d))) {
		char *dev =
			*e->d_name == '.' ? NULL : disk_number(sys, e->d_name);
		int k = dev && *dev ? set_one_disk(dir, dev, rate) : 0;

		r = r ? r : k;
		free(dev);
	}
	if (d)
		closedir(d);
	return r;
}

/* ---- all of them ---- */

/* A term that asks for nothing need not be kept by anything. */
static int judge(int r, bool asked, const char *what, struct error *err)
{
	if (!r || (!asked && (r == -ENOENT || r == -EACCES)))
		return 0;
	if (r == -ENOENT)
		return error_set(err, -EOPNOTSUPP,
				 "%s cannot be kept here: the agent has no "
				 "control group with that controller",
				 what);
	if (r == -EBUSY)
		return error_set(err, r, "%s: guests have more at the moment",
				 what);
	return error_sys(err, r, "%s cannot be kept here", what);
}

int bounds_set(const char *name, const struct bounds *b, struct error *err)
{
	bool v2 = is_v2();
	char *dir[3];
	int r[3];

	for (unsigned i = 0; i < 3; i++) {
		dir[i] = group_in(v2 ? "" : hierarchies[i], name);
		r[i] = -ENOENT;
	}
	if (dir[0])
		r[0] = bounds_set_memory(dir[0], b->memory);
	if (dir[1])
		r[1] = bounds_set_cpus(dir[1], b->spared);
	if (dir[2])
		r[2] = bounds_set_disk(dir[2], "/sys/block", b->disk);
	for (unsigned i = 0; i < 3; i++)
		free(dir[i]);
	r[0] = judge(r[0], b->memory, "memory", err);
	r[1] = judge(r[1], b->spared, "cores", r[0] ? NULL : err);
	r[2] = judge(r[2], b->disk, "disk", r[0] || r[1] ? NULL : err);
	return r[0] ? r[0] : r[1] ? r[1] : r[2];
}
