/* load.c - how busy this host is, and how fast, see load.h */
#include "cluster/agent/load.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cluster/agent/guests.h"
#include "cluster/agent/memory.h"
#include "cluster/agent/tree.h"
#include "cluster/capsule/cgroup.h"
#include "cluster/host/process.h"
#include "core/clock.h"
#include "core/io.h"
#include "core/procstat.h"
#include "core/xalloc.h"
#include "model/average.h"

#define GROUP_MAX (1 << 24) /* bytes of a list of threads */

struct host_load {
	char *run_dir;
	char *group; /* a testbed's host: its threads; NULL: all there are */
	struct average load;
	struct host_memory *memory;
	struct large large;
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

struct host_load *host_load_create(const char *run_dir, usec_t over)
{
	struct host_load *l = xcalloc(1, sizeof(*l));

	l->run_dir = xstrdup(run_dir);
	l->load.over = over;
	l->group = testbed_group();
	l->memory = host_memory_own();
	return l;
}

void host_load_destroy(struct host_load *l)
{
	if (!l)
		return;
	free(l->run_dir);
	free(l->group);
	host_memory_destroy(l->memory);
	large_clear(&l->large);
	free(l);
}

/* ---- what runs ---- */

/* Is this thread, of any process, running? */
static bool runs(long tid)
{
	struct procstat s;

	return !procstat_read((pid_t)tid, &s) && s.state == 'R' &&
	       !procstat_exiting(&s);
}

static void count_thread(pid_t pid, pid_t tid, void *arg)
{
	unsigned *n = arg;

	*n += runs(tid);
}

struct guests_running {
	bool outside; /* of their capsules alone: keepers and engines */
	unsigned nr;
	struct large *large;
};

static void count_inside(struct guests_running *g,
			 const struct capsule_record *rec)
{
	struct large_guest *large = large_guest(g->large, rec);
	usec_t from = clock_usec(CLOCK_MONOTONIC);
	unsigned n = 0;

	if (large && !large_may(g->large, large)) {
		g->nr += (unsigned)large->value;
		return;
	}
	proctree_walk(rec->init.pid, 0, count_thread, &n);
	g->nr += n;
	if (!large)
		return;
	large->value = (int)n;
	large_looked(g->large, large, from);
}

static void count_guest(const char *name, const struct capsule_record *rec,
			void *arg)
{
	struct guests_running *g = arg;

	if (rec->keeper.pid && process_alive(&rec->keeper))
		proctree_walk(rec->keeper.pid, rec->init.pid, count_thread,
			      &g->nr);
	if (!g->outside && rec->init.pid && process_alive(&rec->init))
		count_inside(g, rec);
}

unsigned host_guests_running(const char *run_dir, bool outside,
			     struct large *large)
{
	struct guests_running g = { .outside = outside, .large = large };

	large_begin(large);
	guests_each(run_dir, NULL, count_guest, &g);
	large_end(large);
	return g.nr;
}

unsigned host_running(const char *loadavg)
{
	unsigned n;

	return sscanf(loadavg, "%*f %*f %*f %u/", &n) == 1 ? n : 0;
}

/* Of this very group. */
static unsigned count_in(const char *group)
{
	char *path = xasprintf("%s/tasks", group), *text, *at, *end;
	unsigned n = 0;
	long tid;

	if (access(path, F_OK) < 0) {
		free(path);
		path = xasprintf("%s/cgroup.threads", group);
	}
	if (io_read_file(AT_FDCWD, path, GROUP_MAX, &text) >= 0) {
		for (at = text; (tid = strtol(at, &end, 10)) > 0; at = end)
			n += tid != getpid() && runs((pid_t)tid);
		free(text);
	}
	free(path);
	return n;
}

/* Of a host's control group, on v2 of its leaf; others below it are capsules'. */
static unsigned count_group(const char *group)
{
	char *leaf = cgroup_leaf(group);
	unsigned n = count_in(group) + count_in(leaf);

	free(leaf);
	return n;
}

/* All that there are, but for us. */
static unsigned count_all(void)
{
	char *line = io_read_line("/proc/loadavg");
	unsigned n = host_running(line);

	free(line);
	return n ? n - 1 : 0;
}

static unsigned count_runnable(struct host_load *l)
{
	unsigned n = l->group ? count_group(l->group) : count_all();
	unsigned guests =
		n ? host_guests_running(l->run_dir, l->group, &l->large) : 0;

	return n > guests ? n - guests : 0;
}

/*
 * Of the testbed's host, where its control group tells it (v2), else of this
 * machine.
 */
static double pressure_of(const struct host_load *l, const char *what)
{
	char *path =
		l->group ? xasprintf("%s/%s.pressure", l->group, what) : NULL;
	char *text, *at;
	double v = 0;

	if (!path || access(path, F_OK) < 0) {
		free(path);
		path = xasprintf("/proc/pressure/%s", what);
	}
	if (io_read_file(AT_FDCWD, path, 4096, &text) >= 0) {
		at = strstr(text, "avg10=");
		v = at ? strtod(at + 6, NULL) : 0;
		free(text);
	}
	free(path);
	return v;
}

void host_load_sample(struct host_load *l, struct host_sample *ret)
{
	usec_t now = clock_usec(CLOCK_MONOTONIC);
	struct memory_sample memory;

	host_memory_sample(l->memory, now, &memory);
	ret->runnable = count_runnable(l);
	ret->load = average_feed(&l->load, ret->runnable, now);
	ret->memory = memory.all;
	ret->memory_free = memory.available;
	ret->pressure_cpu = pressure_of(l, "cpu");
	ret->pressure_memory = pressure_of(l, "memory");
	ret->pressure_io = pressure_of(l, "io");
	ret->faults = memory.faults;
	ret->refaults = memory.refaults;
}

double host_load_now(const struct host_load *l)
{
	return l->load.value;
}

uint32_t host_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0 || !CPU_COUNT(&set))
		return 1;
	return CPU_COUNT(&set);
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
