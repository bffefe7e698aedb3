/* load.c - how busy this host is, and how fast, see load.h */
#include "cluster/agent/load.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cluster/capsule/cgroup.h"
#include "cluster/capsule/record.h"
#include "cluster/host/process.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/xalloc.h"

#define AVERAGE_OVER (10 * USEC_PER_SEC)

struct host_load {
	char *run_dir;
	char *group; /* a testbed's host: its threads; NULL: all there are */
	double load;
	usec_t last; /* 0: never sampled */
};

/* A testbed's host is one among several on this machine. */
static char *testbed_group(void)
{
	char *dir = cgroup_own("cpu");

	if (!dir)
		dir = cgroup_own("");
	if (dir && strstr(dir, "/stint-testbed."))
		return dir;
	free(dir);
	return NULL;
}

struct host_load *host_load_create(const char *run_dir)
{
	struct host_load *l = xcalloc(1, sizeof(*l));

	l->run_dir = xstrdup(run_dir);
	l->group = testbed_group();
	return l;
}

void host_load_destroy(struct host_load *l)
{
	if (!l)
		return;
	free(l->run_dir);
	free(l->group);
	free(l);
}

/* ---- what runs ---- */

/* Is this thread, of any process, running? */
static bool runs(long tid)
{
	char name[64], *text, state = 0;
	uint64_t start;

	snprintf(name, sizeof(name), "/proc/%ld/stat", tid);
	if (io_read_file(AT_FDCWD, name, 4096, &text) < 0)
		return false;
	(void)!process_parse_stat(text, &state, &start);
	free(text);
	return state == 'R';
}

/* For each number in a file, the sum of what fn says of it. */
static unsigned sum_of(const char *path, unsigned (*fn)(long number))
{
	char *text, *at, *end;
	unsigned n = 0;
	long number;

	if (io_read_file(AT_FDCWD, path, 1 << 24, &text) < 0)
		return 0;
	for (at = text; (number = strtol(at, &end, 10)) > 0 && end > at;
	     at = end)
		n += fn(number);
	free(text);
	return n;
}

static unsigned count_thread(long tid)
{
	return tid != getpid() && runs(tid);
}

/* A process in a capsule and all below it: its threads, and their children. */
static unsigned count_tree(long pid)
{
	char path[320];
	const struct dirent *e;
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%ld/task", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		if (!isdigit((unsigned char)*e->d_name))
			continue;
		n += runs(strtol(e->d_name, NULL, 10));
		snprintf(path, sizeof(path), "/proc/%ld/task/%s/children", pid,
			 e->d_name);
		n += sum_of(path, count_tree);
	}
	if (dir)
		closedir(dir);
	return n;
}

unsigned host_guests_running(const char *run_dir)
{
	char *path = xasprintf("%s/capsules", run_dir), *capsule;
	struct capsule_record rec;
	const struct dirent *e;
	DIR *dir = opendir(path);
	unsigned n = 0;

	while (dir && (e = readdir(dir))) {
		capsule = xasprintf("%s/%s", path, e->d_name);
		if (*e->d_name != '.' && !record_read(capsule, &rec)) {
			if (process_alive(&rec.init))
				n += count_tree(rec.init.pid);
			record_clear(&rec);
		}
		free(capsule);
	}
	if (dir)
		closedir(dir);
	free(path);
	return n;
}

unsigned host_running(const char *loadavg)
{
	unsigned n;

	return sscanf(loadavg, "%*f %*f %*f %u/", &n) == 1 ? n : 0;
}

/* The groups below this one are guests'. */
static unsigned count_group(const char *group)
{
	char *path = xasprintf("%s/tasks", group);
	unsigned n;

	if (access(path, F_OK) < 0) {
		free(path);
		path = xasprintf("%s/cgroup.threads", group);
	}
	n = sum_of(path, count_thread);
	free(path);
	return n;
}

static unsigned count_runnable(const struct host_load *l)
{
	unsigned n, guests;
	char *line;

	if (l->group)
		return count_group(l->group);
	line = io_read_line("/proc/loadavg");
	n = host_running(line);
	free(line);
	if (n < 2)
		return 0; /* we are */
	n--;
	guests = host_guests_running(l->run_dir);
	return n > guests ? n - guests : 0;
}

static uint64_t meminfo(const char *key)
{
	char *text, *at;
	uint64_t kib = 0;

	if (io_read_file(AT_FDCWD, "/proc/meminfo", 1 << 16, &text) < 0)
		return 0;
	at = strstr(text, key);
	if (at)
		kib = strtoull(at + strlen(key), NULL, 10);
	free(text);
	return kib << 10;
}

static double memory_pressure(void)
{
	char *text, *at;
	double v = 0;

	if (io_read_file(AT_FDCWD, "/proc/pressure/memory", 4096, &text) < 0)
		return 0;
	at = strstr(text, "avg10=");
	if (at)
		v = strtod(at + 6, NULL);
	free(text);
	return v;
}

void host_load_sample(struct host_load *l, struct host_sample *ret)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC);
	double keep;

	ret->runnable = count_runnable(l);
	keep = l->last ? exp(-(double)(now - l->last) / AVERAGE_OVER) : 0;
	l->load = keep * l->load + (1 - keep) * ret->runnable;
	l->last = now;
	ret->load = l->load;
	ret->memory_free = meminfo("MemAvailable:");
	ret->pressure = memory_pressure();
}

double host_load_now(const struct host_load *l)
{
	return l->load;
}

uint32_t host_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0 || !CPU_COUNT(&set))
		return 1;
	return CPU_COUNT(&set);
}

uint64_t host_memory(void)
{
	return meminfo("MemTotal:");
}

double host_score(void)
{
	static double cells[4096];
	usec_t begin = clock_usec(CLOCK_THREAD_CPUTIME_ID), spent;
	uint64_t steps = 0, x = 88172645463325252u;
	double sum = 0;

	for (size_t i = 0; i < 4096; i++)
		cells[i] = i;
	do {
		for (int i = 0; i < 20000; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			cells[x & 4095] = cells[x >> 20 & 4095] * 0.5 + 1;
			sum += cells[x >> 40 & 4095];
		}
		steps += 20000;
		spent = clock_usec(CLOCK_THREAD_CPUTIME_ID) - begin;
	} while (spent < USEC_PER_SEC / 5);
	/* sum is used, so that none of the work can be left out. */
	return sum >= 0 ? (double)steps / spent : 0;
}
