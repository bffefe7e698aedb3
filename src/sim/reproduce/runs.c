/* runs.c - many independent runs on all workers, see runs.h */
#include "sim/reproduce/runs.h"

#include <stdlib.h>

#include "core/xalloc.h"

double *runs_at(const struct runs *runs, size_t cell, unsigned value)
{
	return runs->value + (cell * runs->nr_values + value) * runs->n;
}

static void take_values(const struct crew_result *one, void *arg)
{
	const struct runs *runs = arg;

	for (unsigned v = 0; v < runs->nr_values; v++)
		runs_at(runs, one->cell, v)[one->replication] = one->value[v];
}

int runs_do(const struct reproduce *r, struct runs *runs, struct error *err)
{
	struct crew *crew;
	int rc = crew_create(r->workers, runs->work, runs->arg, &crew, err);

	if (rc < 0)
		return rc;
	runs->value =
		xcalloc((size_t)runs->nr_cells * runs->n * runs->nr_values,
			sizeof(*runs->value));
	rc = crew_run_all(crew, 0, runs->nr_cells, runs->n, take_values, runs,
			  err);
	crew_destroy(crew);
	if (rc < 0)
		runs_clear(runs);
	return rc;
}

void runs_clear(struct runs *runs)
{
	free(runs->value);
	runs->value = NULL;
}

struct estimate runs_mean_of(const struct reproduce *r, const double *x,
			     uint32_t n)
{
	struct stats s = { 0 };

	for (uint32_t i = 0; i < n; i++)
		stats_add(&s, x[i]);
	return stats_estimate(&s, r->level);
}

struct estimate runs_mean(const struct reproduce *r, const struct runs *runs,
			  size_t cell, unsigned value)
{
	return runs_mean_of(r, runs_at(runs, cell, value), runs->n);
}
