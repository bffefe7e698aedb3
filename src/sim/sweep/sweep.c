/*
 * sweep.c - replicate cells until their means are known, see sweep.h
 *
 * The runs of a cell are looked at in the order of their numbers, however they
 * come in: `seen` is how many there are from 0 on without a gap, and enough[n]
 * says whether the first n of them would do.
 *
 * Ranks of one sweep (sweep->ranks > 1) are processes that do not talk.  Each
 * begins with its own share of the runs, appends them to a file of its own,
 * and reads what the others append to theirs.  Where another's share is
 * missing for long, a rank computes it, too: a run is the same whoever does
 * it.  So no rank ever waits for another, and each could finish alone.
 */
#include "sim/sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/xalloc.h"
#include "sim/sweep/crew.h"
#include "sim/sweep/file.h"

_Static_assert((int)NR_METRICS <= (int)CREW_VALUES,
	       "a run's answer has no room");

/* How far a rank may be ahead of the runs that came in, times the number of
 * ranks, before it does the missing ones. */
enum { AHEAD = 2 };

enum run_state {
	RUN_MISSING,
	RUN_GIVEN,    /* to a worker of ours */
	RUN_BORROWED, /* from another rank's file */
	RUN_KEPT,     /* in our own file, or would be */
};

struct progress {
	double (*value)[NR_METRICS];
	uint8_t *state; /* enum run_state by replication, as value */
	bool *enough;	/* of the first n: enough[n] */
	size_t cap;
	uint32_t seen;			/* without a gap */
	struct stats stats[NR_METRICS]; /* of those seen */
};

struct engine {
	const struct sweep *sweep;
	struct progress *cell;
	uint32_t *group_n; /* by group: 0, or the n at which it was done */
	uint32_t nr_groups;
	struct crew *crew;
	struct sweep_file *own, **other; /* other: ranks of them, or NULL */
	bool borrowing;			 /* what is read is another's */
	uint64_t runs;
};

static void grow_runs(struct progress *p, uint32_t n)
{
	size_t cap = p->cap ? p->cap : 16;

	if (n < p->cap)
		return;
	while (cap <= n)
		cap *= 2;
	p->value = xreallocarray(p->value, cap, sizeof(*p->value));
	p->state = xreallocarray(p->state, cap, sizeof(*p->state));
	p->enough = xreallocarray(p->enough, cap, sizeof(*p->enough));
	memset(p->state + p->cap, 0, (cap - p->cap) * sizeof(*p->state));
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
	while (p->seen < p->cap && p->state[p->seen] >= RUN_BORROWED) {
		for (int m = 0; m < NR_METRICS; m++)
			stats_add(&p->stats[m], p->value[p->seen][m]);
		p->seen++;
		grow_runs(p, p->seen);
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

	grow_runs(p, replication);
	if (p->state[replication] == RUN_KEPT)
		return;
	memcpy(p->value[replication], value, sizeof(*p->value));
	p->state[replication] = e->borrowing ? RUN_BORROWED : RUN_KEPT;
	look_at_next(e->sweep, p);
}

/*
 * The first run of a cell that is not known to be done; of our own share or of
 * all.  sweep->max if there is none.
 */
static uint32_t next_run(const struct engine *e, size_t cell, bool own)
{
	const struct sweep *sweep = e->sweep;
	const struct progress *p = &e->cell[cell];
	uint32_t n = p->seen;

	for (; n < sweep->max; n++)
		if ((n >= p->cap || p->state[n] == RUN_MISSING) &&
		    (!own || (cell + n) % sweep->ranks == sweep->rank))
			break;
	return n;
}

/* The run to do next: of the cell with the fewest.  False if none is needed. */
static bool next_task(const struct engine *e, uint32_t *ret_cell,
		      uint32_t *ret_run)
{
	uint32_t least = e->sweep->max;

	for (size_t c = 0; c < e->sweep->nr; c++) {
		uint32_t n;

		if (e->group_n[e->sweep->cell[c].group])
			continue;
		n = next_run(e, c, e->sweep->ranks > 1);
		if (n == e->sweep->max ||
		    n >= e->cell[c].seen + AHEAD * e->sweep->ranks)
			n = next_run(e, c, false);
		if (n < least) {
			least = n;
			*ret_cell = (uint32_t)c;
			*ret_run = n;
		}
	}
	return least < e->sweep->max;
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
		sum += fmax(n, p->seen);
	}
	return (uint64_t)sum;
}

static int hand_out(struct engine *e, struct error *err)
{
	uint32_t c = 0, n = 0;
	int rc;

	while (crew_idle(e->crew) && next_task(e, &c, &n)) {
		rc = crew_give(e->crew, c, n, err);
		if (rc < 0)
			return rc;
		grow_runs(&e->cell[c], n);
		e->cell[c].state[n] = RUN_GIVEN;
	}
	return 0;
}

/* What the other ranks have done meanwhile. */
static int read_others(struct engine *e, struct error *err)
{
	int rc = 0;

	e->borrowing = true;
	for (unsigned i = 0; e->other && i < e->sweep->ranks && !rc; i++)
		if (e->other[i])
			rc = sweep_file_read(e->other[i], take_run, e, err);
	e->borrowing = false;
	for (uint32_t g = 0; e->other && g < e->nr_groups; g++)
		settle_group(e, g);
	return rc;
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
	if (e->own)
		rc = sweep_file_append(e->own, r.cell, r.replication, r.value,
				       err);
	if (rc < 0)
		return rc;
	take_run(e, r.cell, r.replication, r.value);
	settle_group(e, sweep->cell[r.cell].group);
	e->runs++;
	if (sweep->progress)
		sweep->progress(sweep->arg, e->runs, guess_runs(e));
	return read_others(e, err);
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
	while (!rc) {
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
		free(e->cell[c].state);
		free(e->cell[c].enough);
	}
	free(e->cell);
	free(e->group_n);
	sweep_file_close(e->own);
	for (unsigned i = 0; e->other && i < e->sweep->ranks; i++)
		sweep_file_close(e->other[i]);
	free(e->other);
}

/* Rank 0 has the results file itself, the others one beside it. */
static char *rank_path(const struct sweep *sweep, unsigned rank)
{
	return rank ? xasprintf("%s.rank%u", sweep->results, rank)
		    : xstrdup(sweep->results);
}

static int open_files(struct engine *e, struct error *err)
{
	const struct sweep *sweep = e->sweep;
	char *path = rank_path(sweep, sweep->rank);
	int rc = sweep_file_open(sweep, path, &e->own, err);

	free(path);
	if (!rc)
		rc = sweep_file_read(e->own, take_run, e, err);
	if (rc < 0 || sweep->ranks < 2)
		return rc;
	e->other = xcalloc(sweep->ranks, sizeof(*e->other));
	for (unsigned i = 0; i < sweep->ranks; i++) {
		if (i == sweep->rank)
			continue;
		path = rank_path(sweep, i);
		e->other[i] = sweep_file_follow(sweep, path);
		free(path);
	}
	return read_others(e, err);
}

/* Rank 0 takes into the results file what the others did, and ends theirs. */
static int gather_results(struct engine *e, struct error *err)
{
	int rc = 0;

	for (uint32_t c = 0; c < e->sweep->nr; c++)
		for (uint32_t n = 0; n < e->cell[c].cap && !rc; n++)
			if (e->cell[c].state[n] == RUN_BORROWED)
				rc = sweep_file_append(
					e->own, c, n, e->cell[c].value[n], err);
	for (unsigned i = 1; i < e->sweep->ranks && !rc; i++) {
		char *path = rank_path(e->sweep, i);

		unlink(path);
		free(path);
	}
	return rc;
}

int sweep_run(const struct sweep *sweep, struct sweep_result **ret,
	      struct error *err)
{
	struct engine e = { .sweep = sweep };
	int rc = 0;

	e.cell = xcalloc(sweep->nr, sizeof(*e.cell));
	for (size_t c = 0; c < sweep->nr; c++) {
		grow_runs(&e.cell[c], 1);
		if (sweep->cell[c].group >= e.nr_groups)
			e.nr_groups = sweep->cell[c].group + 1;
	}
	e.group_n = xcalloc(e.nr_groups, sizeof(*e.group_n));
	if (sweep->results)
		rc = open_files(&e, err);
	if (!rc)
		rc = run_all(&e, err);
	if (!rc && e.other && sweep->rank == 0)
		rc = gather_results(&e, err);
	if (!rc)
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
