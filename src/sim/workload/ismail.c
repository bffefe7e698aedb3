/*
 * ismail.c - the synthetic workloads of Ismail 1995
 *
 * Poisson arrivals at the rate lambda that makes L = lambda N T_e / P the load
 * asked for (section 1.5), N and T_e being the means of the sizes n and of the
 * times t(n).  A time unit of the thesis is a second here.
 *
 * Sizes are whole numbers: uniform over [2, P] (U), or exponential with mean
 * 15 (E), rounded to the nearest, draws outside [2, P] discarded.
 * Times: chapters 2 and 3 (sections 2.3.1, 3.3.1): uniform over [10, 200], or
 * exponential with mean 10, draws outside [1, 100] discarded; chapter 4
 * (section 4.4.1): [1, 360], or mean 60 and [1, 1000].
 * Speedup: linear, or MISP with an efficiency on n processors uniform over
 * [0.4, 0.9], draws with a serial fraction above 0.5 discarded.
 * Sizes, times and efficiencies are independent.
 *
 * speedup=apps draws the thirty applications of Tables 4.1 and 4.2 in place of
 * all these: ten with n = 16, and the same with problem and processors doubled
 * and quadrupled, so that t(n) stays and the efficiency curve stretches; the
 * efficiency between the given points is interpolated, on one processor 1.
 * The thesis gives their mean size N as 32; drawn alike it is 37.3, and that is
 * what the load is computed with, unless mean_size=32 says otherwise.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/units.h"
#include "core/xalloc.h"
#include "model/job.h"
#include "sim/workload/workload.h"

enum { NR_APPS = 10, NR_POINTS = 5, NR_SCALES = 3 };

/* Table 4.1: run time on one processor, efficiency on 2, 4, 8, 16. */
static const struct {
	double t1;
	double efficiency[NR_POINTS - 1];
} apps[NR_APPS] = {
	{ 158, { 0.967, 0.897, 0.789, 0.559 } },
	{ 185, { 0.977, 0.928, 0.913, 0.884 } },
	{ 357, { 0.977, 0.928, 0.882, 0.786 } },
	{ 1916, { 0.984, 0.943, 0.877, 0.768 } },
	{ 1553, { 0.982, 0.948, 0.903, 0.844 } },
	{ 657, { 0.949, 0.842, 0.720, 0.604 } },
	{ 2532, { 0.952, 0.892, 0.787, 0.665 } },
	{ 6141, { 0.986, 0.966, 0.929, 0.882 } },
	{ 9740, { 0.960, 0.915, 0.853, 0.753 } },
	{ 28794, { 0.979, 0.935, 0.880, 0.820 } },
};

enum shape { UNIFORM, EXPONENTIAL };
enum curve { LINEAR, MISP, APPS };

struct range {
	enum shape shape;
	double mean; /* of the exponential, before draws are discarded */
	double min, max;
};

struct ismail {
	struct workload workload;
	struct range size, time;
	enum curve curve;
	double xi_min, xi_max, serial_max;
	double gap; /* mean seconds between arrivals */
	double now; /* seconds */
	uint64_t done;
	struct random_stream arrivals, sizes, times, efficiencies, kinds;
	struct speedup_table *table[NR_SCALES][NR_APPS];
};

/* Mean of a continuous one. */
static double range_mean(const struct range *r)
{
	double a, b;

	if (r->shape == UNIFORM)
		return (r->min + r->max) / 2;
	a = exp(-r->min / r->mean);
	b = exp(-r->max / r->mean);
	return r->mean + (r->min * a - r->max * b) / (a - b);
}

/* Mean of the sizes: whole numbers, an exponential rounded to the nearest. */
static double size_mean(const struct range *r)
{
	double sum = 0, weight = 0;

	if (r->shape == UNIFORM)
		return range_mean(r);
	for (double n = r->min; n <= r->max; n++) {
		double p = exp(-n / r->mean);

		sum += n * p;
		weight += p;
	}
	return sum / weight;
}

static double draw_time(struct ismail *w)
{
	const struct range *r = &w->time;

	if (r->shape == UNIFORM)
		return random_uniform(&w->times, r->min, r->max);
	return random_exponential_in(&w->times, r->mean, r->min, r->max);
}

static uint32_t draw_size(struct ismail *w)
{
	const struct range *r = &w->size;

	if (r->shape == UNIFORM)
		return (uint32_t)r->min +
		       (uint32_t)random_below(&w->sizes,
					      (uint64_t)(r->max - r->min) + 1);
	/* nextafter: what would round up to max + 1 is outside. */
	return (uint32_t)lround(random_exponential_in(
		&w->sizes, r->mean, r->min - 0.5, nextafter(r->max + 0.5, 0)));
}

/* A MISP curve for a job of n; what is discarded is drawn again. */
static struct speedup draw_misp(struct ismail *w, uint32_t n)
{
	double serial;

	if (n < 2)
		return (struct speedup){ .kind = SPEEDUP_LINEAR };
	do
		serial = speedup_serial(
			random_uniform(&w->efficiencies, w->xi_min, w->xi_max),
			n);
	while (serial > w->serial_max);
	return (struct speedup){ .kind = SPEEDUP_MISP,
				 .serial = (float)serial };
}

static usec_t to_usec(double seconds)
{
	return llround(seconds * USEC_PER_SEC);
}

static void draw_app(struct ismail *w, struct workload_job *job)
{
	uint64_t k = random_below(&w->kinds, NR_SCALES * NR_APPS);
	const struct speedup_table *t = w->table[k / NR_APPS][k % NR_APPS];
	const struct speedup_point *last = &t->point[NR_POINTS - 1];

	job->size = last->m;
	job->run = to_usec(apps[k % NR_APPS].t1 / 16 / last->efficiency);
	job->app = (int32_t)k + 1; /* as the thesis numbers them */
	job->speedup = (struct speedup){ .kind = SPEEDUP_TABLE, .table = t };
}

static int ismail_next(struct workload *workload, struct workload_job *ret,
		       struct error *err)
{
	struct ismail *w = (struct ismail *)workload;

	if (w->done == workload->nr_jobs)
		return 0;
	w->now += random_exponential(&w->arrivals, w->gap);
	*ret = (struct workload_job){ .id = (int64_t)++w->done,
				      .submit = to_usec(w->now),
				      .min_size = 1,
				      .kind = JOB_MALLEABLE,
				      .user = -1,
				      .group = -1,
				      .app = -1,
				      .queue = -1,
				      .partition = -1 };
	if (w->curve == APPS) {
		draw_app(w, ret);
	} else {
		ret->size = draw_size(w);
		ret->run = to_usec(draw_time(w));
		if (w->curve == MISP)
			ret->speedup = draw_misp(w, ret->size);
	}
	ret->estimate = ret->run;
	return 1;
}

/* Efficiency curves of the ten, stretched by 1, 2 and 4. */
static void make_tables(struct ismail *w)
{
	for (int s = 0; s < NR_SCALES; s++)
		for (int a = 0; a < NR_APPS; a++) {
			struct speedup_table *t = xcalloc(
				1, sizeof(*t) + NR_POINTS * sizeof(*t->point));

			t->nr_points = NR_POINTS;
			t->point[0] = (struct speedup_point){ 1, 1 };
			for (int i = 1; i < NR_POINTS; i++)
				t->point[i] = (struct speedup_point){
					1u << (i + s), apps[a].efficiency[i - 1]
				};
			w->table[s][a] = t;
		}
}

static double apps_mean_time(void)
{
	double sum = 0;

	for (int a = 0; a < NR_APPS; a++)
		sum += apps[a].t1 / 16 / apps[a].efficiency[NR_POINTS - 2];
	return sum / NR_APPS;
}

static void ismail_destroy(struct workload *workload)
{
	struct ismail *w = (struct ismail *)workload;

	if (!w)
		return;
	for (int s = 0; s < NR_SCALES; s++)
		for (int a = 0; a < NR_APPS; a++)
			free(w->table[s][a]);
	free(w);
}

static const struct range times_of_chapter[3][2] = {
	{ { UNIFORM, 0, 10, 200 }, { EXPONENTIAL, 10, 1, 100 } },
	{ { UNIFORM, 0, 1, 360 }, { EXPONENTIAL, 60, 1, 1000 } },
	{ { UNIFORM, 0, 1, 10 }, { EXPONENTIAL, 60, 1, 1000 } }, /* Fig. 4.9 */
};

static const char *const sizes_names[] = { "U", "E", NULL };
static const char *const curve_names[] = { "linear", "misp", "apps", NULL };
static const char *const chapter_names[] = { "2", "3", "4", "4.9", NULL };

/* Place of each chapter in times_of_chapter. */
static const unsigned char chapter_times[] = { 0, 0, 1, 2 };

static const struct param ismail_params[] = {
	{ "sizes", PARAM_CHOICE, 0, 0, 0, sizes_names,
	  "n: uniform over [2, P], or exponential" },
	{ "times", PARAM_CHOICE, 0, 0, 0, sizes_names,
	  "t(n): uniform, or exponential" },
	{ "speedup", PARAM_CHOICE, 0, 0, 0, curve_names,
	  "linear, MISP, or the thirty applications of Table 4.1" },
	{ "chapter", PARAM_CHOICE, 0, 0, 0, chapter_names,
	  "whose times, number of jobs; 4.9: that figure's, U over [1, 10]" },
	{ "tmin", PARAM_REAL, 0, 0, 1e9, NULL, "least t(n); 0: the chapter's" },
	{ "tmax", PARAM_REAL, 0, 0, 1e9, NULL, "most t(n); 0: the chapter's" },
	{ "tmean", PARAM_REAL, 0, 0, 1e9, NULL,
	  "mean of the exponential times; 0: the chapter's" },
	{ "nmean", PARAM_REAL, 15, 1, 1e6, NULL,
	  "mean of the exponential sizes, before draws are discarded" },
	{ "mean_size", PARAM_REAL, 0, 0, 1e6, NULL,
	  "N in the load; 0: the true mean" },
	{ "xi_min", PARAM_REAL, 0.4, 0.01, 1, NULL,
	  "least efficiency on n processors (MISP)" },
	{ "xi_max", PARAM_REAL, 0.9, 0.01, 1, NULL,
	  "most efficiency on n processors (MISP)" },
	{ "serial_max", PARAM_REAL, 0.5, 0, 1, NULL,
	  "draws with a greater serial fraction are discarded (MISP)" },
	{ "warmup", PARAM_INT, 500, 0, 1e9, NULL,
	  "jobs at the start that are not counted" },
	{ NULL },
};

static int read_times(const struct params *p, struct range *ret,
		      struct error *err)
{
	unsigned chapter = params_choice(p, "chapter");
	struct range r = times_of_chapter[chapter_times[chapter]]
					 [params_choice(p, "times")];

	if (params_real(p, "tmin") > 0)
		r.min = params_real(p, "tmin");
	if (params_real(p, "tmax") > 0)
		r.max = params_real(p, "tmax");
	if (params_real(p, "tmean") > 0)
		r.mean = params_real(p, "tmean");
	if (r.min > r.max)
		return error_set(err, -EINVAL,
				 "workload 'ismail': tmin %g is above tmax %g",
				 r.min, r.max);
	if (r.shape == EXPONENTIAL && r.min > 30 * r.mean)
		return error_set(err, -EINVAL,
				 "workload 'ismail': tmin %g is so far above "
				 "tmean %g that no draw would be kept",
				 r.min, r.mean);
	*ret = r;
	return 0;
}

static int read_efficiency(struct ismail *w, const struct params *p,
			   struct error *err)
{
	w->xi_min = params_real(p, "xi_min");
	w->xi_max = params_real(p, "xi_max");
	w->serial_max = params_real(p, "serial_max");
	/* A job of two processors is the hardest to find a draw for. */
	if (w->xi_min > w->xi_max ||
	    speedup_serial(w->xi_max, 2) > w->serial_max)
		return error_set(err, -EINVAL,
				 "workload 'ismail': no efficiency from %g to "
				 "%g has a serial fraction up to %g; raise "
				 "xi_max or serial_max",
				 w->xi_min, w->xi_max, w->serial_max);
	return 0;
}

static double offered_gap(const struct ismail *w, const struct params *p,
			  double load, uint32_t procs)
{
	double n =
		w->curve == APPS ? 16 * (1 + 2 + 4) / 3. : size_mean(&w->size);
	double t = w->curve == APPS ? apps_mean_time() : range_mean(&w->time);

	if (params_real(p, "mean_size") > 0)
		n = params_real(p, "mean_size");
	return n * t / (procs * load);
}

static int ismail_create(const struct workload_setup *setup,
			 struct workload **ret, struct error *err)
{
	const struct params *p = setup->params;
	uint32_t procs = setup->procs ? setup->procs : 64;
	struct ismail *w = xcalloc(1, sizeof(*w));
	int rc = read_times(p, &w->time, err);

	w->curve = params_choice(p, "speedup");
	w->size = (struct range){ params_choice(p, "sizes"),
				  params_real(p, "nmean"), 2, procs };
	if (!rc)
		rc = read_efficiency(w, p, err);
	if (!rc && procs < (w->curve == APPS ? 64 : 2))
		rc = error_set(err, -EINVAL,
			       "workload 'ismail': %u processors are too few",
			       procs);
	if (rc < 0) {
		free(w);
		return rc;
	}
	w->workload.procs = procs;
	w->workload.nr_warmup = (uint64_t)params_int(p, "warmup");
	w->workload.nr_jobs = setup->nr_jobs;
	if (!w->workload.nr_jobs)
		w->workload.nr_jobs =
			params_choice(p, "chapter") < 2 ? 8500 : 5500;
	w->gap = offered_gap(w, p, setup->load > 0 ? setup->load : 0.5, procs);
	random_init(&w->arrivals, setup->seed, "arrivals", setup->replication);
	random_init(&w->sizes, setup->seed, "sizes", setup->replication);
	random_init(&w->times, setup->seed, "times", setup->replication);
	random_init(&w->efficiencies, setup->seed, "efficiencies",
		    setup->replication);
	random_init(&w->kinds, setup->seed, "applications", setup->replication);
	make_tables(w);
	*ret = &w->workload;
	return 0;
}

const struct workload_ops workload_ismail = {
	.name = "ismail",
	.summary = "Poisson arrivals of foldable jobs on 64 processors",
	.source = "Ismail 1995 sections 1.5, 2.3.1, 3.3.1, 4.2, 4.4.1",
	.details =
		"The load is L = lambda N T_e / P; under MISP speedup it may "
		"exceed 1 where jobs are folded. The first 500 jobs are not "
		"counted, of 8500 (chapters 2, 3) or 5500 (chapter 4).",
	.params = ismail_params,
	.create = ismail_create,
	.next = ismail_next,
	.destroy = ismail_destroy,
};
