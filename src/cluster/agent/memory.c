/* memory.c - how much memory this host has, see memory.h */
#include "cluster/agent/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/capsule/cgroup.h"
#include "core/io.h"
#include "core/xalloc.h"

/* What the files of a group are called; v1's counts are of all below it, too. */
struct names {
	const char *limit, *usage, *idle_files, *faults;
	const char *refaults[2];
};

static const struct names v1 = { "memory.limit_in_bytes",
				 "memory.usage_in_bytes",
				 "total_inactive_file",
				 "total_pgmajfault",
				 { "total_workingset_refault_anon",
				   "total_workingset_refault_file" } };
static const struct names v2 = { "memory.max",
				 "memory.current",
				 "inactive_file",
				 "pgmajfault",
				 { "workingset_refault_anon",
				   "workingset_refault_file" } };

/* Since it was made. */
struct counts {
	uint64_t faults, refaults;
};

struct host_memory {
	char *group;	    /* NULL: the machine's */
	struct counts last; /* at last_at */
	usec_t last_at;	    /* 0: never */
	double faults, refaults;
};

/* ---- files ---- */

/* The whole of a file of dir, "" if it cannot be read; for the caller to free. */
static char *read_all(const char *dir, const char *file)
{
	char *path = xasprintf("%s/%s", dir, file), *text;

	if (io_read_file(AT_FDCWD, path, 1 << 16, &text) < 0)
		text = xstrdup("");
	free(path);
	return text;
}

static uint64_t meminfo(const char *text, const char *word)
{
	return cgroup_number_in(text, word) << 10;
}

/* UINT64_MAX: none ("max"), or no such file. */
static uint64_t limit_of(const char *dir, const char *file)
{
	char *path = xasprintf("%s/%s", dir, file), *line = io_read_line(path);
	uint64_t n;
	char *end;

	free(path);
	errno = 0;
	n = strtoull(line, &end, 10);
	if (end == line || errno)
		n = UINT64_MAX;
	free(line);
	return n;
}

static const struct names *names_of(const char *group)
{
	char *path = xasprintf("%s/%s", group, v1.usage);
	bool is_v1 = !access(path, F_OK);

	free(path);
	return is_v1 ? &v1 : &v2;
}

/* ---- which group ---- */

/* The group at or around dir (which is changed) with the least limit below `most`;
 * for the caller to free, or NULL. */
static char *tightest(char *dir, uint64_t most)
{
	char *found = NULL, *slash;

	for (; (slash = strrchr(dir, '/')) && slash > dir; *slash = '\0') {
		uint64_t n = limit_of(dir, names_of(dir)->limit);

		if (n < most) {
			most = n;
			free(found);
			found = xstrdup(dir);
		}
	}
	return found;
}

struct host_memory *host_memory_create(const char *group)
{
	struct host_memory *m = xcalloc(1, sizeof(*m));
	char *dir = group ? xstrdup(group) : NULL;

	if (dir)
		m->group = tightest(
			dir, cgroup_number("/proc", "meminfo", "MemTotal:")
				     << 10);
	free(dir);
	return m;
}

struct host_memory *host_memory_own(void)
{
	char *group = cgroup_own("memory");
	struct host_memory *m;

	if (!group)
		group = cgroup_own("");
	m = host_memory_create(group);
	free(group);
	return m;
}

void host_memory_destroy(struct host_memory *m)
{
	if (m)
		free(m->group);
	free(m);
}

/* ---- what it has ---- */

static double rate(uint64_t before, uint64_t now, usec_t span)
{
	return now > before ? (double)(now - before) / usec_to_seconds(span)
			    : 0;
}

static void count(struct host_memory *m, const struct counts *c, usec_t now)
{
	usec_t span = now - m->last_at;

	if (m->last_at && span < USEC_PER_SEC / 2)
		return;
	if (m->last_at) {
		m->faults = rate(m->last.faults, c->faults, span);
		m->refaults = rate(m->last.refaults, c->refaults, span);
	}
	m->last = *c;
	m->last_at = now;
}

static struct counts counts_in(const char *text, const struct names *n)
{
	return (struct counts){
		.faults = cgroup_number_in(text, n->faults),
		.refaults = cgroup_number_in(text, n->refaults[0]) +
			    cgroup_number_in(text, n->refaults[1]),
	};
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* What the group leaves of the machine's, which is in *ret. */
static struct counts sample_group(const char *group, struct memory_sample *ret)
{
	const struct names *n = names_of(group);
	char *stat = read_all(group, "memory.stat");
	uint64_t used = less(cgroup_number(group, n->usage, ""),
			     cgroup_number_in(stat, n->idle_files));
	struct counts c = counts_in(stat, n);

	free(stat);
	ret->all = limit_of(group, n->limit);
	if (ret->available > less(ret->all, used))
		ret->available = less(ret->all, used);
	return c;
}

static struct counts sample_machine(void)
{
	char *text = read_all("/proc", "vmstat");
	struct counts c = counts_in(text, &v2);

	free(text);
	return c;
}

void host_memory_sample(struct host_memory *m, usec_t now,
			struct memory_sample *ret)
{
	char *text = read_all("/proc", "meminfo");
	struct counts c;

	ret->all = meminfo(text, "MemTotal:");
	ret->available = meminfo(text, "MemAvailable:");
	free(text);
	c = m->group ? sample_group(m->group, ret) : sample_machine();
	count(m, &c, now);
	ret->faults = m->faults;
	ret->refaults = m->refaults;
}
