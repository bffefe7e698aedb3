/*
 * sed_gaps.c - what Schnor 1997 published: the least mean time between migrations (S-4f)
 *
 * The text tells two, each at an arrival rate, of runs whose length it does not tell.
 */
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "sim/reproduce/schnor.h"
#include "sim/reproduce/sed_chain.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))

static const char *const sed2[] = { "sed2", NULL };

/* One of the two published values. */
struct least_gap {
	const char *name, *workload;
	struct sed_demand demand;
	double gap, rate; /* in jobs a 1000 s */
	double rates[4];
};

static double mean_demand(const struct least_gap *p)
{
	const struct sed_demand *d = &p->demand;

	return d->mean[0] * d->weight[0] + d->mean[1] * d->weight[1];
}

/* Where the gap is least; returns the load's index. */
static size_t least_gap(const struct reproduce *r,
			const struct reproduce_grid *g, struct estimate *ret)
{
	size_t at = 0;

	for (size_t l = 0; l < g->nr_loads; l++) {
		struct estimate gap =
			reproduce_mean(r, g, 0, l, METRIC_MIGRATION_GAP);

		if (l == 0 || gap.value < ret->value) {
			*ret = gap;
			at = l;
		}
	}
	return at;
}

static char *tell_gap(const struct reproduce *r, const struct reproduce_grid *g)
{
	struct estimate least;

	least_gap(r, g, &least);
	return reproduce_text("%.0f s (%.0f to %.0f)", least.value, least.low,
			      least.high);
}

/* ---- the chain ---- */

/* Jobs from which on a chain that was empty at first is in its long run, and how many more
 * are followed then. */
enum { SETTLED = 1500, FOLLOWED = 500 };

static double long_run(const struct sed_demand *d, double rate)
{
	return sed_chain_gap(d, rate / 1000, SETTLED, FOLLOWED);
}

/* The chain beside the simulator, both without standstill. */
static int note_beside(struct reproduce *r, const struct least_gap *p,
		       const double *loads, struct error *err)
{
	struct reproduce_grid g =
		schnor_grid4(sed2, p->workload, loads, NR(p->rates));
	char *text = reproduce_text("exactly, as a Markov chain without "
				    "standstill, and simulated so:");
	int rc;

	g.costs = (struct sim_costs){ 0 };
	rc = reproduce_grid_run(r, &g, err);
	for (size_t l = 0; !rc && l < NR(p->rates); l++) {
		char *longer = reproduce_text(
			"%s %.0f and %.0f s at %g%s", text,
			long_run(&p->demand, p->rates[l]),
			reproduce_mean(r, &g, 0, l, METRIC_MIGRATION_GAP).value,
			p->rates[l], l + 1 < NR(p->rates) ? "," : "");

		free(text);
		text = longer;
	}
	reproduce_note(r, text);
	reproduce_grid_clear(&g);
	return rc;
}

/*
 * Times scale with the mean demand, so that the jobs that come between two migrations
 * depend on the load alone: what is least over the loads is least for any mean demand.
 */
static void note_jobs_between(struct reproduce *r, const struct least_gap *p)
{
	double least = INFINITY, at = 0;

	for (double load = 0.3; load < 0.85; load += 0.1) {
		double rate = load * 22500 / mean_demand(p);
		double jobs = long_run(&p->demand, rate) * rate / 1000;

		if (jobs < least) {
			least = jobs;
			at = load;
		}
	}
	reproduce_note(
		r, reproduce_text("jobs that come between two migrations: "
				  "published %.2f, by the chain at least %.2f "
				  "(at load %.1f), whatever the mean demand",
				  p->gap * p->rate / 1000, least, at));
}

/* The first jobs of a system that is empty at first: what short runs measure. */
static void note_first_jobs(struct reproduce *r, const struct least_gap *p)
{
	static const double jobs[] = { 50, 200 };

	for (size_t k = 0; k < NR(jobs); k++) {
		char *text = reproduce_text(
			"the first %g jobs of an empty system, by the chain:",
			jobs[k]);

		for (size_t l = 0; l < NR(p->rates); l++) {
			char *longer = reproduce_text(
				"%s %.0f s at %g%s", text,
				sed_chain_gap(&p->demand, p->rates[l] / 1000, 0,
					      jobs[k]),
				p->rates[l], l + 1 < NR(p->rates) ? "," : "");

			free(text);
			text = longer;
		}
		reproduce_note(r, text);
	}
}

/* ---- single runs ---- */

/*
 * The paper gives one smallest value and no interval.  How does the smallest
 * over the loads scatter if each load is one short run?
 */
static int note_single_runs(struct reproduce *r, const struct least_gap *p,
			    const double *loads, struct error *err)
{
	enum { RUNS = 200, JOBS = 200 };
	struct reproduce_grid g =
		schnor_grid4(sed2, p->workload, loads, NR(p->rates));
	double least[RUNS];
	int rc;

	g.nr_jobs = JOBS;
	g.runs = RUNS;
	rc = reproduce_grid_run(r, &g, err);
	for (size_t i = 0; !rc && i < RUNS; i++) {
		least[i] = INFINITY;
		for (size_t l = 0; l < g.nr_loads; l++)
			least[i] = fmin(
				least[i],
				g.result[l].value[i][METRIC_MIGRATION_GAP]);
	}
	if (!rc) {
		gsl_sort(least, 1, RUNS);
		reproduce_note(
			r,
			reproduce_text("one run of %d jobs a load, the least "
				       "over these loads: %.0f s (nine of ten "
				       "such from %.0f to %.0f)",
				       JOBS, least[RUNS / 2], least[RUNS / 20],
				       least[RUNS - RUNS / 20 - 1]));
	}
	reproduce_grid_clear(&g);
	return rc;
}

/* ---- rows ---- */

static int gaps(struct reproduce *r, const struct least_gap *p,
		struct error *err)
{
	double loads[NR(p->rates)];
	struct reproduce_grid g;
	struct estimate least;
	size_t published = 0;
	int rc;

	for (size_t l = 0; l < NR(loads); l++) {
		loads[l] = SCHNOR_RATE2(p->rates[l], mean_demand(p));
		if (p->rates[l] == p->rate)
			published = l;
	}
	g = schnor_grid4(sed2, p->workload, loads, NR(loads));
	rc = reproduce_grid_run(r, &g, err);
	if (!rc) {
		size_t at = least_gap(r, &g, &least);

		reproduce_number(
			r, reproduce_text("%s, seconds", p->name), p->gap,
			0.05 * p->gap, least,
			reproduce_text(
				"ours is at %g jobs in 1000 s; at the paper's "
				"%g it is %.0f s",
				p->rates[at], p->rate,
				reproduce_mean(r, &g, 0, published,
					       METRIC_MIGRATION_GAP)
					.value));
		rc = schnor_note_readings(r, &g, tell_gap, err);
	}
	if (!rc && !r->quick)
		rc = note_beside(r, p, loads, err);
	if (!rc && !r->quick) {
		note_jobs_between(r, p);
		note_first_jobs(r, p);
		rc = note_single_runs(r, p, loads, err);
	}
	reproduce_grid_clear(&g);
	return rc;
}

/* What the chain says of a published least gap at a rate: with which mean demand is it? */
static void note_demand(struct reproduce *r, const struct least_gap *p)
{
	const double demand = mean_demand(p);
	double best = 0.5, low = 0.7 * demand, high = demand;

	for (double rho = 0.05; rho < 0.99; rho += 0.001)
		if (sed_chain_closed(rho) < sed_chain_closed(best))
			best = rho;
	/* The gap at that rate grows with the demand from there on. */
	for (int i = 0; i < 50; i++) {
		double mid = (low + high) / 2;

		if (mid * sed_chain_closed(SCHNOR_RATE2(p->rate, mid)) > p->gap)
			high = mid;
		else
			low = mid;
	}
	reproduce_note(
		r,
		reproduce_text(
			"by hand: %g jobs in 1000 s load the hosts by %.3f, so "
			"that while all are busy nobody waits in %.1f %% of the "
			"time, and then a fast job ends each %.0f s: at least "
			"%.0f s between migrations",
			p->rate, SCHNOR_RATE2(p->rate, demand),
			100 * (1 - SCHNOR_RATE2(p->rate, demand)), demand / 20,
			demand / 20 / (1 - SCHNOR_RATE2(p->rate, demand))));
	reproduce_note(
		r,
		reproduce_text(
			"the chain's least over all rates is %.0f s, at %.2f "
			"jobs in 1000 s: no rate gives the published value "
			"with the text's mean demand of %.0f min. With one of "
			"%.0f min the least is %.0f s, at %.2f",
			demand * sed_chain_closed(best), best * 22500 / demand,
			demand / 60, low / 60, low * sed_chain_closed(best),
			best * 22500 / low));
}

int schnor_s4f(struct reproduce *r, struct error *err)
{
	static const struct least_gap exponential = {
		"Exp",
		"schnor:kind=exp,system=2",
		{ { 7200, 7200 }, { 1, 0 } },
		1919,
		2.8,
		{ 1.6, 2.0, 2.4, 2.8 }
	};
	static const struct least_gap hyperexponential = {
		"Hyperexp",
		"schnor:kind=hyperexp,system=2",
		{ { 600, 7200 }, { 0.5, 0.5 } },
		1346.8,
		3.6,
		{ 2.6, 3.6, 4.4, 5.0 }
	};
	int rc = gaps(r, &exponential, err);

	if (rc < 0)
		return rc;
	note_demand(r, &exponential);
	return gaps(r, &hyperexponential, err);
}
