/*
 * lanl.c - a busy day of a 32-node partition of Los Alamos' CM-5 (Arpaci 1995
 * section 2.2)
 *
 * The trace is lost.  What the paper says of it: the partition's jobs use all of its
 * nodes; nearly 80 % of them run for up to 3 minutes, those of 90 on make up more
 * than half of the time; about half are submitted in working hours; on the day
 * that was taken the partition was 75 % utilized.  Run times that are lognormal
 * and cut at 6 hours have both shares with a median of 14.3 s and a sigma of 3.28.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "core/xalloc.h"
#include "model/job.h"
#include "sim/workload/workload.h"

#define DAY 86400.0

struct drawn {
	usec_t submit, run;
};

struct lanl {
	struct workload base;
	struct drawn *job; /* in the order of their submissions */
	uint64_t nr, done;
	uint32_t size;
};

static const struct param params[] = {
	{ "size", PARAM_INT, 32, 1, 1e6, NULL, "nodes that each job needs" },
	{ "days", PARAM_INT, 1, 1, 1000, NULL, "so many, all as busy" },
	{ "median", PARAM_TIME, 14.3, 1e-3, 1e6, NULL, "of run times" },
	{ "sigma", PARAM_REAL, 3.28, 0, 10, NULL,
	  "standard deviation of their logarithms" },
	{ "longest", PARAM_TIME, 21600, 1, 1e9, NULL,
	  "run times above are drawn anew" },
	{ "working", PARAM_REAL, 0.5, 0, 1, NULL,
	  "share of jobs that are submitted from 9 to 17 h" },
	{ .name = NULL },
};

/* Accounts are in whole seconds: nothing is shorter than one. */
static double draw_run(struct random_stream *r, const struct params *p)
{
	double longest = params_real(p, "longest");
	double most =
		gsl_cdf_ugaussian_P(log(longest / params_real(p, "median")) /
				    fmax(params_real(p, "sigma"), 1e-9));
	double z = gsl_cdf_ugaussian_Pinv(most * random_unit(r));

	return fmax(1, params_real(p, "median") *
			       exp(params_real(p, "sigma") * z));
}

/* Seconds since the first midnight. */
static double draw_submit(struct random_stream *r, const struct params *p)
{
	double day = (double)random_below(r, (uint64_t)params_int(p, "days"));
	bool works = random_unit(r) < params_real(p, "working");
	double hour =
		works ? random_uniform(r, 9, 17) : random_uniform(r, 17, 33);

	return day * DAY + fmod(hour, 24) * 3600;
}

static int by_submit(const void *a, const void *b)
{
	const struct drawn *x = a, *y = b;

	if (x->submit != y->submit)
		return x->submit < y->submit ? -1 : 1;
	return (x->run > y->run) - (x->run < y->run);
}

/* nr of them; 0: until they fill `work` seconds, the last one cut to what is
 * left. */
static void draw_jobs(struct lanl *w, const struct workload_setup *setup,
		      double work)
{
	struct random_stream times, arrivals;
	size_t cap = 0;

	random_init(&times, setup->seed, "times", setup->replication);
	random_init(&arrivals, setup->seed, "arrivals", setup->replication);
	while (setup->nr_jobs ? w->nr < setup->nr_jobs : work > 0) {
		double run = draw_run(&times, setup->params);

		if (!setup->nr_jobs && run > work)
			run = work;
		work -= run;
		array_room(w->job, w->nr, &cap);
		w->job[w->nr++] = (struct drawn){
			.submit =
				llround(draw_submit(&arrivals, setup->params) *
					USEC_PER_SEC),
			.run = llround(run * USEC_PER_SEC),
		};
	}
	qsort(w->job, w->nr, sizeof(*w->job), by_submit);
}

static int lanl_create(const struct workload_setup *setup,
		       struct workload **ret, struct error *err)
{
	const struct params *p = setup->params;
	uint32_t size = (uint32_t)params_int(p, "size");
	double load = setup->load > 0 ? setup->load : 0.75;
	struct lanl *w;

	if (setup->procs && setup->procs < size)
		return error_set(
			err, -EINVAL,
			"workload 'lanl': jobs of %u nodes do not fit %u "
			"processors",
			size, setup->procs);
	w = xcalloc(1, sizeof(*w));
	w->size = size;
	w->base.procs = setup->procs ? setup->procs : size;
	draw_jobs(w, setup, load * (double)params_int(p, "days") * DAY);
	w->base.nr_jobs = w->nr;
	*ret = &w->base;
	return 0;
}

static int lanl_next(struct workload *workload, struct workload_job *ret,
		     struct error *err)
{
	struct lanl *w = (struct lanl *)workload;
	const struct drawn *d = &w->job[w->done];

	(void)err;
	if (w->done == w->nr)
		return 0;
	*ret = (struct workload_job){
		.id = (int64_t)++w->done,
		.submit = d->submit,
		.run = d->run > 0 ? d->run : 1,
		.size = w->size,
		.min_size = w->size,
		.kind = JOB_RIGID,
		.user = -1,
		.group = -1,
		.app = -1,
		.queue = -1,
		.partition = -1,
	};
	ret->estimate = ret->run;
	return 1;
}

static void lanl_destroy(struct workload *workload)
{
	struct lanl *w = (struct lanl *)workload;

	free(w->job);
	free(w);
}

const struct workload_ops workload_lanl = {
	.name = "lanl",
	.summary = "a busy day of a partition whose jobs need all of its nodes",
	.source = "Arpaci 1995 section 2.2",
	.details =
		"Run times are lognormal and cut; jobs are drawn until they fill "
		"the load (default 0.75) of the partition's days. With --jobs "
		"there are so many, whatever the load. The original trace is "
		"lost: 80 % of jobs of up to 3 minutes and half of the work in "
		"those of 90 on are the paper's.",
	.params = params,
	.create = lanl_create,
	.next = lanl_next,
	.destroy = lanl_destroy,
};
