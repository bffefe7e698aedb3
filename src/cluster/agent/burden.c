/* burden.c - see burden.h */
#include "cluster/agent/burden.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "cluster/capsule/cgroup.h"
#include "core/io.h"
#include "core/xalloc.h"

#define SCORE_MOST 1000

/* What the files of a group are called; v1's counts are of all below it, too. */
static const struct names {
	const char *usage, *anonymous, *files, *shared;
} versions[] = {
	{ "memory.usage_in_bytes", "total_rss", "total_cache", "total_shmem" },
	{ "memory.current", "anon", "file", "shmem" },
};

/* The kernel counts files that only memory has among those that it can drop. */
static uint64_t burden_in(const char *group, uint64_t usage,
			  const struct names *n)
{
	char *path = xasprintf("%s/memory.stat", group), *stat;
	uint64_t others = usage;

	if (io_read_file(AT_FDCWD, path, 1 << 16, &stat) >= 0) {
		others = cgroup_number_in(stat, n->anonymous) +
			 cgroup_number_in(stat, n->files) -
			 cgroup_number_in(stat, n->shared);
		free(stat);
	}
	free(path);
	return usage > others ? usage - others : 0;
}

uint64_t burden_of(char *const *groups, unsigned n, uint64_t least)
{
	for (unsigned i = 0; i < n; i++)
		for (int v = 0; v < 2; v++) {
			uint64_t usage =
				cgroup_number(groups[i], versions[v].usage, "");

			if (usage && usage < least)
				return 0;
			if (usage)
				return burden_in(groups[i], usage,
						 &versions[v]);
		}
	return 0;
}

int burden_score(uint64_t bytes, uint64_t all)
{
	double share = all ? (double)bytes / (double)all : 0;

	return share < 1 ? (int)(share * SCORE_MOST) : SCORE_MOST;
}

void burden_put(pid_t pid, int score)
{
	char path[64], text[16];

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	snprintf(text, sizeof(text), "%d", score);
	(void)!io_write_file(AT_FDCWD, path, text);
}
