/*
 * poisson.c - Poisson arrivals of jobs with simple distributions
 *
 * The plain workload of queueing theory: with size=1 and exponential times it
 * makes M/M/c out of a machine of c processors, which the tests compare with
 * its closed form.
 */
#include <errno.h>
#include <math.h>

#include "core/random.h"
#include "core/xalloc.h"
#include "model/job.h"
#include "sim/workload/workload.h"

enum { DIST_EXPONENTIAL, DIST_UNIFORM, DIST_CONSTANT };

struct poisson {
	struct workload base;
	struct random_stream arrivals, sizes, times;
	uint64_t left;
	int64_t id;
	double mean_gap, clock; /* seconds */
	unsigned dist;
	double time, spread;
	uint32_t min_size, max_size;
	double overestimate, pair_bytes, pair_segments;
};

static const char *const dists[] = { "exponential", "uniform", "constant",
				     NULL };

static const struct param params[] = {
	{ "procs", PARAM_INT, 64, 1, 1e9, NULL,
	  "processors, where --procs is not given" },
	{ "min-size", PARAM_INT, 1, 1, 1e9, NULL, "smallest size" },
	{ "max-size", PARAM_INT, 0, 0, 1e9, NULL,
	  "largest size, sizes are uniform; 0: all processors" },
	{ "time", PARAM_CHOICE, 0, 0, 0, dists, "distribution of run times" },
	{ "mean", PARAM_TIME, 100, 1e-3, 1e9, NULL, "mean run time" },
	{ "spread", PARAM_REAL, 0.9, 0, 1, NULL,
	  "uniform times lie within mean * (1 - spread) and (1 + spread)" },
	{ "overestimate", PARAM_REAL, 1, 1, 1e6, NULL,
	  "estimates are the run time times uniform [1, this]" },
	{ "pair-bytes", PARAM_REAL, 0, 0, 1e12, NULL,
	  "ranks 2i and 2i + 1 send each other so many bytes a second" },
	{ "pair-segments", PARAM_REAL, 0, 0, 1e9, NULL,
	  "and so many segments with data" },
	{ "warmup", PARAM_INT, 0, 0, 1e12, NULL,
	  "jobs at the start left out of the statistics" },
	{ .name = NULL },
};

static int poisson_create(const struct workload_setup *setup,
			  struct workload **ret, struct error *err)
{
	const struct params *p = setup->params;
	uint32_t procs =
		setup->procs ? setup->procs : (uint32_t)params_int(p, "procs");
	uint32_t max = (uint32_t)params_int(p, "max-size");
	uint32_t min = (uint32_t)params_int(p, "min-size");
	double load = setup->load > 0 ? setup->load : 0.7;
	struct poisson *w;

	if (!max)
		max = procs;
	if (min > max || max > procs)
		return error_set(err, -EINVAL,
				 "workload 'poisson': sizes %u to %u do not "
				 "fit %u processors",
				 min, max, procs);
	w = xcalloc(1, sizeof(*w));
	random_init(&w->arrivals, setup->seed, "arrivals", setup->replication);
	random_init(&w->sizes, setup->seed, "sizes", setup->replication);
	random_init(&w->times, setup->seed, "times", setup->replication);
	w->dist = params_choice(p, "time");
	w->time = params_real(p, "mean");
	w->spread = params_real(p, "spread");
	w->min_size = min;
	w->max_size = max;
	w->overestimate = params_real(p, "overestimate");
	w->pair_bytes = params_real(p, "pair-bytes");
	w->pair_segments = params_real(p, "pair-segments");
	w->mean_gap = (min + max) / 2.0 * w->time / procs / load;
	w->left = setup->nr_jobs ? setup->nr_jobs : 10000;
	w->base.procs = procs;
	w->base.nr_jobs = w->left;
	w->base.nr_warmup = (uint64_t)params_int(p, "warmup");
	*ret = &w->base;
	return 0;
}

static double draw_time(struct poisson *w)
{
	switch (w->dist) {
	case DIST_EXPONENTIAL:
		return random_exponential(&w->times, w->time);
	case DIST_UNIFORM:
		return random_uniform(&w->times, w->time * (1 - w->spread),
				      w->time * (1 + w->spread));
	default:
		return w->time;
	}
}

static int poisson_next(struct workload *workload, struct workload_job *ret,
			struct error *err)
{
	struct poisson *w = (struct poisson *)workload;
	double time;

	if (!w->left)
		return 0;
	w->left--;
	w->clock += random_exponential(&w->arrivals, w->mean_gap);
	time = draw_time(w);
	*ret = (struct workload_job){
		.id = ++w->id,
		.submit = llround(w->clock * USEC_PER_SEC),
		.run = llround(time * USEC_PER_SEC),
		.kind = JOB_RIGID,
		.pair_bytes = w->pair_bytes,
		.pair_segments = w->pair_segments,
		.user = -1,
		.group = -1,
		.app = -1,
		.queue = -1,
		.partition = -1,
	};
	ret->size = w->min_size +
		    (uint32_t)random_below(&w->sizes,
					   w->max_size - w->min_size + 1);
	ret->min_size = ret->size;
	if (ret->run < 1)
		ret->run = 1;
	ret->estimate = ret->run;
	if (w->overestimate > 1)
		ret->estimate =
			llround((double)ret->run *
				random_uniform(&w->times, 1, w->overestimate));
	return 1;
}

const struct workload_ops workload_poisson = {
	.name = "poisson",
	.summary = "Poisson arrivals, uniform sizes, simple times",
	.source = "queueing theory",
	.details = "Arrivals are spaced so that mean size * mean time / gap / "
		   "processors is the load (default 0.7).",
	.params = params,
	.create = poisson_create,
	.next = poisson_next,
};
