/*
 * gang.c - what Schnor 1997 published: section 2.2, largest size
 * first and gang scheduling against space sharing
 *
 * The figures of the scan are lost: what a curve shows is known from the text
 * around it, which names loads only as low, medium and high.  Here these are
 * 0.3, 0.5 and 0.6 or 0.65 of what the hosts can do; first come, first served
 * is at its end at about 0.67 on these workloads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/reproduce/schnor.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* How much smaller than a's is b's mean response: 1 - b/a. */
static struct estimate reduction(const struct reproduce *r,
				 const struct reproduce_grid *g, size_t a,
				 size_t b, size_t load)
{
	struct estimate q = reproduce_ratio(r, g, b, a, load, METRIC_RESPONSE);

	return (struct estimate){ 1 - q.value, 1 - q.high, 1 - q.low };
}

static const double loads2[] = { 0.3, 0.5, 0.6, 0.65 };

enum { LOW, MEDIUM, HIGH, HIGHER };

static struct reproduce_grid grid2(const char *const *policies,
				   const char *workload)
{
	return (struct reproduce_grid){
		.policy = policies,
		.workload = workload,
		.load = loads2,
		.nr_loads = NR(loads2),
		.costs = { .migrate = SCHNOR_MIGRATE,
			   .migrate_rank = SCHNOR_MIGRATE_RANK },
		.precision = 0.05
	};
}

/*
 * The load at which a value that grows with it comes to what was published,
 * by straight lines between the loads of the grid; NaN if it does not.
 */
static double load_where(const struct reproduce_grid *g, const double *value,
			 double published)
{
	for (size_t l = 1; l < g->nr_loads; l++)
		if (value[l - 1] <= published && value[l] > published)
			return g->load[l - 1] +
			       (g->load[l] - g->load[l - 1]) *
				       (published - value[l - 1]) /
				       (value[l] - value[l - 1]);
	return NAN;
}

/* The paper's loads have no numbers: say at which one the figure is right. */
static void note_load(struct reproduce *r, const struct reproduce_grid *g,
		      const double *value, double published)
{
	double load = load_where(g, value, published);

	if (reproduce_met(r))
		return;
	if (isnan(load))
		reproduce_note(r, reproduce_text("it is not %g at any load "
						 "from %g to %g",
						 published, g->load[0],
						 g->load[g->nr_loads - 1]));
	else
		reproduce_note(r, reproduce_text("the paper's loads have no "
						 "numbers: it is %g at load "
						 "%.3g",
						 published, load));
}

/* As note_load(), of the ratio of two policies' mean responses. */
static void note_ratio_load(struct reproduce *r, const struct reproduce_grid *g,
			    size_t a, size_t b, double published)
{
	double value[8];

	for (size_t l = 0; l < g->nr_loads && l < NR(value); l++)
		value[l] =
			reproduce_ratio(r, g, a, b, l, METRIC_RESPONSE).value;
	note_load(r, g, value, published);
}

/* Is a's mean response surely below b's? */
static bool better(const struct reproduce *r, const struct reproduce_grid *g,
		   size_t a, size_t b, size_t load)
{
	return reproduce_difference(r, g, a, b, load, METRIC_RESPONSE).high < 0;
}

/* "ft" of schnor:kind=ft. */
static const char *kind_of(const struct reproduce_grid *g)
{
	return strrchr(g->workload, '=') + 1;
}

static void tell_ratio(struct reproduce *r, const struct reproduce_grid *g,
		       size_t a, size_t b, size_t load, const char *published,
		       double low, double high)
{
	struct estimate q = reproduce_ratio(r, g, a, b, load, METRIC_RESPONSE);

	reproduce_fact(
		r,
		reproduce_text("%s, RT(%s)/RT(%s) at %g", kind_of(g),
			       g->policy[a], g->policy[b], g->load[load]),
		published, reproduce_text(ESTIMATE_FMT, ESTIMATE_ARGS(q)),
		q.high >= low && q.low <= high, NULL);
}

/* By how much policy p is faster than FIFO, policy 0, and readings of it. */
static void tell_reduction(struct reproduce *r, const struct reproduce_grid *g,
			   size_t p, const char *name, size_t load, double low,
			   double high)
{
	struct estimate e = reduction(r, g, 0, p, load);
	double value[NR(loads2)];

	if (low < high)
		reproduce_range(r,
				reproduce_text("%s, RT below FIFO's at %g",
					       name, g->load[load]),
				low, high, e, NULL);
	else
		reproduce_number(r,
				 reproduce_text("%s, RT below FIFO's at %g",
						name, g->load[load]),
				 low, 0.05, e, NULL);
	for (size_t l = 0; l < g->nr_loads; l++)
		value[l] = reduction(r, g, 0, p, l).value;
	note_load(r, g, value, low);
	if (!reproduce_met(r))
		reproduce_note(r, reproduce_text("as chapter 4 defines a "
						 "speedup, RT(FIFO)/RT - 1, "
						 "it is %.2f",
						 e.value / (1 - e.value)));
}

static void maxprio_note(struct reproduce *r, const struct reproduce_grid *g,
			 size_t p, size_t load)
{
	reproduce_note(r, reproduce_text("the paper gives no maxprio: with 100 "
					 "(the hosts) instead of 200 it is "
					 "%.2f",
					 reduction(r, g, 0, p, load).value));
}

int schnor_s2b(struct reproduce *r, struct error *err)
{
	static const char *const policies[] = { "fcfs",		  "ls",
						"ffis",		  "lst",
						"ls:maxprio=100", NULL };
	enum { LS = 1, SNPF, LST, LS_N };
	struct reproduce_grid g = grid2(policies, "schnor:kind=ft");
	int rc = reproduce_grid_run(r, &g, err);

	if (rc < 0)
		goto out;
	for (size_t p = LS; p <= SNPF; p++) {
		const char *name = p == LS ? "LS" : "SNPF";

		tell_reduction(r, &g, p, name, MEDIUM, 0.4, 0.4);
		if (p == LS)
			maxprio_note(r, &g, LS_N, MEDIUM);
		tell_reduction(r, &g, p, name, HIGH, 0.6, 0.8);
		if (p == LS)
			maxprio_note(r, &g, LS_N, HIGH);
	}
	tell_ratio(r, &g, LS, SNPF, MEDIUM, "alike: 1 +- 0.1", 0.9, 1.1);
	for (size_t p = LS; p <= SNPF; p++)
		tell_ratio(r, &g, LST, p, HIGHER, "better: below 1", 0, 1);
	rc = reproduce_figure(r, &g, "2.3", METRIC_RESPONSE, err);
out:
	reproduce_grid_clear(&g);
	return rc;
}

/* What the paper leaves open of LST, or gives but does not use alike. */
static const struct reading2 {
	const char *text, *lst;
	bool free; /* migration costs nothing */
} readings2[] = {
	{ "maxprio of 100 instead of 200", "lst:maxprio=100", false },
	{ "maxprio of 1000", "lst:maxprio=1000", false },
	{ "slices of 10 min", "lst:slice=10min", false },
	{ "migration for nothing", "lst", true },
};

/* RT(rival)/RT(LST), or LST's share of migrated processes where there is no
 * rival, under each reading at a load, for the note of a row that differs. */
static int note_readings2(struct reproduce *r, const char *workload,
			  const char *rival, double load, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < NR(readings2) && !rc; i++) {
		const char *const policies[] = { readings2[i].lst, rival,
						 NULL };
		struct reproduce_grid g = grid2(policies, workload);
		struct estimate e;

		if (r->quick || reproduce_met(r))
			break;
		g.load = &load;
		g.nr_loads = 1;
		if (readings2[i].free)
			g.costs = (struct sim_costs){ 0 };
		rc = reproduce_grid_run(r, &g, err);
		if (!rc) {
			e = rival ? reproduce_ratio(r, &g, 1, 0, 0,
						    METRIC_RESPONSE)
				  : reproduce_mean(r, &g, 0, 0,
						   METRIC_MIGRATED);
			reproduce_note(r,
				       reproduce_text("%s: %.3g (%.3g to %.3g)",
						      readings2[i].text,
						      e.value, e.low, e.high));
		}
		reproduce_grid_clear(&g);
	}
	return rc;
}

int schnor_s2c(struct reproduce *r, struct error *err)
{
	static const char *const policies[] = { "fcfs", "ls", "ffis", "lst",
						NULL };
	enum { FIFO, LS, SNPF, LST };
	struct reproduce_grid g = grid2(policies, "schnor:kind=mb");
	int rc = reproduce_grid_run(r, &g, err);

	if (rc < 0)
		goto out;
	for (size_t l = MEDIUM; !rc && l <= HIGHER; l++) {
		tell_ratio(r, &g, SNPF, LST, l, "almost as good: 1 +- 0.15",
			   0.85, 1.15);
		note_ratio_load(r, &g, SNPF, LST, 1.15);
		rc = note_readings2(r, g.workload, policies[SNPF], loads2[l],
				    err);
		tell_ratio(r, &g, LS, LST, l, "not far behind: up to 1.5", 0,
			   1.5);
	}
	if (!rc)
		rc = reproduce_figure(r, &g, "2.4", METRIC_RESPONSE, err);
out:
	reproduce_grid_clear(&g);
	return rc;
}

/*
 * With exponential demands there is "less or no benefit" from time-sharing
 * (FT) than with hyperexponential ones, and none under MB.
 */
static int s2d_grids(struct reproduce *r, const char *workload,
		     const char *const *policies, const char *figure,
		     struct reproduce_grid *g, struct error *err)
{
	int rc;

	*g = grid2(policies, workload);
	rc = reproduce_grid_run(r, g, err);
	return rc < 0 || !figure
		       ? rc
		       : reproduce_figure(r, g, figure, METRIC_RESPONSE, err);
}

/* 1 - RT(LST)/RT(p) under either law of demands. */
static void tell_less(struct reproduce *r, const struct reproduce_grid *expo,
		      const struct reproduce_grid *hyper, size_t p, size_t lst,
		      size_t load)
{
	struct estimate e = reduction(r, expo, p, lst, load);
	struct estimate h = reduction(r, hyper, p, lst, load);

	reproduce_fact(r,
		       reproduce_text("FT, gain of LST over %s at %g",
				      expo->policy[p], expo->load[load]),
		       "less than with hyperexponential demands, or none",
		       reproduce_text(ESTIMATE_FMT " against " ESTIMATE_FMT,
				      ESTIMATE_ARGS(e), ESTIMATE_ARGS(h)),
		       e.low <= fmax(h.high, 0), NULL);
}

int schnor_s2d(struct reproduce *r, struct error *err)
{
	static const char *const policies[] = { "ls", "ffis", "lst", NULL };
	enum { LS, SNPF, LST };
	struct reproduce_grid expo = { 0 }, hyper = { 0 }, mb = { 0 };
	int rc = s2d_grids(r, "schnor:kind=ft-exp", policies, "2.3exp", &expo,
			   err);

	if (!rc)
		rc = s2d_grids(r, "schnor:kind=ft", policies, NULL, &hyper,
			       err);
	if (!rc)
		rc = s2d_grids(r, "schnor:kind=mb-exp", policies, "2.4exp", &mb,
			       err);
	for (size_t l = MEDIUM; !rc && l <= HIGH; l++)
		for (size_t p = LS; p <= SNPF; p++) {
			tell_less(r, &expo, &hyper, p, LST, l);
			tell_ratio(r, &mb, LST, p, l, "worse: above 1", 1,
				   INFINITY);
		}
	reproduce_grid_clear(&expo);
	reproduce_grid_clear(&hyper);
	reproduce_grid_clear(&mb);
	return rc;
}

static int tell_migrations(struct reproduce *r, const struct reproduce_grid *g,
			   const char *name, struct error *err)
{
	double migrated[NR(loads2)];
	int rc = 0;

	for (size_t l = 0; l < g->nr_loads; l++)
		migrated[l] = reproduce_mean(r, g, 0, l, METRIC_MIGRATED).value;
	for (size_t l = MEDIUM; !rc && l <= HIGHER; l++) {
		struct estimate share =
			reproduce_mean(r, g, 0, l, METRIC_MIGRATED);
		struct estimate gap =
			reproduce_mean(r, g, 0, l, METRIC_MIGRATION_GAP);

		reproduce_range(r,
				reproduce_text("%s, processes migrated at %g",
					       name, g->load[l]),
				0, 0.02, share, NULL);
		note_load(r, g, migrated, 0.02);
		rc = note_readings2(r, g->workload, NULL, g->load[l], err);
		reproduce_range(r,
				reproduce_text("%s, hours between events at %g",
					       name, g->load[l]),
				10, INFINITY,
				(struct estimate){ gap.value / 3600,
						   gap.low / 3600,
						   gap.high / 3600 },
				NULL);
	}
	reproduce_number(
		r, reproduce_text("%s, processes an event", name), 20, 5,
		reproduce_mean(r, g, 0, HIGHER, METRIC_MIGRATION_RANKS), NULL);
	return rc;
}

enum { E_LST, E_NM, E_NA, E_NA_10, E_LST_10 }; /* policies of S-2e */

static void tell_load(struct reproduce *r, const struct reproduce_grid *g,
		      const struct reproduce_grid *free, const char *name,
		      size_t load)
{
	/* The same jobs without the costs of moves: pairs, too. */
	struct estimate q = sweep_ratio(&free->result[load],
					&g->result[E_LST * g->nr_loads + load],
					METRIC_RESPONSE, r->level);

	reproduce_number(r,
			 reproduce_text("%s, RT(LST_O)/RT(LST) at %g", name,
					g->load[load]),
			 1, 0.05, q, NULL);
	tell_ratio(r, g, E_NM, E_LST, load, "1 +- 0.05", 0.95, 1.05);
	tell_ratio(r, g, E_NA, E_LST, load, "worse: above 1", 1.001, INFINITY);
}

static void tell_slice(struct reproduce *r, const struct reproduce_grid *g,
		       const char *name)
{
	struct estimate na =
		reproduce_ratio(r, g, E_NA_10, E_NA, MEDIUM, METRIC_RESPONSE);
	struct estimate lst =
		reproduce_ratio(r, g, E_LST_10, E_LST, MEDIUM, METRIC_RESPONSE);

	reproduce_fact(
		r,
		reproduce_text("%s, slice 10 instead of 30 min at 0.5", name),
		"LST_NA changes more than LST",
		reproduce_text("LST_NA " ESTIMATE_FMT ", LST " ESTIMATE_FMT
			       " times",
			       ESTIMATE_ARGS(na), ESTIMATE_ARGS(lst)),
		fabs(na.value - 1) > fabs(lst.value - 1), NULL);
}

static int s2e_variants(struct reproduce *r, const char *workload,
			const char *name, struct error *err)
{
	static const char *const policies[] = { "lst",
						"lst:migrate=no",
						"lst:alternate=no",
						"lst:alternate=no,slice=10min",
						"lst:slice=10min",
						NULL };
	static const char *const only_lst[] = { "lst", NULL };
	struct reproduce_grid g = grid2(policies, workload);
	struct reproduce_grid o = grid2(only_lst, workload);
	int rc = reproduce_grid_run(r, &g, err);

	o.costs = (struct sim_costs){ 0 };
	if (!rc)
		rc = reproduce_grid_run(r, &o, err);
	if (!rc)
		rc = tell_migrations(r, &g, name, err);
	if (!rc) {
		for (size_t l = MEDIUM; l <= HIGH; l++)
			tell_load(r, &g, &o, name, l);
		tell_slice(r, &g, name);
		rc = reproduce_figure(r, &g, name, METRIC_RESPONSE, err);
	}
	reproduce_grid_clear(&g);
	reproduce_grid_clear(&o);
	return rc;
}

int schnor_s2e(struct reproduce *r, struct error *err)
{
	int rc = s2e_variants(r, "schnor:kind=ft", "FT", err);

	return rc < 0 ? rc : s2e_variants(r, "schnor:kind=mb", "MB", err);
}

/* The first of the loads from which on FIFO-V is better than p. */
static void tell_overtakes(struct reproduce *r, const struct reproduce_grid *g,
			   size_t p, const char *name)
{
	for (size_t l = 0; l < g->nr_loads; l++)
		if (better(r, g, 0, p, l)) {
			reproduce_note(r, reproduce_text("better than %s from "
							 "load %g on",
							 name, g->load[l]));
			return;
		}
	reproduce_note(r, reproduce_text("not better than %s up to load %g",
					 name, g->load[g->nr_loads - 1]));
}

static int s2f_one(struct reproduce *r, const char *workload, const char *name,
		   struct error *err)
{
	static const char *const policies[] = { "fifo-v", "fcfs", "ls",
						"ffis",	  "lst",  NULL };
	enum { V, FIFO, LS, SNPF, LST };
	static const double loads[] = { 0.1, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65 };
	enum { AT_LOW = 0, AT_MEDIUM = 3, AT_HIGH = 6 };
	struct reproduce_grid g = grid2(policies, workload);
	int rc;

	g.load = loads;
	g.nr_loads = NR(loads);
	rc = reproduce_grid_run(r, &g, err);
	if (rc < 0)
		goto out;
	tell_ratio(r, &g, V, FIFO, AT_LOW, "worse at low load: above 1", 1,
		   INFINITY);
	tell_ratio(r, &g, V, LS, AT_MEDIUM, "better at medium load: below 1", 0,
		   1);
	tell_overtakes(r, &g, LS, "LS");
	tell_ratio(r, &g, V, SNPF, AT_MEDIUM, "better at medium load: below 1",
		   0, 1);
	tell_overtakes(r, &g, SNPF, "SNPF");
	tell_ratio(r, &g, V, LST, AT_HIGH, "best at high load: below 1", 0, 1);
	tell_overtakes(r, &g, LST, "LST");
	rc = reproduce_figure(r, &g, name, METRIC_RESPONSE, err);
out:
	reproduce_grid_clear(&g);
	return rc;
}

int schnor_s2f(struct reproduce *r, struct error *err)
{
	int rc = s2f_one(r, "schnor:kind=ft", "FT", err);

	return rc < 0 ? rc : s2f_one(r, "schnor:kind=mb", "MB", err);
}
