/* quota.c - how much of the processors a group leaves to those in it; see cgroup.h */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/capsule/cgroup.h"
#include "core/io.h"
#include "core/xalloc.h"

static char *line_of(const char *dir, const char *file)
{
	char *path = xasprintf("%s/%s", dir, file), *line = io_read_line(path);

	free(path);
	return line;
}

/* v1 says -1 where there is no limit, v2 "max". */
static double quota_of(const char *dir)
{
	char *max = line_of(dir, "cpu.max");
	char *quota = line_of(dir, "cpu.cfs_quota_us");
	char *period = line_of(dir, "cpu.cfs_period_us");
	double had = 0, of = 0;

	if (sscanf(max, "%lf %lf", &had, &of) != 2) {
		had = strtod(quota, NULL);
		of = strtod(period, NULL);
	}
	free(max);
	free(quota);
	free(period);
	return had > 0 && of > 0 ? had / of : 0;
}

double cgroup_cpus(const char *dir)
{
	char *at = xstrdup(dir), *slash;
	double least = 0;

	while ((slash = strrchr(at, '/'))) {
		double cpus = quota_of(at);

		if (cpus > 0 && (!least || cpus < least))
			least = cpus;
		*slash = 0;
	}
	free(at);
	return least;
}
