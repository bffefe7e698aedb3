/*
 * schnor.c - the workloads of Schnor 1997 (§2.2.2, §4.3.1)
 *
 * Poisson arrivals.  Chapter 2: 100 equal hosts, sizes uniform in 1..100,
 * demand is the run time on as many processors as asked for; moldable down to
 * one processor with linear speedup, which only FIFO-V makes use of.  Chapter
 * 4: demand is the run time on one fastest host; sizes 1..30, or rigid uniform
 * ones (FS).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/units.h"
#include "core/xalloc.h"
#include "model/job.h"
#include "sim/workload/workload.h"

enum kind { FT, FT_EXP, MB, MB_EXP, PROOF, EXP, HYPEREXP, FS };

static const char *const kinds[] = { "ft",  "ft-exp",	"mb", "mb-exp", "proof",
				     "exp", "hyperexp", "fs", NULL };
static const char *const systems[] = { "1", "2", "2'", "3", NULL };

/* Table 4.2, as host lists. */
static const char *const system_hosts[] = { "5x1,25x4", "20x1,10x4",
					    "20x1,10x10", "5x1,20x4,5x10" };

/* A demand: exponential of mean a with probability p, else of mean b. */
struct demand {
	double p, a, b; /* a, b in seconds */
};

static const struct demand ft = { 0.5, 600, 7200 };
static const struct demand exp120 = { 1, 7200, 0 };

/* Table 2.3: the memory-bound workload, by size up to and including. */
static const struct {
	uint32_t upto;
	struct demand demand;
} table23[] = {
	{ 1, { 0.75, 10, 450 } },
	{ 16, { 0.75, 120, 2040 } },
	{ 32, { 0.75, 360, 3600 } },
	{ 64, { 0.75, 720, 7440 } },
	{ UINT32_MAX, { 0.5, 1800, 5400 } },
};

struct schnor {
	struct workload base;
	enum kind kind;
	uint32_t maxsize;
	double cut; /* in means; 0: none */
	double gap; /* mean seconds between arrivals */
	double now;
	uint64_t left;
	int64_t id;
	struct random_stream arrivals, sizes, demands, phases;
};

static const struct param params[] = {
	{ .name = "kind",
	  .type = PARAM_CHOICE,
	  .choices = kinds,
	  .summary = "ft, ft-exp, mb, mb-exp: chapter 2, hyperexponential or "
		     "exponential; proof, exp, hyperexp, fs: chapter 4" },
	{ .name = "system",
	  .type = PARAM_CHOICE,
	  .choices = systems,
	  .summary = "chapter 4: the system of Table 4.2" },
	{ .name = "rate",
	  .type = PARAM_REAL,
	  .def = 0,
	  .min = 0,
	  .max = 1e6,
	  .summary = "arrivals in 1000 s; 0: as --load asks" },
	{ .name = "maxsize",
	  .type = PARAM_INT,
	  .def = 0,
	  .min = 0,
	  .max = 100000,
	  .summary = "largest size; 0: 100 in chapter 2, 30 in chapter 4 "
		     "(-greedy: 100)" },
	{ .name = "cut",
	  .type = PARAM_REAL,
	  .def = 0,
	  .min = 0,
	  .max = 1e6,
	  .summary = "demands above so many means are drawn again; 0: none. 4 "
		     "makes an exponential law's coefficient of variation 0.9, "
		     "as was that of the paper's random numbers" },
	{ .name = NULL }
};

static struct demand demand_of(enum kind kind, uint32_t size)
{
	size_t i = 0;
	double mean;

	switch (kind) {
	case FT:
	case HYPEREXP:
	case FS:
		return ft;
	case MB:
	case MB_EXP:
		while (size > table23[i].upto)
			i++;
		if (kind == MB)
			return table23[i].demand;
		mean = table23[i].demand.p * table23[i].demand.a +
		       (1 - table23[i].demand.p) * table23[i].demand.b;
		return (struct demand){ 1, mean, 0 };
	default:
		return exp120;
	}
}

static double mean_of(struct demand d)
{
	return d.p * d.a + (1 - d.p) * d.b;
}

/* What cutting at c means leaves of an exponential law's mean. */
static double cut_mean(double c)
{
	return c > 0 ? 1 - c / expm1(c) : 1;
}

static bool chapter2(enum kind kind)
{
	return kind <= MB_EXP;
}

/* E[processors x seconds on fastest hosts] of a job. */
static double mean_work(const struct schnor *w)
{
	double sum = 0;

	if (w->kind == PROOF)
		return 6000;
	if (!chapter2(w->kind))
		return mean_of(demand_of(w->kind, 1)) * cut_mean(w->cut);
	for (uint32_t n = 1; n <= w->maxsize; n++)
		sum += n * mean_of(demand_of(w->kind, n));
	return sum / w->maxsize * cut_mean(w->cut);
}

/* What the machine does in a second, in seconds of a fastest host. */
static double capacity(const struct schnor *w, unsigned system)
{
	static const double power[] = { 5 + 25 / 4.0, 20 + 10 / 4.0,
					20 + 10 / 10.0,
					5 + 20 / 4.0 + 5 / 10.0 };

	return chapter2(w->kind) ? w->base.procs : power[system];
}

static int schnor_create(const struct workload_setup *setup,
			 struct workload **ret, struct error *err)
{
	struct schnor *w = xcalloc(1, sizeof(*w));
	unsigned system = params_choice(setup->params, "system");
	double rate = params_real(setup->params, "rate") / 1000;

	w->kind = (enum kind)params_choice(setup->params, "kind");
	w->base.procs = chapter2(w->kind) ? 100 : 30;
	w->base.hosts = chapter2(w->kind) ? "100x1" : system_hosts[system];
	w->base.nr_jobs = setup->nr_jobs ? setup->nr_jobs : 20000;
	w->base.nr_warmup = w->base.nr_jobs / 10;
	w->maxsize = (uint32_t)params_int(setup->params, "maxsize");
	if (!w->maxsize)
		w->maxsize = w->base.procs;
	w->cut = params_real(setup->params, "cut");
	if (!rate && !setup->load) {
		free(w);
		return error_set(
			err, -EINVAL,
			"workload 'schnor': say how much arrives, with "
			"rate=JOBS_IN_1000_S or --load");
	}
	w->gap = rate ? 1 / rate
		      : mean_work(w) / (setup->load * capacity(w, system));
	w->left = w->base.nr_jobs;
	random_init(&w->arrivals, setup->seed, "arrivals", setup->replication);
	random_init(&w->sizes, setup->seed, "sizes", setup->replication);
	random_init(&w->demands, setup->seed, "demands", setup->replication);
	random_init(&w->phases, setup->seed, "phases", setup->replication);
	*ret = &w->base;
	return 0;
}

static double draw_demand(struct schnor *w, uint32_t size)
{
	struct demand d = demand_of(w->kind, size);
	bool first = random_unit(&w->phases) < d.p;
	double x = random_exponential(&w->demands, 1);

	while (w->cut > 0 && x > w->cut)
		x = random_exponential(&w->demands, 1);
	return w->kind == PROOF ? 6000 : x * (first ? d.a : d.b);
}

static int schnor_next(struct workload *workload, struct workload_job *ret,
		       struct error *err)
{
	struct schnor *w = (struct schnor *)workload;
	double seconds;

	(void)err;
	if (!w->left)
		return 0;
	w->left--;
	w->now += random_exponential(&w->arrivals, w->gap);
	*ret = (struct workload_job){
		.id = ++w->id,
		.submit = llround(w->now * USEC_PER_SEC),
		.kind = w->kind == FS ? JOB_RIGID : JOB_MOLDABLE,
		.user = -1,
		.group = -1,
		.app = -1,
		.queue = -1,
		.partition = -1,
	};
	ret->size = chapter2(w->kind) || w->kind == FS
			    ? 1 + (uint32_t)random_below(&w->sizes, w->maxsize)
			    : w->maxsize;
	ret->min_size = ret->kind == JOB_RIGID ? ret->size : 1;
	seconds = draw_demand(w, ret->size);
	if (!chapter2(w->kind))
		seconds /= ret->size;
	ret->run = llround(seconds * USEC_PER_SEC);
	if (ret->run < 1)
		ret->run = 1;
	ret->estimate = ret->run;
	return 1;
}

const struct workload_ops workload_schnor = {
	.name = "schnor",
	.summary = "fixed-time, memory-bound, Proof, Exp, Hyperexp, FS",
	.source = "Schnor 1997 sections 2.2.2 and 4.3.1",
	.details =
		"Chapter 2 on 100 equal hosts, chapter 4 on the systems of "
		"Table 4.2. Where exponential demands are asked of the "
		"memory-bound workload, each class of sizes keeps its mean of "
		"Table 2.3 (the text does not say). A tenth of the jobs is "
		"warm-up.",
	.params = params,
	.create = schnor_create,
	.next = schnor_next,
};
