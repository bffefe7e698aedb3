/*
 * pool.c - master-worker jobs: cycles of independent work steps
 *
 * The pool-of-tasks model (Schnor 1997 §1.3.1, §1.6.4).  A job's run time on m
 * processors (all of them workers) is what its cycles take when the steps are
 * handed out as wodi.h says: the first cycle knows nothing, each later one
 * what the steps took in the one before.  A step's length varies from cycle to
 * cycle around its own mean, so the history is a guess, not the truth.
 */
#include <math.h>
#include <stdlib.h>

#include "core/random.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "model/job.h"
#include "sim/workload/wodi.h"
#include "sim/workload/workload.h"

/* Tables are kept until the end, since jobs point to them. */
struct kept {
	struct kept *next;
	struct speedup_table table;
};

struct pool {
	struct workload base;
	struct random_stream arrivals, sizes, lengths, variations;
	enum wodi_order order;
	uint32_t steps, cycles, max_size;
	double mean, vary; /* seconds; share */
	double gap, clock;
	uint64_t left;
	int64_t id;
	struct kept *kept;
};

static const char *const orders[] = { "longest", "given", NULL };

static const struct param params[] = {
	{ "procs", PARAM_INT, 64, 1, 1e6, NULL,
	  "processors, where --procs is not given" },
	{ "max-size", PARAM_INT, 32, 1, 4096, NULL,
	  "most workers of a job; sizes are uniform" },
	{ "steps", PARAM_INT, 64, 1, 100000, NULL, "work steps in a cycle" },
	{ "cycles", PARAM_INT, 10, 1, 10000, NULL, "cycles of a job" },
	{ "mean", PARAM_TIME, 10, 1e-3, 1e6, NULL,
	  "mean length of a step; steps are exponential" },
	{ "vary", PARAM_REAL, 0.2, 0, 1, NULL,
	  "a step's length varies from cycle to cycle by up to this share" },
	{ "order", PARAM_CHOICE, 0, 0, 0, orders,
	  "hand out the step that took longest last time first (WoDi), or as "
	  "the master made them" },
	{ .name = NULL },
};

static int pool_create(const struct workload_setup *setup,
		       struct workload **ret, struct error *err)
{
	const struct params *p = setup->params;
	struct pool *w = xcalloc(1, sizeof(*w));
	double load = setup->load > 0 ? setup->load : 0.7;

	(void)err;
	w->base.procs =
		setup->procs ? setup->procs : (uint32_t)params_int(p, "procs");
	w->max_size = (uint32_t)params_int(p, "max-size");
	if (w->max_size > w->base.procs)
		w->max_size = w->base.procs;
	w->steps = (uint32_t)params_int(p, "steps");
	w->cycles = (uint32_t)params_int(p, "cycles");
	w->mean = params_real(p, "mean");
	w->vary = params_real(p, "vary");
	w->order =
		params_choice(p, "order") ? WODI_AS_GIVEN : WODI_LONGEST_FIRST;
	w->gap = w->steps * w->cycles * w->mean / w->base.procs / load;
	w->left = setup->nr_jobs ? setup->nr_jobs : 1000;
	w->base.nr_jobs = w->left;
	random_init(&w->arrivals, setup->seed, "arrivals", setup->replication);
	random_init(&w->sizes, setup->seed, "sizes", setup->replication);
	random_init(&w->lengths, setup->seed, "lengths", setup->replication);
	random_init(&w->variations, setup->seed, "variations",
		    setup->replication);
	*ret = &w->base;
	return 0;
}

/* Lengths of all steps of all cycles, cycle by cycle. */
static usec_t *draw_steps(struct pool *w)
{
	usec_t *length = xcalloc((size_t)w->steps * w->cycles, sizeof(*length));

	for (uint32_t i = 0; i < w->steps; i++) {
		double mean =
			random_exponential(&w->lengths, w->mean) * USEC_PER_SEC;

		for (uint32_t c = 0; c < w->cycles; c++)
			length[(size_t)c * w->steps + i] =
				1 +
				llround(mean * random_uniform(&w->variations,
							      1 - w->vary,
							      1 + w->vary));
	}
	return length;
}

/* All cycles on m workers. */
static usec_t runtime(const struct pool *w, const usec_t *length, uint32_t m)
{
	uint32_t *order = xcalloc(w->steps, sizeof(*order));
	usec_t *before = xcalloc(w->steps, sizeof(*before));
	usec_t sum = 0;

	for (uint32_t c = 0; c < w->cycles; c++) {
		const usec_t *now = length + (size_t)c * w->steps;

		wodi_order(w->order, c ? now - w->steps : before, w->steps,
			   order);
		sum += wodi_cycle(now, order, w->steps, NULL, m, NULL);
	}
	free(before);
	free(order);
	return sum;
}

/* Efficiency on 1, 2, 4, ... and size workers. */
static const struct speedup_table *make_table(struct pool *w,
					      const usec_t *length,
					      uint32_t size, usec_t run)
{
	usec_t alone = runtime(w, length, 1);
	struct kept *k =
		xcalloc(1, sizeof(*k) + 16 * sizeof(k->table.point[0]));

	for (uint32_t m = 1; m < size; m *= 2)
		k->table.point[k->table.nr_points++] = (struct speedup_point){
			m, (double)alone / m / (double)runtime(w, length, m)
		};
	k->table.point[k->table.nr_points++] =
		(struct speedup_point){ size,
					(double)alone / size / (double)run };
	k->next = w->kept;
	w->kept = k;
	return &k->table;
}

static int pool_next(struct workload *workload, struct workload_job *ret,
		     struct error *err)
{
	struct pool *w = (struct pool *)workload;
	usec_t *length;

	(void)err;
	if (!w->left)
		return 0;
	w->left--;
	w->clock += random_exponential(&w->arrivals, w->gap);
	*ret = (struct workload_job){
		.id = ++w->id,
		.submit = llround(w->clock * USEC_PER_SEC),
		.kind = JOB_MALLEABLE,
		.min_size = 1,
		.user = -1,
		.group = -1,
		.app = -1,
		.queue = -1,
		.partition = -1,
	};
	ret->size = 1 + (uint32_t)random_below(&w->sizes, w->max_size);
	length = draw_steps(w);
	ret->run = ret->estimate = runtime(w, length, ret->size);
	ret->speedup.kind = SPEEDUP_TABLE;
	ret->speedup.table = make_table(w, length, ret->size, ret->run);
	free(length);
	return 1;
}

static void pool_destroy(struct workload *workload)
{
	struct pool *w = (struct pool *)workload;

	while (w->kept) {
		struct kept *k = w->kept;

		w->kept = k->next;
		free(k);
	}
	free(w);
}

const struct workload_ops workload_pool = {
	.name = "pool",
	.summary = "master-worker jobs: cycles of independent work steps",
	.source = "Schnor 1997 sections 1.3.1 and 1.6.4 (CARMI/WoDi)",
	.details = "Poisson arrivals of malleable jobs; a run time on m "
		   "processors is what handing out the steps of each cycle to "
		   "m workers gives.",
	.params = params,
	.create = pool_create,
	.next = pool_next,
	.destroy = pool_destroy,
};
