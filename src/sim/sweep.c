/*
 * sweep.c - replicate cells until their means are known, see sweep.h
 *
 * The runs of a cell are looked at in the order of their numbers, however they
 * come in: `seen` is how many there are from 0 on without a gap, and enough[n]
 * says whether the first n of them would do.
 */
#include "sim/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "sim/crew.h"
#include "sim/sweep_file.h"

_Static_assert((int)NR_METRICS <= (int)CREW_VALUES,
	       "a run's answer has no room");

struct progress {
	double (*value)[NR_METRICS];
	bool *have;   /* by replication, as enough */
	bool *enough; /* of the first n: enough[n] */
	size_t cap;
	uint32_t seen;			/* without a gap */
	uint32_t issued;		/* all below are there or under way */
	struct stats stats[NR_METRICS]; /* of those seen */
};

struct engine {
	const struct sweep *sweep;
	struct progress *cell;
	uint32_t *group_n; /* by group: 0, or the n at which it was done */
	uint32_t nr_groups;
	struct crew *crew;
	int fd; /* of the results file, or -1 */
	uint64_t runs;
};

static void make_room(struct progress *p, uint32_t n)
{
	size_t cap = p->cap ? p->cap : 16;

	if (n < p->cap)
		return;
	while (cap <= n)
		cap *= 2;
	p->value = xreallocarray(p->value, cap, sizeof(*p->value));
	p->have = xreallocarray(p->have, cap, sizeof(*p->have));
	p->enough = xreallocarray(p->enough, cap, sizeof(*p->enough));
	memset(p->have + p->cap, 0, (cap - p->cap) * sizeof(*p->have));
	memset(p->enough + p->cap, 0, (cap - p->cap) * sizeof(*p->enough));
	p->cap = cap;
}

/* By how much the worst metric misses its target: at most 1 is good. */
static double miss(const struct sweep *sweep, const struct progress *p)
{
	double worst = 0;

	for (int m = 0; m < NR_METRICS; m++) {
		double h, mean = fabs(p->stats[m].mean);

		if (sweep->target[m] <= 0)
			continue;
		h = stats_half_width(&p->stats[m], sweep->level);
		if (h > 0)
			worst = fmax(worst, h / (mean * sweep->target[m]));
	}
	return worst;
}

/* Take in those that follow without a gap. */
static void look_at_next(const struct sweep *sweep, struct progress *p)
{
	while (p->seen < p->cap && p->have[p->seen]) {
		for (int m = 0; m < NR_METRICS; m++)
			stats_add(&p->stats[m], p->value[p->seen][m]);
		p->seen++;
		make_room(p, p->seen);
		p->enough[p->seen] =
			p->seen >= sweep->min && miss(sweep, p) <= 1;
	}
}

static bool group_is_done_at(const struct engine *e, uint32_t group, uint32_t n)
{
	bool stop = n == e->sweep->max;

	for (size_t c = 0; c < e->sweep->nr; c++) {
		const struct progress *p = &e->cell[c];

		if (e->sweep->cell[c].group != group)
			continue;
		if (p->seen < n || (!stop && !p->enough[n]))
			return false;
	}
	return true;
}

/* Is the group done now that one of its cells has seen more? */
static void settle_group(struct engine *e, uint32_t group)
{
	uint32_t least = UINT32_MAX;

	for (size_t c = 0; c < e->sweep->nr; c++)
		if (e->sweep->cell[c].group == group && e->cell[c].seen < least)
			least = e->cell[c].seen;
	for (uint32_t n = e->sweep->min; !e->group_n[group] && n <= least; n++)
		if (group_is_done_at(e, group, n))
			e->group_n[group] = n;
}

static void take_run(void *arg, uint32_t cell, uint32_t replication,
		     const double *value)
{
	struct engine *e = arg;
	struct progress *p = &e->cell[cell];

	make_room(p, replication);
	memcpy(p->value[replication], value, sizeof(*p->value));
	p->have[replication] = true;
	look_at_next(e->sweep, p);
}

/* The cell to replicate next: the one with the fewest; -1: none needs it. */
static int64_t next_cell(struct engine *e)
{
	int64_t best = -1;

	for (size_t c = 0; c < e->sweep->nr; c++) {
		struct progress *p = &e->cell[c];

		while (p->issued < p->cap && p->have[p->issued])
			p->issued++;
		if (e->group_n[e->sweep->cell[c].group] ||
		    p->issued >= e->sweep->max)
			continue;
		if (best < 0 || p->issued < e->cell[best].issued)
			best = (int64_t)c;
	}
	return best;
}

static uint64_t guess_runs(const struct engine *e)
{
	double sum = 0;

	for (size_t c = 0; c < e->sweep->nr; c++) {
		const struct progress *p = &e->cell[c];
		double n = e->group_n[e->sweep->cell[c].group];
		double far = p->seen > 1 ? miss(e->sweep, p) : 1;

		if (n <= 0) /* the half-width falls with the root of n */
			n = fmin(fmax(p->seen * far * far, e->sweep->min),
				 e->sweep->max);
		sum += fmax(n, p->issued);
	}
	return (uint64_t)sum;
}

static int hand_out(struct engine *e, struct error *err)
{
	int64_t c;
	int rc;

	while (crew_idle(e->crew) && (c = next_cell(e)) >= 0) {
		rc = crew_give(e->crew, (uint32_t)c, e->cell[c].issued++, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int collect(struct engine *e, struct error *err)
{
	const struct sweep *sweep = e->sweep;
	struct crew_result r;
	int rc = crew_take(e->crew, &r, err);

	if (rc < 0)
		return rc;
	if (r.rc < 0)
		return error_set(err, r.rc, "%s", r.error.text);
	if (e->fd >= 0)
		rc = sweep_file_append(e->fd, sweep, r.cell, r.replication,
				       r.value, err);
	if (rc < 0)
		return error_prefix(err, rc, "'%s'", sweep->results);
	take_run(e, r.cell, r.replication, r.value);
	settle_group(e, sweep->cell[r.cell].group);
	e->runs++;
	if (sweep->progress)
		sweep->progress(sweep->arg, e->runs, guess_runs(e));
	return 0;
}

static int work(void *arg, uint32_t cell, uint32_t replication, double *value,
		struct error *err)
{
	return sweep_simulate(arg, cell, replication, value, err);
}

static bool all_done(const struct engine *e)
{
	for (size_t c = 0; c < e->sweep->nr; c++)
		if (!e->group_n[e->sweep->cell[c].group])
			return false;
	return true;
}

static int run_all(struct engine *e, struct error *err)
{
	int rc = 0;

	for (uint32_t g = 0; g < e->nr_groups; g++)
		settle_group(e, g);
	if (all_done(e))
		return 0;
	rc = crew_create(e->sweep->workers, work, (void *)e->sweep, &e->crew,
			 err);
	while (rc == 0) {
		rc = hand_out(e, err);
		if (rc < 0 || all_done(e))
			break;
		/* Not done, so something is under way. */
		rc = collect(e, err);
	}
	crew_destroy(e->crew);
	return rc;
}

/* Give the values over to the caller. */
static struct sweep_result *engine_results(struct engine *e)
{
	struct sweep_result *r = xcalloc(e->sweep->nr, sizeof(*r));

	for (size_t c = 0; c < e->sweep->nr; c++) {
		r[c].n = e->group_n[e->sweep->cell[c].group];
		r[c].met = e->cell[c].enough[r[c].n];
		r[c].value = e->cell[c].value;
		e->cell[c].value = NULL;
	}
	return r;
}

static void engine_clear(struct engine *e)
{
	for (size_t c = 0; c < e->sweep->nr; c++) {
		free(e->cell[c].value);
		free(e->cell[c].have);
		free(e->cell[c].enough);
	}
	free(e->cell);
	free(e->group_n);
	io_close(&e->fd);
}

int sweep_run(const struct sweep *sweep, struct sweep_result **ret,
	      struct error *err)
{
	struct engine e = { .sweep = sweep, .fd = -1 };
	int rc = 0;

	e.cell = xcalloc(sweep->nr, sizeof(*e.cell));
	for (size_t c = 0; c < sweep->nr; c++) {
		make_room(&e.cell[c], 1);
		if (sweep->cell[c].group >= e.nr_groups)
			e.nr_groups = sweep->cell[c].group + 1;
	}
	e.group_n = xcalloc(e.nr_groups, sizeof(*e.group_n));
	if (sweep->results) {
		e.fd = sweep_file_open(sweep, take_run, &e, err);
		rc = e.fd < 0 ? e.fd : 0;
	}
	if (rc == 0)
		rc = run_all(&e, err);
	if (rc == 0)
		*ret = engine_results(&e);
	engine_clear(&e);
	return rc;
}

void sweep_free(struct sweep_result *result, size_t nr)
{
	for (size_t c = 0; result && c < nr; c++)
		free(result[c].value);
	free(result);
}
