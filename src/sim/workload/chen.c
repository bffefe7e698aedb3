/*
 * chen.c - the workloads of Chen 2002 (section 3)
 *
 * 32 hosts, and five times an hour in which sequential programs are submitted at
 * random hosts: six of SPEC 2000 (group 1) or seven others (group 2), each as
 * likely as the others.  The rate of submissions at t is in proportion to
 * formula (1), exp(-(ln t - mu)^2 / 2 sigma^2), so that t, cut at the end of
 * the hour, is lognormal with mu + sigma^2 in the place of mu.
 *
 * The memory over a run was traced and is lost; what is left is its maximum,
 * or how it began and ended.  Here it grows in `steps` even steps: within the
 * first `growth` of the run from `start` of what the table has, and where that
 * is a range, from then on to its upper end.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "core/xalloc.h"
#include "model/job.h"
#include "sim/workload/workload.h"

#define MAX_PROGRAMS 7
#define MAX_STEPS    1000
#define HOSTS	     32

struct program {
	double low, high; /* MB it needs */
	double seconds;
};

/* Tables 1 and 2: apsi, gcc, gzip, mcf, vortex, bzip; bit-r, m-sort, m-m,
 * t-sim, metis, r-sphere, r-wing. */
static const struct program group1[] = {
	{ 196, 196, 2619 }, { 145, 145, 228 }, { 195, 195, 249 },
	{ 80, 80, 969 },    { 115, 115, 345 }, { 200, 200, 403 },
};
static const struct program group2[] = {
	{ 64.22, 64.22, 192.26 },  { 64.27, 64.27, 82.76 },
	{ 66.37, 66.37, 4902.29 }, { 4.64, 4.64, 41.63 },
	{ 1.37, 4.30, 124.41 },	   { 36.84, 39.66, 318.64 },
	{ 19.53, 23.39, 72.78 },
};

/* Section 3.3.2: mu = sigma, jobs, seconds. */
static const struct {
	double mu;
	uint64_t jobs;
	double seconds;
} traces[] = {
	{ 4.0, 359, 3586 }, { 3.7, 448, 3589 }, { 3.0, 578, 3581 },
	{ 2.0, 684, 3585 }, { 1.5, 777, 3582 },
};

enum rate { RATE_PRINTED, RATE_LOGNORMAL };
static const char *const rates[] = { "printed", "lognormal", NULL };

struct chen {
	struct workload base;
	const struct program *program;
	unsigned nr_programs;
	struct workload_phases *phases[MAX_PROGRAMS];
	double *submit; /* seconds, in order */
	uint64_t done;
	struct random_stream programs, homes;
};

static const struct param params[] = {
	{ "group", PARAM_INT, 1, 1, 2, NULL,
	  "1: SPEC 2000 on 384 MB, 2: seven others on 128 MB" },
	{ "trace", PARAM_INT, 3, 1, 5, NULL,
	  "1: 359 jobs in the hour, evenly, to 5: 777, most of them at once" },
	{ "rate", PARAM_CHOICE, 0, 0, 0, rates,
	  "formula (1) as printed, or the lognormal density, with its 1 / t" },
	{ "equal", PARAM_REAL, 0, 0, 1e6, NULL,
	  "MB that every program needs; 0: as in the tables" },
	{ "start", PARAM_REAL, 0.1, 0, 1, NULL,
	  "share of its memory that a program begins with" },
	{ "growth", PARAM_REAL, 0.1, 0, 1, NULL,
	  "share of its run in which it grows to what it needs" },
	{ "steps", PARAM_INT, 8, 1, MAX_STEPS, NULL, "in so many steps" },
	{ .name = NULL }
};

/* What a program needs after the share x of its run, in MB. */
static double need(const struct program *p, double start, double growth,
		   double x)
{
	double early = growth > 0 ? x / growth : 1;

	if (early < 1)
		return p->low * (start + (1 - start) * early);
	return growth < 1 ? p->low + (p->high - p->low) * (x - growth) /
					     (1 - growth)
			  : p->low;
}

static struct workload_phases *make_phases(const struct program *p,
					   const struct params *values)
{
	uint32_t steps = (uint32_t)params_int(values, "steps"), n = 2 * steps;
	double start = params_real(values, "start");
	double growth = params_real(values, "growth");
	struct workload_phases *ph =
		xcalloc(1, sizeof(*ph) + n * sizeof(*ph->phase));

	for (uint32_t i = 0; i < n; i++) {
		double from =
			i < steps ? growth * i / steps
				  : growth + (1 - growth) * (i - steps) / steps;
		uint64_t bytes =
			(uint64_t)llround(need(p, start, growth, from) * 1e6);

		if (ph->nr && ph->phase[ph->nr - 1].from >= from)
			ph->nr--; /* no time for the one before */
		else if (ph->nr && ph->phase[ph->nr - 1].bytes == bytes)
			continue;
		ph->phase[ph->nr++] = (struct workload_phase){ from, bytes };
	}
	return ph;
}

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Submissions within the hour, in order. */
static void draw_submits(struct chen *w, struct random_stream *arrivals,
			 unsigned trace, enum rate rate)
{
	double sigma = traces[trace].mu, mu = sigma;
	uint64_t n = w->base.nr_jobs;
	double all;

	if (rate == RATE_PRINTED)
		mu += sigma * sigma;
	all = gsl_cdf_ugaussian_P((log(traces[trace].seconds) - mu) / sigma);
	w->submit = xcalloc(n, sizeof(*w->submit));
	for (uint64_t i = 0; i < n; i++)
		w->submit[i] =
			exp(mu + sigma * gsl_cdf_ugaussian_Pinv(
						 all * random_unit(arrivals)));
	qsort(w->submit, n, sizeof(*w->submit), by_time);
}

static void make_programs(struct chen *w, const struct params *values)
{
	double equal = params_real(values, "equal");

	for (unsigned i = 0; i < w->nr_programs; i++) {
		struct program p = w->program[i];

		if (equal > 0)
			p.low = p.high = equal;
		w->phases[i] = make_phases(&p, values);
	}
}

static int chen_create(const struct workload_setup *setup,
		       struct workload **ret, struct error *err)
{
	const struct params *p = setup->params;
	bool second = params_int(p, "group") == 2;
	unsigned trace = (unsigned)params_int(p, "trace") - 1;
	struct random_stream arrivals;
	struct chen *w;

	if (setup->load > 0)
		return error_set(err, -EINVAL,
				 "workload 'chen': its load is that of its "
				 "trace: take trace=1 to 5, not --load");
	w = xcalloc(1, sizeof(*w));
	w->program = second ? group2 : group1;
	w->nr_programs = second ? 7 : 6;
	w->base.procs = HOSTS;
	w->base.hosts = second ? "32x1x1x128M" : "32x1x1x384M";
	w->base.paging = "";
	w->base.nr_jobs = setup->nr_jobs ? setup->nr_jobs : traces[trace].jobs;
	random_init(&arrivals, setup->seed, "arrivals", setup->replication);
	random_init(&w->programs, setup->seed, "programs", setup->replication);
	random_init(&w->homes, setup->seed, "homes", setup->replication);
	draw_submits(w, &arrivals, trace, params_choice(p, "rate"));
	make_programs(w, p);
	*ret = &w->base;
	return 0;
}

static int chen_next(struct workload *workload, struct workload_job *ret,
		     struct error *err)
{
	struct chen *w = (struct chen *)workload;
	uint64_t program;

	(void)err;
	if (w->done == w->base.nr_jobs)
		return 0;
	program = random_below(&w->programs, w->nr_programs);
	*ret = (struct workload_job){
		.id = (int64_t)w->done + 1,
		.submit = llround(w->submit[w->done] * 1e6),
		.run = llround(w->program[program].seconds * 1e6),
		.size = 1,
		.min_size = 1,
		.kind = JOB_RIGID,
		.user = -1,
		.group = -1,
		.app = (int32_t)program,
		.queue = -1,
		.partition = -1,
		.home = 1 + (uint32_t)random_below(&w->homes, HOSTS),
		.phases = w->phases[program],
	};
	ret->estimate = ret->run;
	w->done++;
	return 1;
}

static void chen_destroy(struct workload *workload)
{
	struct chen *w = (struct chen *)workload;

	for (unsigned i = 0; i < w->nr_programs; i++)
		free(w->phases[i]);
	free(w->submit);
	free(w);
}

const struct workload_ops workload_chen = {
	.name = "chen",
	.summary = "sequential programs that need memory, at 32 hosts",
	.source = "Chen 2002 section 3",
	.details =
		"Its hosts have 384 or 128 MB, and what that is too little "
		"for pages (--paging); policies g-loadsharing and "
		"v-reconfiguration know what to do. --procs and --load do not "
		"change it.",
	.params = params,
	.create = chen_create,
	.next = chen_next,
	.destroy = chen_destroy,
};
